-- Budgets: holds on capacity that lives elsewhere, in external pools, and on
-- top of a pool's own.

SET hold_ledger.tenant = 'budget';

--
-- A pool that is not there is made as an external one
--

SELECT granted, outcome, qty, available, version FROM hold_try('ann', 'room:7', 2, budget => 3);
SELECT pool, capacity, consumed, held, expired, available, holds FROM hold_pool_status;
SELECT hold_available('room:7') IS NULL AS capacity_is_elsewhere;
SELECT hold_count('room:7');
SELECT pool, available, held, closed FROM hold_available_many('{room:7}');
SELECT seq, event, token, qty, held, capacity FROM hold_entries ORDER BY seq;

-- live holds of others plus qty must not exceed it
SELECT granted, outcome, qty, available, regress_minutes(retry_at) AS retry_in
FROM hold_try('bob', 'room:7', 2, budget => 3);
SELECT granted, outcome, qty, available FROM hold_try('bob', 'room:7', 1, budget => 3);
SELECT granted, outcome, qty, available FROM hold_try('cid', 'room:7', 1, budget => 4.5);

-- each call brings its own: what the others were given does not matter
SELECT granted, outcome, available FROM hold_try('dan', 'room:7', 0.5, budget => 4);

-- without one, nobody knows
SELECT outcome FROM hold_try('dan', 'room:7');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_try_lines('dan', hold_lines('{room:7}'));
\echo :LAST_ERROR_SQLSTATE

-- 0 or negative: insufficient, and nothing could be had
SELECT outcome, available FROM hold_try('dan', 'room:7', 1, budget => 0);
SELECT outcome, available FROM hold_try('dan', 'room:7', 1, budget => -5);

-- a refused request leaves no pool behind
SELECT outcome, available FROM hold_try('dan', 'room:8', 1, budget => 0);
SELECT outcome, available FROM hold_try('dan', 'room:8', 2, budget => 1.5);
SELECT pool, outcome, available
FROM hold_try_lines('dan', hold_lines('{room:9,room:7}', NULL, '{1,1}'));
SELECT pool FROM hold_pool_status ORDER BY pool;
SELECT count(*) FROM hold_entries WHERE pool <> 'room:7';
SELECT hold_available('room:8');

-- nor does one that is an error
SELECT outcome FROM hold_try_lines('dan', hold_lines('{room:9,nowhere}', NULL, '{1,NULL}'));
SELECT pool FROM hold_pool_status ORDER BY pool;

-- many at once
SELECT line, pool, outcome, available
FROM hold_try_lines('dan', hold_lines('{room:9,room:8,room:9}', '{1,1,2}', '{5,1,3}'));
SELECT pool, held, holds FROM hold_pool_status ORDER BY pool;

--
-- The same token again
--

-- a renewal of the same quantity looks at no budget, and needs none
SELECT outcome, version FROM hold_try('ann', 'room:7', 2, budget => 0);
SELECT outcome, version FROM hold_try('ann', 'room:7', 2, budget => -1);
SELECT outcome, version FROM hold_try('ann', 'room:7', 2);
SELECT outcome FROM hold_renew('ann');

-- less always fits
SELECT outcome, qty FROM hold_try('ann', 'room:7', 1.5, budget => 0);

-- more competes with what others hold
SELECT outcome, qty, available FROM hold_try('ann', 'room:7', 3, budget => 4);
SELECT outcome, qty, available FROM hold_try('ann', 'room:7', 2, budget => 4);

--
-- Consumed units are recorded, and never counted again
--

SELECT outcome, consumed FROM hold_consume('ann');
SELECT pool, consumed, held, available FROM hold_pool_status WHERE pool = 'room:7';
SELECT outcome, available FROM hold_try('eve', 'room:7', 2, budget => 4);
SELECT outcome FROM hold_try('ann', 'room:7', 1, budget => 99);
SELECT outcome, refunded FROM hold_release('eve');

-- expired ones are free at once
SELECT outcome FROM hold_try('fay', 'room:7', 7, '1 minute', budget => 9);
SET hold_ledger.clock_offset = '1 min';
SELECT outcome, available FROM hold_try('gus', 'room:7', 7, '2 minutes', budget => 9);
SELECT hold_count('room:7');
RESET hold_ledger.clock_offset;

--
-- On a pool with a capacity of its own both must hold
--

SELECT hold_pool_set('seats', 5) IS NOT NULL AS made;
SELECT outcome, available FROM hold_try('hal', 'seats', 3, budget => 2);
SELECT outcome, available FROM hold_try('hal', 'seats', 3, budget => 4);
SELECT outcome, available FROM hold_try('ivy', 'seats', 2, budget => 4);
SELECT outcome, available FROM hold_try('ivy', 'seats', 3, budget => 100);
SELECT outcome, available FROM hold_try('ivy', 'seats', 1, budget => 100);

-- consumed units count against the capacity, not against the budget
SELECT outcome FROM hold_consume('hal');
SELECT outcome, available FROM hold_try('jim', 'seats', 1, budget => 2);
SELECT outcome, available FROM hold_try('kim', 'seats', 1, budget => 100);
SELECT pool, capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'seats';

--
-- External pools as such
--

SELECT hold_pool_set('made', NULL) IS NOT NULL AS made;
SELECT outcome FROM hold_try('lea', 'made');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_try('lea', 'made', budget => 1);

-- they can be closed, and end
SELECT hold_pool_close('made');
SELECT outcome, available FROM hold_try('max', 'made', budget => 9);
SELECT hold_pool_open('made');
SELECT hold_pool_set('made', NULL, now()) IS NOT NULL AS set;
SELECT outcome, available FROM hold_try('max', 'made', budget => 9);
SELECT hold_pool_set('made', NULL, 'infinity') IS NOT NULL AS set;

-- have nothing to add to
SELECT hold_pool_add('made', 1);
\echo :LAST_ERROR_SQLSTATE

-- become counted with a capacity, and not external again
SELECT hold_pool_set('made', 3) IS NOT NULL AS set;
SELECT outcome, available FROM hold_try('max', 'made', 1);
SELECT hold_pool_set('made', NULL);
\echo :LAST_ERROR_SQLSTATE

-- a dropped pool is unknown: a budget makes it again
SELECT hold_pool_set('gone', 5) IS NOT NULL AS made;
SELECT hold_pool_drop('gone');
SELECT outcome, available FROM hold_try('ned', 'gone', 1, budget => 2);
SELECT capacity, held, holds FROM hold_pool_status WHERE pool = 'gone';
SELECT seq, event, qty, held, capacity FROM hold_entries WHERE pool = 'gone' ORDER BY seq;

SELECT regress_ok();
