-- hold_return: a cancelled booking puts back what its token consumed, in full
-- or in part, and never twice.

SET hold_ledger.tenant = 'returns';

CREATE TEMP VIEW state AS
SELECT pool, capacity, consumed, held, available FROM hold_pool_status ORDER BY pool;

SELECT hold_pool_set('seats', 10) IS NOT NULL AS made;

--
-- All of it
--

SELECT outcome FROM hold_try('ann', 'seats', 4, payload => '{"cart": 1}');
SELECT outcome FROM hold_consume('ann', qty => 3, reservation_id => 77);
SELECT outcome, line, pool, qty, consumed, refunded, held, regress_minutes(at) AS at_in, payload
FROM hold_return('ann');
SELECT * FROM state;
SELECT event, qty, held, consumed FROM hold_history('ann');
SELECT qty, consumed, state FROM hold_get('ann');

-- again, also later: nothing is left to return
SELECT outcome, qty, consumed, refunded, held FROM hold_return('ann');
SET hold_ledger.clock_offset = '1 h';
SELECT outcome, refunded FROM hold_return('ann', 'seats');
SELECT outcome, refunded FROM hold_return('ann', qty => 1, ref => 'x');
RESET hold_ledger.clock_offset;
SELECT * FROM state;

-- the token may claim afresh, which competes like any other
SELECT outcome FROM hold_try('bob', 'seats', 9);
SELECT outcome, available FROM hold_try('ann', 'seats', 2);
SELECT outcome, version FROM hold_try('ann', 'seats', 1);
SELECT payload FROM hold_get('ann');
SELECT outcome, consumed FROM hold_consume('ann');
SELECT outcome FROM hold_try('ann', 'seats', 1);
SELECT outcome, qty, consumed, refunded FROM hold_consume('ann');
SELECT outcome, refunded FROM hold_return('ann');
SELECT outcome, refunded FROM hold_return('ann');
SELECT outcome FROM hold_release('bob');
SELECT * FROM state;
SELECT regress_ok();

--
-- A part of it, with a ref
--

SELECT hold_pool_set('beds', 20) IS NOT NULL AS made;
SELECT outcome FROM hold_try('cid', 'beds', 6);
SELECT outcome FROM hold_consume('cid');
SELECT outcome, qty, consumed, refunded, held FROM hold_return('cid', qty => 1.5, ref => 'a');
SELECT outcome, qty, consumed, refunded, held FROM hold_return('cid', qty => 0.5, ref => 'b');

-- the same ref again gets the first figures and moves nothing
SELECT outcome, qty, consumed, refunded, held FROM hold_return('cid', qty => 1.5, ref => 'a');
SELECT outcome, refunded FROM hold_return('cid', 'beds', 4, 'a');
SELECT outcome, refunded FROM hold_return('cid', ref => 'b');
SELECT consumed, state FROM hold_get('cid');
SELECT * FROM state WHERE pool = 'beds';

-- it is not that of a capture
SELECT outcome, consumed, refunded FROM hold_consume('cid', ref => 'a');

-- what is not returned stays consumed, and a retry of the consume is one
SELECT outcome FROM hold_try('cid', 'beds', 1);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('cid');
SELECT outcome FROM hold_release('cid');
SELECT * FROM state WHERE pool = 'beds';

-- never more than was consumed and is not yet returned
SELECT outcome, refunded FROM hold_return('cid', qty => 100, ref => 'c');
SELECT outcome, refunded FROM hold_return('cid', qty => 100, ref => 'd');
SELECT outcome, refunded FROM hold_return('cid', qty => 100, ref => 'c');
SELECT outcome, refunded FROM hold_return('cid', qty => 1.5, ref => 'a');
SELECT * FROM state WHERE pool = 'beds';
SELECT outcome FROM hold_try('cid', 'beds', 1);
SELECT regress_ok();

-- all of the rest may have a ref as well
SELECT outcome FROM hold_try('dan', 'beds', 3);
SELECT outcome FROM hold_consume('dan');
SELECT outcome, refunded FROM hold_return('dan', qty => 1, ref => 'a');
SELECT outcome, refunded FROM hold_return('dan', ref => 'b');
SELECT outcome FROM hold_try('dan', 'beds', 3);
SELECT outcome FROM hold_consume('dan');
SELECT outcome, refunded FROM hold_return('dan', ref => 'b');
SELECT consumed FROM hold_get('dan');

--
-- While the rest is still held
--

SELECT hold_pool_set('credit', 100) IS NOT NULL AS made;
SELECT outcome FROM hold_try('eve', 'credit', 10);
SELECT outcome, held FROM hold_consume('eve', qty => 3, final => false, ref => 'a');
SELECT outcome, held FROM hold_consume('eve', qty => 2, final => false, ref => 'b');
SELECT outcome, qty, consumed, refunded, held FROM hold_return('eve', qty => 4, ref => 'c');
SELECT qty, consumed, state FROM hold_get('eve');
SELECT * FROM state WHERE pool = 'credit';

-- the hold is what it was: it renews, changes, and can be consumed further
SELECT outcome, version FROM hold_try('eve', 'credit', 5);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('eve', qty => 1, final => false, ref => 'd');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('eve', qty => 3, final => false, ref => 'a');
SELECT outcome, refunded, held FROM hold_return('eve');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('eve', qty => 3);
SELECT * FROM state WHERE pool = 'credit';

-- also afterwards the ref gets the first figures
SELECT outcome, qty, consumed, refunded, held FROM hold_return('eve', qty => 4, ref => 'c');
SELECT outcome, refunded FROM hold_return('eve');
SELECT * FROM state WHERE pool = 'credit';

-- when all that was captured has been returned, the token has not consumed
SELECT outcome FROM hold_try('fay', 'credit', 10, '1 minute');
SELECT outcome FROM hold_consume('fay', qty => 3, final => false, ref => 'a');
SELECT outcome, refunded, held FROM hold_return('fay');
SET hold_ledger.clock_offset = '2 min';
SELECT outcome, consumed FROM hold_consume('fay');
SELECT outcome, version FROM hold_try('fay', 'credit', 10);
RESET hold_ledger.clock_offset;
SELECT regress_ok();

--
-- In several pools
--

SELECT outcome FROM hold_try_lines('gus', hold_lines('{seats,beds,credit}', '{1,2,3}'));
SELECT pool, outcome FROM hold_consume('gus', 'seats');
SELECT pool, outcome FROM hold_consume('gus', 'beds');

-- a quantity could mean either
SELECT outcome FROM hold_return('gus', qty => 1, ref => 'a');
\echo :LAST_ERROR_SQLSTATE
SELECT pool, outcome, refunded FROM hold_return('gus', 'beds', 0.5, 'a');
SELECT pool, outcome, refunded FROM hold_return('gus', 'seats', 0.25, 'a');

-- without one, all of each; what is only held is left alone
SELECT pool, outcome, refunded FROM hold_return('gus') WHERE refunded > 0 ORDER BY line;
SELECT pool, qty, consumed, state FROM hold_get('gus') ORDER BY pool;
SELECT pool, outcome, refunded FROM hold_return('gus', 'credit');
SELECT outcome FROM hold_release('gus', 'credit');

--
-- Whatever has become of the pool
--

SELECT outcome FROM hold_try('hal', 'seats', 6);
SELECT outcome FROM hold_consume('hal');
SELECT hold_pool_set('seats', 1) IS NOT NULL AS set;
SELECT hold_pool_close('seats');
SELECT outcome, refunded FROM hold_return('hal', qty => 2, ref => 'a');
SELECT hold_pool_set('seats', 1, now() - interval '1 hour') IS NOT NULL AS set;
SELECT outcome, refunded FROM hold_return('hal', qty => 1, ref => 'b');
SELECT * FROM state WHERE pool = 'seats';

-- an external pool
SELECT outcome FROM hold_try('ivy', 'elsewhere', 2, budget => 2);
SELECT outcome FROM hold_consume('ivy');
SELECT outcome, refunded FROM hold_return('ivy');
SELECT * FROM state WHERE pool = 'elsewhere';

-- what was consumed late
SELECT outcome FROM hold_try('jim', 'beds', 2, '1 minute');
SET hold_ledger.clock_offset = '2 min';
SELECT outcome FROM hold_consume('jim', late => true);
SELECT outcome, refunded FROM hold_return('jim');
RESET hold_ledger.clock_offset;

-- rolled back, nothing was returned
SELECT outcome FROM hold_try('kim', 'beds', 2);
SELECT outcome FROM hold_consume('kim');
BEGIN;
SELECT outcome, refunded FROM hold_return('kim', qty => 1, ref => 'a');
ROLLBACK;
SELECT outcome, refunded FROM hold_return('kim', qty => 2, ref => 'a');

--
-- Never consumed
--

SELECT outcome, line, pool, qty, consumed, refunded, held, at FROM hold_return('nobody');
SELECT outcome, pool, refunded FROM hold_return('nobody', 'beds');
SELECT outcome FROM hold_try('lea', 'beds', 1);
SELECT outcome, refunded FROM hold_return('lea');
SELECT outcome FROM hold_consume('lea', qty => 0);
SELECT outcome, refunded FROM hold_return('lea');
SELECT outcome FROM hold_try('lea', 'beds', 1, '1 minute');
SET hold_ledger.clock_offset = '2 min';
SELECT outcome, refunded FROM hold_return('lea', qty => 1, ref => 'a');
RESET hold_ledger.clock_offset;

--
-- Mistakes
--

SELECT outcome FROM hold_return(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_return('');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_return('hal', 'nowhere');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_return('hal', 'seats', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_return('hal', 'seats', 0, 'c');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_return('hal', 'seats', -1, 'c');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_return('hal', 'seats', 'NaN', 'c');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_return('hal', 'seats', 0.0000001, 'c');
\echo :LAST_ERROR_SQLSTATE
SELECT consumed FROM hold_get('hal');

SELECT * FROM state;
SELECT regress_ok();
