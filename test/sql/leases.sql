-- Leases: a pool that ends at a moment, and hold_pool_renew, which lets a
-- successor begin that the holds of older leases can no longer touch.

SET hold_ledger.tenant = 'leases';

-- what the present leases say, and whether the ledger agrees
CREATE TEMP VIEW state AS
SELECT pool, generation, capacity, consumed, held, expired, available, holds, closed,
	regress_minutes(expires_at) AS ends_in, (SELECT count(*) FROM hold_verify()) AS problems
FROM hold_pool_status ORDER BY pool;

SELECT hold_clock() + interval '60 minutes' AS first_end,
	hold_clock() + interval '120 minutes' AS second_end,
	hold_clock() + interval '180 minutes' AS third_end \gset

--
-- The end of a lease
--

SELECT hold_pool_set('door', 10, :'first_end') IS NOT NULL AS made;
SELECT outcome, regress_minutes(expires_at) FROM hold_try('ann', 'door', 3, '2 hours');
SET hold_ledger.clock_offset = '59 min';
SELECT outcome, available FROM hold_try('bob', 'door', 2, '2 hours');

-- nothing begins and nothing is prolonged from then on
SET hold_ledger.clock_offset = '60 min';
SELECT granted, outcome, qty, available, version FROM hold_try('cid', 'door');
SELECT granted, outcome, qty, available, version, regress_minutes(expires_at) AS still_until
FROM hold_try('ann', 'door', 3);
SELECT outcome, qty, version FROM hold_try('ann', 'door', 2);
SELECT outcome, qty, version FROM hold_renew('ann', '3 hours');
SELECT hold_available('door'), hold_count('door');
SELECT * FROM state;

-- what is held is still held, and can be settled
SELECT token, qty FROM live_holds ORDER BY token;
SELECT qty, state FROM hold_get('ann');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('ann', qty => 2);
SELECT outcome, refunded FROM hold_release('bob');

-- the same lease lasts longer, or for ever
SELECT hold_pool_set('door', 10, :'second_end') IS NOT NULL AS set;
SELECT outcome, available FROM hold_try('cid', 'door');
SELECT * FROM state;
SELECT hold_pool_set('door', 10, 'infinity') IS NOT NULL AS set;
SELECT * FROM state;
SELECT regress_ok();
SELECT hold_pool_close('door');
RESET hold_ledger.clock_offset;

--
-- A successor
--

SELECT hold_pool_set('credit', 100, :'first_end') IS NOT NULL AS made;
SELECT outcome FROM hold_try('live', 'credit', 10, '5 hours');
SELECT outcome FROM hold_try('freed', 'credit', 11, '5 hours');
SELECT outcome FROM hold_try('parts', 'credit', 15, '5 hours');
SELECT outcome, held FROM hold_consume('parts', qty => 5, final => false, ref => 'a');
SELECT outcome FROM hold_try('paid', 'credit', 20, '1 minute');
SELECT outcome FROM hold_consume('paid');
SELECT outcome FROM hold_try('lapsed', 'credit', 1, '65 minutes');
SELECT outcome FROM hold_try('swept', 'credit', 2, '65 minutes');
SELECT * FROM state WHERE pool = 'credit';

SET hold_ledger.clock_offset = '60 min';
BEGIN;
SELECT hold_pool_renew('credit', 50, :'second_end');
ROLLBACK;
SELECT hold_pool_renew('credit', 50, :'second_end');
SELECT * FROM state WHERE pool = 'credit';

-- a retry opens no further one, and does not tell another capacity
SELECT hold_pool_renew('credit', 50, :'second_end');
SELECT hold_pool_renew('credit', 51, :'second_end');
\echo :LAST_ERROR_SQLSTATE
SELECT event, capacity, held, consumed, regress_minutes(expires_at) AS ends_in
FROM hold_entries WHERE event = 'generation';

-- it starts empty
SELECT outcome, available FROM hold_try('new', 'credit', 49, '1 hour');

-- a hold of the older lease is as live as before, but stays what it is
SELECT pool, generation, qty, state FROM hold_get('live');
SELECT generation, qty, state FROM hold_get('new');
SELECT token, qty FROM live_holds WHERE pool = 'credit' ORDER BY token;
SELECT granted, outcome, version FROM hold_try('live', 'credit', 10);
SELECT outcome, version FROM hold_try('live', 'credit', 5);
SELECT outcome, version FROM hold_renew('live');
SELECT hold_pool_set('hall', 5) IS NOT NULL AS made;
SELECT pool, outcome FROM hold_try_lines('live', hold_lines('{hall,credit}', '{1,10}'));
SELECT * FROM state WHERE pool IN ('credit', 'hall');

--
-- The older holds end, and the successor's figures never move
--

SET hold_ledger.clock_offset = '66 min';
SELECT generation, state FROM hold_get('lapsed');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('lapsed');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('lapsed', late => true);
SELECT * FROM state WHERE pool = 'credit';
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('live', qty => 4);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('live');
SELECT * FROM state WHERE pool = 'credit';
SELECT outcome, qty, consumed, refunded, held FROM hold_release('freed');
SELECT * FROM state WHERE pool = 'credit';
SELECT outcome, refunded FROM hold_return('paid');
SELECT outcome, refunded FROM hold_return('paid');
SELECT * FROM state WHERE pool = 'credit';
SELECT outcome, consumed, held FROM hold_consume('parts', qty => 4, final => false, ref => 'b');
SELECT outcome, refunded, held FROM hold_return('parts', qty => 1, ref => 'c');
SELECT outcome, consumed, held FROM hold_consume('parts');
SELECT outcome, refunded FROM hold_return('parts');
SELECT * FROM state WHERE pool = 'credit';
SELECT hold_sweep() > 0 AS swept;
SELECT * FROM state WHERE pool = 'credit';
SELECT generation, state FROM hold_get('swept');
SELECT outcome, consumed FROM hold_consume('swept', late => true);
SELECT * FROM state WHERE pool = 'credit';
SELECT token, event, qty, held, consumed, capacity FROM hold_entries
WHERE pool = 'credit' AND seq > (SELECT seq FROM hold_entries WHERE event = 'generation') ORDER BY seq;
SELECT regress_ok();

-- those that did not consume may claim in the successor
SELECT outcome, available FROM hold_try('freed', 'credit', 0.5);
SELECT outcome, available FROM hold_try('paid', 'credit', 0.5);
SELECT outcome FROM hold_try('live', 'credit', 0.5);
SELECT generation, qty, state FROM hold_get('paid');
SELECT outcome FROM hold_consume('paid');
SELECT outcome, refunded FROM hold_return('paid');
SELECT * FROM state WHERE pool = 'credit';

-- an expired hold of the older lease does not stand in its own token's way
SELECT hold_pool_set('loan', 1, :'first_end') IS NOT NULL AS made;
SET hold_ledger.clock_offset = '10 min';
SELECT outcome FROM hold_try('own', 'loan', 1, '1 minute');
SET hold_ledger.clock_offset = '60 min';
SELECT hold_pool_renew('loan', 1, :'second_end');
SELECT outcome, version FROM hold_try('own', 'loan', 1, '3 hours');
SELECT * FROM state WHERE pool = 'loan';

--
-- One successor after another, also before the lease has ended
--

SELECT hold_pool_renew('loan', 2, :'third_end');
SELECT outcome, available FROM hold_try('next', 'loan', 2);
SELECT outcome, consumed FROM hold_consume('own');
SELECT outcome, consumed FROM hold_consume('next');
SELECT * FROM state WHERE pool = 'loan';

-- once its lease has ended, the retry is still one, and so is that of the one before
SET hold_ledger.clock_offset = '200 min';
SELECT hold_pool_renew('loan', 2, :'third_end');
SELECT hold_pool_renew('loan', 1, :'second_end');
SELECT generation, capacity, consumed FROM state WHERE pool = 'loan';
SELECT outcome FROM hold_try('late', 'loan');
RESET hold_ledger.clock_offset;

-- closed is told before the end of the lease, and no renewal opens
SELECT hold_pool_set('gate', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('old', 'gate', 1, '1 hour');
SELECT hold_pool_close('gate');
SELECT hold_pool_renew('gate', 1, :'first_end');
SELECT outcome FROM hold_try('old', 'gate');
SELECT outcome FROM hold_renew('old');
SELECT outcome FROM hold_try('any', 'gate');
SELECT * FROM state WHERE pool = 'gate';

-- an older hold that is live keeps the pool from being dropped
SELECT hold_pool_drop('gate');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_release('old');
SELECT hold_pool_drop('gate');

-- what an older hold is refused for leaves all of the new lease
SELECT hold_pool_set('older', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('old', 'older', 3);
SELECT hold_pool_renew('older', 7, '2095-01-01');
SELECT outcome, available FROM hold_try('old', 'older', 3);
SELECT outcome FROM hold_release('old');

-- a retry opens no second generation, whatever was set since
SELECT hold_pool_set('again', 9, '2095-01-01') IS NOT NULL AS made;
SELECT hold_pool_renew('again', 9, '2096-01-01');
SELECT hold_pool_set('again', 4) IS NOT NULL AS changed;
SELECT hold_pool_renew('again', 9, '2096-01-01'), hold_pool_renew('again', 4, '2096-01-01');
SELECT hold_pool_renew('again', 5, '2096-01-01');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_set('again', 4, 'infinity') IS NOT NULL AS changed;
SELECT hold_pool_renew('again', 9, '2096-01-01');
SELECT hold_pool_renew('again', 4, '2096-01-01');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_renew('again', 4, '2097-01-01');

--
-- Mistakes
--

SELECT hold_pool_renew('nowhere', 1, :'first_end');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_renew('gate', 1, :'first_end');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_renew('loan', NULL, :'first_end');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_renew('loan', 1, NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_renew('loan', -1, :'first_end');
\echo :LAST_ERROR_SQLSTATE

SELECT regress_ok();
