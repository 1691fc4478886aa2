-- hold_consume: what is confirmed, what goes back, and what later callers and
-- retries are told.

SET hold_ledger.tenant = 'consume';

SELECT hold_pool_set('seats', 10) IS NOT NULL AS made;

--
-- The whole hold
--

SELECT outcome FROM hold_try('ann', 'seats', 3, payload => '{"cart": 1}');
SELECT outcome, line, pool, qty, consumed, refunded, held, regress_minutes(at) AS at_in, payload,
	room_id, stay, reservation_id
FROM hold_consume('ann', reservation_id => 77);
SELECT capacity, consumed, held, available FROM hold_pool_status;

-- a retry gets the first figures and changes nothing, however it asks
SELECT outcome, line, pool, qty, consumed, refunded, held, regress_minutes(at) AS at_in, payload,
	reservation_id
FROM hold_consume('ann');
SELECT outcome, qty, consumed, refunded, held, reservation_id
FROM hold_consume('ann', 'seats', 1, reservation_id => 78);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('ann', qty => 0);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('ann', late => true);
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('ann', final => false, ref => 'another');
SELECT seq, event, token, qty, held, consumed, payload, reservation_id
FROM hold_entries ORDER BY seq;

-- the first moment is told, too
SET hold_ledger.clock_offset = '1 h';
SELECT outcome, regress_minutes(at) AS at_in FROM hold_consume('ann');
RESET hold_ledger.clock_offset;

--
-- A part of it: the rest goes back in the same step
--

SELECT outcome FROM hold_try('bob', 'seats', 5);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('bob', qty => 1.5);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('bob', qty => 1.5);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('bob');
SELECT capacity, consumed, held, available FROM hold_pool_status;
SELECT event, qty, held, consumed FROM hold_history('bob');

-- more than is held is clamped
SELECT outcome FROM hold_try('cid', 'seats', 0.25);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('cid', qty => 100);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('cid', qty => 100);

-- 0 returns everything, and the token may try again
SELECT outcome FROM hold_try('dan', 'seats', 2);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('dan', qty => 0);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('dan', qty => 0);
SELECT outcome FROM hold_try('dan', 'seats', 1);
SELECT outcome, qty, consumed FROM hold_consume('dan');

SELECT regress_ok();

--
-- Tokens that were never seen
--

SELECT * FROM hold_consume('nobody');
SELECT * FROM hold_consume('nobody', late => true, reservation_id => 1);
SELECT hold_pool_set('stalls', 10) IS NOT NULL AS made;
SELECT * FROM hold_consume('ann', 'stalls');

-- a pool that is not there is a mistake
SELECT * FROM hold_consume('ann', 'nowhere');
\echo :LAST_ERROR_SQLSTATE

--
-- Several holds: all or none
--

SELECT outcome FROM hold_try('eve', 'seats', 2);
SELECT outcome FROM hold_try('eve', 'stalls', 3);
SELECT line, pool, outcome, qty, consumed, refunded, held
FROM hold_consume('eve', reservation_id => 5) ORDER BY line;
SELECT line, pool, outcome, qty, consumed, refunded, held, reservation_id
FROM hold_consume('eve') ORDER BY line;

-- a qty could mean either of them
SELECT outcome FROM hold_try('fay', 'seats', 1);
SELECT outcome FROM hold_try('fay', 'stalls', 2);
SELECT * FROM hold_consume('fay', qty => 1);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM hold_consume('fay', qty => 0);
\echo :LAST_ERROR_SQLSTATE

-- one of them, by its pool
SELECT line, pool, outcome, qty, consumed, refunded, held FROM hold_consume('fay', 'stalls', 1);

-- what has ended is reported and blocks nothing
SELECT hold_pool_set('boxes', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('fay', 'boxes', 4);
SELECT outcome FROM hold_release('fay', 'boxes');
SELECT line, pool, outcome, qty, consumed, refunded, held
FROM hold_consume('fay') ORDER BY line;
SELECT line, pool, outcome, qty, consumed, refunded, held
FROM hold_consume('fay') ORDER BY line;

-- by its pool, a part is told again also where another hold was added
SELECT outcome FROM hold_try('flo', 'stalls', 1);
SELECT outcome, consumed, held
FROM hold_consume('flo', qty => 0.25, final => false, ref => 'part');
SELECT outcome FROM hold_try('flo', 'boxes', 1);
SELECT pool, outcome, qty, consumed, held
FROM hold_consume('flo', 'stalls', 0.25, final => false, ref => 'part');
SELECT outcome FROM hold_release('flo');

SELECT regress_ok();

--
-- Expired
--

-- it is refused even if all of it is still free
SELECT outcome FROM hold_try('gus', 'boxes', 3, '5 minutes', payload => '1');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome, pool, qty, consumed, refunded, held, regress_minutes(at) AS at_in, payload
FROM hold_consume('gus');
SELECT available, held, expired FROM hold_pool_status WHERE pool = 'boxes';

-- swept or not, the answer is the same
SELECT hold_sweep() > 0 AS swept;
SELECT outcome, pool, qty, consumed, refunded, held, regress_minutes(at) AS at_in, payload
FROM hold_consume('gus');
RESET hold_ledger.clock_offset;

-- one that has expired blocks its siblings
SELECT outcome FROM hold_try('hal', 'seats', 1, '1 minute');
SELECT outcome FROM hold_try('hal', 'stalls', 1, '1 hour', payload => '2');
SET hold_ledger.clock_offset = '2 min';
SELECT pool, outcome, qty, consumed, refunded, held, payload FROM hold_consume('hal') ORDER BY line;
SELECT pool, state, qty FROM hold_get('hal') ORDER BY pool;

-- swept or not
SELECT hold_sweep() > 0 AS swept;
SELECT pool, outcome, qty, consumed, refunded, held, payload FROM hold_consume('hal') ORDER BY line;

-- by its pool, one is consumed alone; then nothing is left to block
SELECT pool, outcome, qty, consumed FROM hold_consume('hal', 'stalls');
SELECT pool, outcome, qty, consumed FROM hold_consume('hal') ORDER BY line;
RESET hold_ledger.clock_offset;

-- one that lapsed before the live ones were made is history
SELECT outcome FROM hold_try('ivy', 'boxes', 1, '1 minute');
SET hold_ledger.clock_offset = '1 min';
SELECT outcome FROM hold_try('ivy', 'stalls', 1, '1 hour');
SELECT pool, outcome, qty, consumed FROM hold_consume('ivy') ORDER BY line;
RESET hold_ledger.clock_offset;

-- what was live beside any of the live ones is not
SELECT outcome FROM hold_try('jim', 'stalls', 1, '1 hour');
SELECT outcome FROM hold_try('jim', 'boxes', 1, '1 minute');
SET hold_ledger.clock_offset = '2 min';
SELECT outcome FROM hold_try('jim', 'seats', 0.5, '1 hour');
SELECT pool, outcome, qty, consumed, held FROM hold_consume('jim') ORDER BY line;

-- claimed again, it is live like them
SELECT outcome FROM hold_try('jim', 'boxes', 1);
SELECT pool, outcome, qty, consumed, held FROM hold_consume('jim') ORDER BY line;
RESET hold_ledger.clock_offset;

SELECT regress_ok();

--
-- Closed or past its lease: promises are kept
--

SELECT hold_pool_set('night', 4) IS NOT NULL AS made;
SELECT outcome FROM hold_try('kim', 'night', 1);
SELECT outcome FROM hold_try('lea', 'night', 1);
SELECT outcome FROM hold_try('max', 'night', 2);
SELECT hold_pool_close('night');
SELECT outcome, consumed FROM hold_consume('kim');
SELECT hold_pool_open('night');
SELECT hold_pool_set('night', 4, expires_at => now()) IS NOT NULL AS set;
SELECT outcome, consumed FROM hold_consume('lea');

-- and when capacity was lowered below them
SELECT hold_pool_set('night', 0) IS NOT NULL AS set;
SELECT outcome, consumed FROM hold_consume('max');
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'night';

-- a dropped pool is unknown
SELECT hold_pool_set('fair', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ned', 'fair');
SELECT outcome FROM hold_consume('ned');
SELECT hold_pool_drop('fair');
SELECT * FROM hold_consume('ned', 'fair');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_consume('ned');

-- its memory is back when it is
SELECT hold_pool_set('fair', 1) IS NOT NULL AS made;
SELECT outcome, qty, consumed FROM hold_consume('ned', 'fair');

SELECT regress_ok();
