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

--
-- A return of what was captured does not change how the rest ended, whether
-- it was swept before, after or not at all
--

SELECT hold_pool_set('rest', 40) IS NOT NULL AS made;

-- Captures 2 of 4 in pool rest, lets the other 2 lapse, sweeps before or after
-- the return of the captured ones, or not at all, and asks what is left.
CREATE FUNCTION pg_temp.rest_of(token text, sweeps text, returned numeric, OUT step text,
	OUT outcome hold_outcome, OUT consumed numeric, OUT held numeric)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM hold_try(token, 'rest', 4, '1 minute');
	PERFORM FROM hold_consume(token, 'rest', 2, false, 'capture');
	SET LOCAL hold_ledger.clock_offset = '2 min';
	IF sweeps = 'before' THEN PERFORM hold_sweep(); END IF;
	PERFORM FROM hold_return(token, 'rest', returned, 'refund');
	IF sweeps = 'after' THEN PERFORM hold_sweep(); END IF;
	RETURN QUERY SELECT 'get', g.state, g.consumed, g.qty FROM hold_get(token) g;
	RETURN QUERY SELECT 'release', r.outcome, r.consumed, r.held FROM hold_release(token) r;
	RETURN QUERY SELECT 'consume', c.outcome, c.consumed, c.held FROM hold_consume(token) c;
	RETURN QUERY SELECT 'late', c.outcome, c.consumed, c.held FROM hold_consume(token, late => true) c;
	RETURN QUERY SELECT 'return', r.outcome, r.refunded, r.held FROM hold_return(token) r;
	SET LOCAL hold_ledger.clock_offset = 0;
END $$;
SELECT DISTINCT array_agg(row(step, outcome, consumed, held)::text) OVER (PARTITION BY token) AS same_for_all
FROM unnest('{before,after,never}'::text[]) AS sweeps, pg_temp.rest_of('one ' || sweeps, sweeps, 1), concat('one ', sweeps) AS token;
SELECT DISTINCT array_agg(row(step, outcome, consumed, held)::text) OVER (PARTITION BY token) AS same_for_all
FROM unnest('{before,after,never}'::text[]) AS sweeps, pg_temp.rest_of('all ' || sweeps, sweeps, 2), concat('all ', sweeps) AS token;
SELECT * FROM state WHERE pool = 'rest';

-- it blocks its siblings as before
SELECT outcome FROM hold_try('sib', 'beds', 1, '1 hour');
SELECT outcome FROM hold_try('sib', 'rest', 3, '1 minute');
SELECT outcome FROM hold_consume('sib', 'rest', 1, false, 'capture');
SET hold_ledger.clock_offset = '2 min';
SELECT hold_sweep() > 0 AS swept;
SELECT pool, outcome FROM hold_consume('sib') ORDER BY pool;
SELECT outcome, refunded FROM hold_return('sib', 'rest', 1, 'refund');
SELECT pool, outcome FROM hold_consume('sib') ORDER BY pool;
SELECT pool, outcome, consumed FROM hold_consume('sib', late => true) ORDER BY pool;
RESET hold_ledger.clock_offset;

-- what was released stays released, also where nothing is left to return
SELECT outcome FROM hold_try('rel', 'rest', 4);
SELECT outcome FROM hold_consume('rel', 'rest', 2, false, 'capture');
SELECT outcome FROM hold_release('rel');
SELECT outcome, refunded FROM hold_return('rel', 'rest', 1, 'refund');
SELECT outcome, consumed, held FROM hold_release('rel');
SELECT outcome, consumed, held FROM hold_consume('rel');
SELECT outcome, refunded FROM hold_return('rel', ref => 'refund 2');
SELECT outcome, refunded FROM hold_return('rel', ref => 'refund 3');
SELECT outcome FROM hold_release('rel');
SELECT state, consumed FROM hold_get('rel');
SELECT outcome FROM hold_try('rel', 'rest', 4);
SELECT regress_ok();

-- a hold that came after tells what it is, and nothing of what went before
SELECT hold_pool_set('after', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('vic', 'after', 1);
SELECT outcome FROM hold_consume('vic', ref => 's', reservation_id => 5);
SELECT state, ref FROM hold_get('vic');
SELECT outcome FROM hold_return('vic');
SELECT state, ref FROM hold_get('vic');
SELECT outcome FROM hold_try('vic', 'after', 4);
SELECT state, ref, reservation_id FROM hold_get('vic');
SELECT outcome FROM hold_release('vic');
SELECT state, ref, reservation_id FROM hold_get('vic');
SELECT outcome FROM hold_try_stay('wim', 601, '[2031-01-03,2031-01-05)') ;
SELECT outcome FROM hold_consume('wim', reservation_id => 7);
SELECT outcome FROM hold_return('wim');
SELECT outcome FROM hold_try_stay('wim', 601, '[2031-01-03,2031-01-05)');
SELECT outcome, qty, held FROM hold_return('wim');
-- the same ref returns nothing of what was consumed since in another pool
SELECT hold_pool_set('old', 5) IS NOT NULL AND hold_pool_set('new', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('yve', 'old', 2);
SELECT outcome FROM hold_consume('yve');
SELECT pool, outcome, refunded FROM hold_return('yve', qty => 1, ref => 'q');
SELECT pool, outcome, refunded FROM hold_return('yve', ref => 'rest');
SELECT outcome FROM hold_try('yve', 'new', 2);
SELECT pool, outcome, consumed FROM hold_consume('yve', 'new');
SELECT pool, outcome, refunded FROM hold_return('yve', qty => 1, ref => 'q');
SELECT pool, outcome, refunded FROM hold_return('yve', ref => 'rest');
SELECT pool, outcome, refunded FROM hold_return('yve', ref => 'all') ORDER BY pool;
SELECT regress_ok();
-- nor, where nothing was left to return, of what was booked there since; and a
-- retry tells the first figures
SELECT outcome FROM hold_try_stay('zoe', 602, '[2031-02-01,2031-02-03)');
SELECT outcome FROM hold_consume('zoe', reservation_id => 8);
SELECT outcome, refunded FROM hold_return('zoe');
SELECT outcome, refunded, stay, reservation_id FROM hold_return('zoe', ref => 'none left');
SELECT outcome FROM hold_try_stay('zoe', 602, '[2031-02-05,2031-02-06)');
SELECT outcome, qty, refunded, stay FROM hold_return('zoe', ref => 'held again');
SELECT outcome FROM hold_consume('zoe', reservation_id => 9);
SELECT outcome, refunded, stay, reservation_id FROM hold_return('zoe', ref => 'none left');
SELECT outcome, qty, refunded FROM hold_return('zoe', ref => 'held again');
SELECT state, stay, reservation_id FROM hold_get('zoe');
SELECT outcome, refunded, stay, reservation_id FROM hold_return('zoe', ref => 'all');
SELECT regress_ok();
