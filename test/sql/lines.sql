-- hold_try_lines: many pools in one request, all or none.

SET hold_ledger.tenant = 'lines';

SELECT pool, hold_pool_set(pool, capacity) IS NOT NULL AS made
FROM (VALUES ('p', 3), ('q', 5), ('r', 1), ('s', 4)) AS v (pool, capacity);

--
-- Making lines
--

SELECT * FROM hold_line('p');
SELECT * FROM hold_line('p', 2.50, 7);
SELECT * FROM unnest(hold_lines('{p,q}'));
SELECT * FROM unnest(hold_lines('{q,p}', '{2,3}'));
SELECT * FROM unnest(hold_lines('{p,q}', NULL, '{8,NULL}'));
SELECT hold_lines('{}') = '{}' AS none;

--
-- All lines, in the order of the request
--

SELECT granted, outcome, line, pool, qty, available, regress_minutes(expires_at) AS expires_in,
	version, retry_at
FROM hold_try_lines('ann', hold_lines('{q,p}', '{2,1}'), '20 minutes', payload => '{"cart": 1}');
SELECT pool, qty, payload FROM hold_get('ann') ORDER BY pool;

-- all of one moment
SELECT count(DISTINCT expires_at) FROM hold_get('ann');

-- the same again, in another order: renewed
SELECT line, pool, outcome, qty, available, version FROM hold_try_lines('ann', hold_lines('{p,q}', '{1,2.0}'));

-- some changed, some renewed, some new
SELECT line, pool, outcome, qty, available, version
FROM hold_try_lines('ann', hold_lines('{r,q,p}', '{1,3,1}'), payload => '{"cart": 2}');
SELECT pool, qty, version, payload FROM hold_get('ann') ORDER BY pool;

--
-- Or none: a refusal leaves every number as it was
--

CREATE TEMP TABLE before AS SELECT * FROM hold_entries;
SELECT granted, outcome, line, pool, qty, available, expires_at, version,
	regress_minutes(retry_at) AS retry_in
FROM hold_try_lines('bob', hold_lines('{s,r,q}', '{1,1,2}'));

SELECT count(*) FROM (SELECT * FROM hold_entries EXCEPT SELECT * FROM before) more;
SELECT count(*) FROM (SELECT * FROM before EXCEPT SELECT * FROM hold_entries) fewer;
DROP TABLE before;

-- two that cannot be had, each with its own reason
SELECT hold_pool_close('s');
CREATE TEMP TABLE before AS SELECT * FROM hold_entries;
SELECT outcome, line, pool, available FROM hold_try_lines('bob', hold_lines('{s,p,r}'));

-- lines of the token's own live holds are blocked too, and told as they are
SELECT outcome, line, pool, qty, available, regress_minutes(expires_at) AS expires_in, version
FROM hold_try_lines('ann', hold_lines('{s,q,p,r}', '{1,3,2,1}'));

SELECT count(*) FROM (SELECT * FROM hold_entries EXCEPT SELECT * FROM before) more;
SELECT count(*) FROM (SELECT * FROM before EXCEPT SELECT * FROM hold_entries) fewer;
SELECT hold_pool_open('s');
SELECT regress_ok();

--
-- Lines of one pool are summed
--

SELECT hold_pool_set('t', 3) IS NOT NULL AS made;
SELECT outcome, line, pool, qty, available FROM hold_try_lines('cid', hold_lines('{t,t}', '{2,2}'));
SELECT outcome, line, pool, qty, available, version FROM hold_try_lines('cid', hold_lines('{t,s,t}', '{1,1,2}'));
SELECT pool, qty, version FROM hold_get('cid') ORDER BY pool;

-- so a sum that is held already is renewed
SELECT outcome, line, qty, version FROM hold_try_lines('cid', hold_lines('{t,t,t}'));
SELECT outcome, qty, version FROM hold_try('cid', 't', 3);

-- and settled as one
SELECT pool, outcome, qty, refunded FROM hold_release('cid') ORDER BY line;
SELECT hold_available('t');

-- of several budgets the least counts
SELECT outcome, available
FROM hold_try_lines('cid', ARRAY[hold_line('t', 1, 9), hold_line('t', 1, 1), hold_line('t', 1)]);

-- a blocked sum is blocked in each of its lines
SELECT outcome, line, pool FROM hold_try_lines('cid', hold_lines('{t,r,t}'));
SELECT regress_ok();

--
-- A pool that is not there: the whole is an error, whatever the others are
--

SELECT outcome FROM hold_try_lines('dan', hold_lines('{p,nowhere}'));
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_try_lines('dan', hold_lines('{r,nowhere,s}'));
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_close('s');
SELECT outcome FROM hold_try_lines('dan', hold_lines('{s,nowhere}'));
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_open('s');
SELECT count(*) FROM hold_get('dan');

--
-- A token that has consumed in one of the pools
--

SELECT outcome FROM hold_try('eve', 't', 1);
SELECT outcome FROM hold_consume('eve');
SELECT outcome, line, pool, available FROM hold_try_lines('eve', hold_lines('{s,t}'));

--
-- Replace: what the token holds in other pools goes in the same step
--

SELECT outcome, pool FROM hold_try_lines('fay', hold_lines('{s,t}', '{4,1}'));

-- without it, the other holds stay
SELECT outcome, pool FROM hold_try_lines('fay', hold_lines('{t}', '{2}'));
SELECT pool, qty, state FROM hold_get('fay') ORDER BY pool;

-- a refusal keeps them whole
SELECT outcome, pool, available FROM hold_try_lines('fay', hold_lines('{r}'), replace => true);
SELECT pool, qty, state FROM hold_get('fay') ORDER BY pool;
SELECT outcome, pool FROM hold_try_lines('fay', hold_lines('{t,r}'), replace => true);
SELECT pool, qty, state, version FROM hold_get('fay') ORDER BY pool;

-- a grant releases them; one in a pool of the request is renewed
SELECT outcome, line, pool, version FROM hold_try_lines('fay', hold_lines('{q,t}', '{1,2}'), replace => true);
SELECT pool, qty, state, version FROM hold_get('fay') ORDER BY pool;
SELECT event, pool, qty, held FROM hold_history('fay') ORDER BY at, pool, seq;

-- what is replaced does not make room for the request itself
SELECT hold_pool_set('u', 2) IS NOT NULL AS made;
SELECT outcome, pool FROM hold_try_lines('gus', hold_lines('{u,s}', '{2,4}'));
SELECT outcome, line, pool, available
FROM hold_try_lines('gus', hold_lines('{u,t}', '{2,2}'), replace => true);
SELECT pool, qty, state FROM hold_get('gus') ORDER BY pool;

-- nor is anybody else's touched, nor what the token has consumed
SELECT outcome FROM hold_try('hal', 'q', 1);
SELECT outcome FROM hold_release('gus', 's');
SELECT outcome, pool FROM hold_try_lines('hal', hold_lines('{s}'));
SELECT outcome FROM hold_consume('hal', 's');
SELECT outcome, pool FROM hold_try_lines('hal', hold_lines('{p}'), replace => true);
SELECT pool, qty, consumed, state FROM hold_get('hal') ORDER BY pool;
SELECT pool, qty, state FROM hold_get('gus') ORDER BY pool;

SELECT regress_ok();
