-- hold_consume(final => false): one hold consumed in several steps, each with a
-- ref of its own that makes its retry harmless.

SET hold_ledger.tenant = 'captures';

SELECT hold_pool_set('credit', 100) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ann', 'credit', 10, payload => '{"order": 5}');

SELECT outcome, qty, consumed, refunded, held, payload, reservation_id
FROM hold_consume('ann', qty => 3, final => false, ref => 'a', reservation_id => 1);
SELECT outcome, qty, consumed, refunded, held, reservation_id
FROM hold_consume('ann', qty => 2.5, final => false, ref => 'b');
SELECT capacity, consumed, held, available FROM hold_pool_status;

-- the same ref again gets the first figures and takes nothing
SELECT outcome, qty, consumed, refunded, held, payload, reservation_id
FROM hold_consume('ann', qty => 3, final => false, ref => 'a');
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('ann', qty => 4, final => false, ref => 'b', reservation_id => 2);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('ann', ref => 'a');
SELECT capacity, consumed, held, available FROM hold_pool_status;

-- it stays a live hold, of what is left
SELECT qty, consumed, state, ref FROM hold_get('ann');
SELECT token, qty FROM live_holds;
SELECT outcome, qty, version FROM hold_renew('ann', '1 hour');

-- more than is left is clamped; taking all that is left ends the hold
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('ann', qty => 100, final => false, ref => 'c');
SELECT qty, consumed, state, ref FROM hold_get('ann');
SELECT count(*) FROM live_holds;

-- the refs are remembered after the end
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('ann', qty => 3, final => false, ref => 'a');
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('ann', qty => 100, final => false, ref => 'c');

-- a ref that is new gets the figures of the step that ended it
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('ann', qty => 1, final => false, ref => 'd');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('ann');

SELECT seq, event, qty, held, consumed, ref, reservation_id FROM hold_entries ORDER BY seq;

--
-- The last step may give the rest back
--

SELECT outcome FROM hold_try('bob', 'credit', 10);
SELECT outcome, consumed, held FROM hold_consume('bob', qty => 4, final => false, ref => 'a');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('bob', qty => 1, ref => 'b');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('bob', qty => 1, ref => 'b');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('bob', qty => 4, final => false, ref => 'a');
SELECT consumed, state FROM hold_get('bob');

-- or be a release
SELECT outcome FROM hold_try('cid', 'credit', 10);
SELECT outcome, consumed, held FROM hold_consume('cid', qty => 4, final => false, ref => 'a');
SELECT outcome, qty, consumed, refunded, held FROM hold_release('cid');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('cid', qty => 4, final => false, ref => 'a');
SELECT outcome FROM hold_consume('cid', qty => 4, final => false, ref => 'b');
SELECT outcome FROM hold_release('cid');

-- final and 0 takes nothing more
SELECT outcome FROM hold_try('dan', 'credit', 10);
SELECT outcome, consumed, held FROM hold_consume('dan', qty => 4, final => false, ref => 'a');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('dan', qty => 0);

-- or the rest expires
SELECT outcome FROM hold_try('eve', 'credit', 10);
SELECT outcome, consumed, held FROM hold_consume('eve', qty => 4, final => false, ref => 'a');
SET hold_ledger.clock_offset = '10 min';
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('eve', qty => 1, final => false, ref => 'b');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('eve', qty => 4, final => false, ref => 'a');
SELECT hold_sweep() > 0 AS swept;
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('eve', qty => 1, final => false, ref => 'b');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('eve', qty => 4, final => false, ref => 'a');
SELECT consumed, state FROM hold_get('eve');
RESET hold_ledger.clock_offset;

SELECT capacity, consumed, held, available FROM hold_pool_status;

--
-- A ref belongs to a token and a pool
--

SELECT hold_pool_set('points', 100) IS NOT NULL AS made;
SELECT outcome FROM hold_try('fay', 'credit', 5);
SELECT outcome FROM hold_try('fay', 'points', 5);
SELECT outcome FROM hold_try('gus', 'points', 5);
SELECT outcome, consumed, held FROM hold_consume('fay', 'credit', 1, final => false, ref => 'a');
SELECT outcome, consumed, held FROM hold_consume('fay', 'points', 1, final => false, ref => 'a');
SELECT outcome, consumed, held FROM hold_consume('gus', 'points', 1, final => false, ref => 'a');

-- it is compared byte by byte, and may be long
SELECT outcome, consumed, held FROM hold_consume('gus', 'points', 1, final => false, ref => 'A');
SELECT outcome, consumed, held FROM hold_consume('gus', 'points', 1, final => false, ref => 'a ');
SELECT string_agg(md5(i::text), '') AS long FROM generate_series(1, 300) i \gset
SELECT outcome, consumed, held FROM hold_consume('gus', 'points', 1, final => false, ref => :'long');
SELECT outcome, consumed, held FROM hold_consume('gus', 'points', 1, final => false, ref => :'long');

-- without a qty, all of each hold; a retry tells of all
SELECT pool, outcome, qty, consumed, held FROM hold_consume('fay', final => false, ref => 'b') ORDER BY line;
SELECT pool, outcome, qty, consumed, held FROM hold_consume('fay', final => false, ref => 'b') ORDER BY line;
SELECT pool, outcome, qty, consumed, held FROM hold_consume('fay', final => false, ref => 'a') ORDER BY line;

-- asking for what is left renews it; when nothing is left, the token has consumed
SELECT outcome, qty FROM hold_try('gus', 'points', 1);
SELECT outcome, qty, consumed, held FROM hold_consume('gus', 'points', 2, final => false, ref => 'more');
SELECT outcome, qty FROM hold_try('gus', 'points', 1);

-- a ref without a pool is that of the call: its retry is about no later hold
SELECT hold_pool_set('first', 5) IS NOT NULL AND hold_pool_set('second', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('hal', 'first', 2);
SELECT pool, outcome, consumed FROM hold_consume('hal', qty => 2, final => false, ref => 'c1');
SELECT outcome FROM hold_try('hal', 'second', 3);
SELECT pool, outcome, consumed FROM hold_consume('hal', qty => 2, final => false, ref => 'c1');
SELECT pool, outcome, consumed FROM hold_consume('hal', final => false, ref => 'c1');
SELECT pool, outcome, consumed FROM hold_consume('hal', 'second', qty => 1, final => false, ref => 'c1');
-- also while the first is still held: no question which one is meant
SELECT outcome FROM hold_try('ike', 'first', 2);
SELECT pool, outcome, consumed FROM hold_consume('ike', qty => 1, final => false, ref => 'c1');
SELECT outcome FROM hold_try('ike', 'second', 1);
SELECT pool, outcome, consumed FROM hold_consume('ike', qty => 1, final => false, ref => 'c1');
SELECT pool, outcome, consumed FROM hold_consume('ike', qty => 1, final => false, ref => 'c2');
\echo :LAST_ERROR_SQLSTATE

SELECT regress_ok();
