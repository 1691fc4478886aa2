-- Pools with several counter rows: to callers they are like any other.

SET hold_ledger.tenant = 'stripes';

CREATE TEMP VIEW state AS
SELECT pool, capacity, consumed, held, available, stripes FROM hold_pool_status ORDER BY pool;
CREATE TEMP VIEW counter_rows AS
SELECT pool, count(*) AS rows, min(homes) AS homes, bool_or(hold_units(held) > 0) AS any_held
FROM hold_pools WHERE tenant = 'stripes' AND room_id IS NULL GROUP BY pool ORDER BY pool;
-- the outcomes of a query on the verbs, counted
CREATE FUNCTION pg_temp.outcomes(calls text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SELECT string_agg(n || '' '' || outcome, '', '' ORDER BY outcome)
		FROM (SELECT outcome, count(*) AS n FROM (%s) AS calls GROUP BY outcome) AS counts', calls) INTO answer;
	RETURN answer;
END $$;

--
-- Limits
--

SELECT hold_pool_set('p', 1, stripes => 65);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_set('p', 1, stripes => -1);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('p', 1, stripes => 65);
\echo :LAST_ERROR_SQLSTATE

--
-- All of the capacity can be had, and no more, whatever the shares
--

SELECT hold_pool_set('p', 20, stripes => 8) IS NOT NULL AS made;
SELECT * FROM state;
SELECT * FROM counter_rows;
SELECT available FROM generate_series(1, 20) n, hold_try('t' || n, 'p') WHERE NOT granted OR available <> 20 - n;
SELECT * FROM state;
SELECT regress_ok();
BEGIN;
SELECT outcome, available, regress_minutes(retry_at) AS retry_in FROM hold_try('late', 'p');
SELECT pg_current_xact_id_if_assigned() IS NULL AS wrote_nothing;
COMMIT;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 20) n, hold_release('t' || n)$$);
SELECT outcome, available FROM hold_try('one', 'p', 19.5);
SELECT outcome, available FROM hold_try('two', 'p', 0.75);
SELECT outcome, available FROM hold_try('two', 'p', 0.5);
SELECT outcome, available, version FROM hold_try('one', 'p', 3);
SELECT outcome, available FROM hold_try('two', 'p', 17.5);
SELECT outcome, available FROM hold_try('two', 'p', 17);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('two', qty => 16);
SELECT outcome, refunded FROM hold_return('two', qty => 1, ref => 'a');
SELECT outcome, refunded FROM hold_return('two', qty => 1, ref => 'a');
SELECT outcome FROM hold_try('two', 'p');
SELECT * FROM state;
SELECT regress_ok();

-- what has expired is free in every row, and only what is needed is cleared away
SELECT outcome, refunded FROM hold_return('two');
SELECT outcome FROM hold_release('one');
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 20) n, hold_try('e' || n, 'p', 1, '1 minute')$$);
SET hold_ledger.clock_offset = '2 min';
SELECT held, expired, available, holds FROM hold_pool_status;
SELECT outcome, available FROM hold_try('big', 'p', 15);
SELECT held, expired, available, holds FROM hold_pool_status;
SELECT outcome FROM hold_try('big', 'p', 20.000001);
SELECT outcome, available FROM hold_try('big', 'p', 20);
SELECT regress_ok();
SELECT outcome FROM hold_release('big');
RESET hold_ledger.clock_offset;

--
-- The number of stripes may change at any time: what is held stays
--

SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 18) n, hold_try('k' || n, 'p', 1, '1 hour')$$);
SELECT pg_temp.outcomes($$SELECT * FROM hold_consume('k1') UNION ALL SELECT * FROM hold_consume('k2', qty => 1, final => false, ref => 'c')$$);
SELECT hold_pool_set('p', 20, stripes => 3) IS NOT NULL AS changed;
SELECT * FROM counter_rows;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(3, 18) n, hold_try('k' || n, 'p', 1, '1 hour')$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 2) n, hold_try('k' || n, 'p')$$);
SELECT outcome, available FROM hold_try('x', 'p', 2);
SELECT outcome, available FROM hold_try('y', 'p');
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(3, 8) n, hold_consume('k' || n)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(9, 14) n, hold_release('k' || n)$$);
SELECT outcome, available FROM hold_try('y', 'p', 6);
SELECT outcome, refunded FROM hold_return('k1');
SELECT outcome FROM hold_try('k1', 'p');
SELECT regress_ok();
SELECT hold_pool_set('p', 20, stripes => 1) IS NOT NULL AS changed;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 18) n, hold_consume('k' || n)$$);
SELECT pg_temp.outcomes($$SELECT * FROM hold_release('x') UNION ALL SELECT * FROM hold_release('y')$$);
SELECT outcome, available FROM hold_try('all', 'p', 8);
SELECT * FROM state;
SELECT regress_ok();

-- a hold that lapsed in a row that is not its token's home any more
SELECT hold_pool_set('h', 16, stripes => 16) IS NOT NULL AS made;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 16) n, hold_try('h' || n, 'h', 1, '1 minute')$$);
SELECT hold_pool_set('h', 16, stripes => 5) IS NOT NULL AS changed;
SET hold_ledger.clock_offset = '2 min';
-- claimed afresh, and paid late, where it lies and cleared away by others
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 5) n, hold_try('h' || n, 'h', 1)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(6, 10) n, hold_consume('h' || n, late => true)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(11, 16) n, hold_consume('h' || n, late => true)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 16) n, hold_consume('h' || n, late => true)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 16) n, hold_try('h' || n, 'h')$$);
SELECT state, count(*), sum(consumed) FROM generate_series(1, 16) n, hold_get('h' || n) GROUP BY state;
SELECT count(DISTINCT pool_id) AS ids, bool_and(pool_id = (SELECT pool_id FROM hold_pool_status WHERE pool = 'h')) AS the_pools
FROM generate_series(1, 16) n, hold_get('h' || n);
SELECT * FROM state WHERE pool = 'h';
SELECT hold_pool_set('h', 16, stripes => 12) IS NOT NULL AS changed;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 16) n, hold_return('h' || n)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 16) n, hold_try('h' || n, 'h')$$);
SELECT regress_ok();
RESET hold_ledger.clock_offset;

--
-- A capacity below what is held: nothing is given until it has drained
--

SELECT hold_pool_set('low', 12, stripes => 4) IS NOT NULL AS made;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 12) n, hold_try('l' || n, 'low')$$);
SELECT hold_pool_set('low', 5) IS NOT NULL AS lowered;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 7) n, hold_release('l' || n)$$);
SELECT outcome, available FROM hold_try('new', 'low', 1);
SELECT outcome FROM hold_release('l8');
SELECT outcome, available FROM hold_try('new', 'low', 1);
SELECT outcome, available FROM hold_try('new', 'low', 2);
SELECT hold_pool_add('low', -5, 'less'), hold_pool_add('low', -5, 'less');
SELECT outcome, available FROM hold_try('new', 'low', 2);
SELECT hold_pool_add('low', 7, 'more'), hold_pool_add('low', 7, 'more');
SELECT outcome, available FROM hold_try('new', 'low', 3);
SELECT hold_pool_add('low', -8);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM state WHERE pool = 'low';
SELECT regress_ok();

--
-- Closing, leases, dropping
--

SELECT hold_pool_close('low'), hold_pool_close('low');
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 12) n, hold_try('c' || n, 'low')$$);
SELECT hold_available('low');
SELECT hold_pool_open('low'), hold_pool_open('low');
SELECT hold_pool_renew('low', 9, '2100-01-01'), hold_pool_renew('low', 9, '2100-01-01');
SELECT hold_pool_renew('low', 8, '2100-01-01');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM state WHERE pool = 'low';
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(9, 12) n, hold_try('l' || n, 'low')$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(9, 12) n, hold_consume('l' || n)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 12) n, hold_try('g' || n, 'low')$$);
SELECT hold_pool_drop('low');
\echo :LAST_ERROR_SQLSTATE
SELECT pg_temp.outcomes($$SELECT * FROM unnest(array['new', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7', 'g8', 'g9']) g, hold_release(g)$$);
SELECT hold_pool_drop('low');
SELECT outcome FROM hold_try('g1', 'low');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_set('low', 4) IS NOT NULL AS revived;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 12) n, hold_try('g' || n, 'low')$$);
SELECT * FROM state WHERE pool = 'low';
SELECT regress_ok();

--
-- Classes, budgets, functions that tell a capacity, batches
--

SELECT hold_class_set('slot', 3, stripes => 4);
SELECT hold_available('slot:1');
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 5) n, hold_try('s' || n, 'slot:1')$$);
SELECT hold_pool_set('ext', NULL, stripes => 4) IS NOT NULL AS made;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 5) n, hold_try('s' || n, 'ext', 1, budget => 3)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 5) n, hold_try('s' || n, 'p', 1, budget => 10)$$);
SELECT outcome, available FROM hold_try('s1', 'h', 1, budget => 0);
CREATE FUNCTION regress_three(pool text) RETURNS numeric STABLE LANGUAGE sql AS 'SELECT 3.0';
SELECT hold_class_set('told', stripes => 4, capacity_from => 'regress_three(text)');
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 5) n, hold_try('s' || n, 'told:1')$$);
SELECT hold_available('told:1'), hold_count('told:1');
SELECT hold_pool_set('batch', 10, stripes => 4) IS NOT NULL AS made;
SELECT pg_temp.outcomes($$SELECT * FROM hold_try_batch(ARRAY(SELECT ROW('b' || n, 'batch', 1, NULL, NULL, NULL)::hold_request FROM generate_series(1, 12) n))$$);
SELECT pg_temp.outcomes($$SELECT * FROM hold_consume_batch(ARRAY(SELECT 'b' || n FROM generate_series(1, 12) n))$$);
SELECT line, outcome, pool, available FROM hold_try_lines('lines', hold_lines('{h,batch,p}'));
SELECT hold_pool_set('batch', 12) IS NOT NULL AND hold_pool_set('h', 20) IS NOT NULL AS changed;
SELECT line, outcome, pool, available FROM hold_try_lines('lines', hold_lines('{h,batch,h}'), replace => true);
SELECT pool, outcome, consumed FROM hold_consume('lines') ORDER BY pool;
SELECT * FROM hold_verify();

-- one snapshot, and what is rolled back
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 4) n, hold_try('r' || n, 'h')$$);
SAVEPOINT here;
SELECT outcome, available FROM hold_try('r5', 'h');
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 4) n, hold_release('r' || n)$$);
ROLLBACK TO here;
SELECT hold_available('h');
ROLLBACK;
SELECT hold_available('h');

--
-- Adaptive: one row while nobody waits
--

SELECT hold_pool_set('a', 200, stripes => 0) IS NOT NULL AS made;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 30) n, hold_try('a' || n, 'a')$$);
SELECT * FROM counter_rows WHERE pool = 'a';
-- as if claims had waited: the next one splits it, if there is plenty
UPDATE hold_pools SET waits = 9 WHERE tenant = 'stripes' AND pool = 'a';
SELECT outcome, available FROM hold_try('big', 'a', 20);
SELECT * FROM counter_rows WHERE pool = 'a';
UPDATE hold_pools SET waits = 9 WHERE tenant = 'stripes' AND pool = 'a';
SELECT outcome, available FROM hold_try('one', 'a', 1);
SELECT * FROM counter_rows WHERE pool = 'a';
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 30) n, hold_try('a' || n, 'a')$$);
SELECT * FROM state WHERE pool = 'a';
-- set again, it stays as it is
SELECT hold_pool_set('a', 200, stripes => 0) IS NOT NULL AS same;
SELECT * FROM counter_rows WHERE pool = 'a';
-- when it was quiet for a while, it merges
SET hold_ledger.clock_offset = '1 min';
SELECT outcome, available FROM hold_try('two', 'a', 1);
RESET hold_ledger.clock_offset;
SELECT * FROM counter_rows WHERE pool = 'a';
-- and when it is nearly full
UPDATE hold_pools SET waits = 9 WHERE tenant = 'stripes' AND pool = 'a' AND stripe = 0;
SELECT outcome, available FROM hold_try('three', 'a', 1);
SELECT * FROM counter_rows WHERE pool = 'a';
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(31, 180) n, hold_try('a' || n, 'a')$$);
SELECT * FROM counter_rows WHERE pool = 'a';
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 180) n, hold_consume('a' || n)$$);
SELECT * FROM state WHERE pool = 'a';
SELECT * FROM hold_verify();

-- a late payment that is refused for one line leaves the others as they were
SELECT hold_pool_set('la', 20) IS NOT NULL AND hold_pool_set('lb', 20, stripes => 4) IS NOT NULL AS made;
SELECT count(*) FROM hold_try_lines('slow', hold_lines('{la,lb}', '{20,2}'));
SET hold_ledger.clock_offset = '1 h';
SELECT outcome FROM hold_try('quick', 'la', 20);
SELECT hold_pool_set('lb', 20, stripes => 8) IS NOT NULL AND hold_pool_set('lb', 20, stripes => 64) IS NOT NULL AS changed;
SELECT pool, outcome FROM hold_consume('slow', late => true) ORDER BY pool;
RESET hold_ledger.clock_offset;

-- a batch that brings a dropped pool of a class back, twice
SELECT hold_class_set('twice', 12);
SELECT outcome FROM hold_try('t', 'twice:1');
SELECT outcome FROM hold_release('t');
SELECT hold_pool_drop('twice:1');
SELECT line, outcome, available FROM hold_try_batch(ARRAY[
	ROW('t1', 'twice:1', 3, NULL, NULL, NULL), ROW('t2', 'twice:1', 1, NULL, NULL, NULL)]::hold_request[]);
SELECT * FROM hold_verify();

-- a batch in which one request's change decides which rows another needs
SELECT hold_pool_set('near', 5, stripes => 4) IS NOT NULL AND hold_pool_set('far', 100, stripes => 4) IS NOT NULL AS made;
SELECT outcome FROM hold_try('t7', 'near', 2);
SELECT outcome FROM hold_try('t13', 'near', 1);
SELECT hold_pool_set('far', 100, stripes => 1) IS NOT NULL AS changed;
SELECT line, outcome, available FROM hold_try_batch(ARRAY[
	ROW('t1', 'far', 12, NULL, NULL, NULL), ROW('t1', 'far', 5, NULL, 3, NULL),
	ROW('t7', 'near', 1, NULL, NULL, NULL), ROW('t11', 'near', 2.333333, NULL, NULL, NULL)]::hold_request[]);
-- and many of them, each in a pool of its own
SELECT bool_and(hold_pool_set('many:' || n, 8, stripes => 8) IS NOT NULL) AS made FROM generate_series(1, 30) n;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 30) n, hold_try('m' || n, 'many:' || n, 3)$$);
SELECT outcome, count(*) FROM hold_try_batch(ARRAY(
	SELECT ROW('m' || n, 'many:' || n, 1, NULL, NULL, NULL)::hold_request FROM generate_series(1, 30) n UNION ALL
	SELECT ROW('n' || n, 'many:' || n, 7, NULL, NULL, NULL)::hold_request FROM generate_series(1, 30) n)) GROUP BY 1;
SELECT * FROM hold_verify();

-- a return when what was claimed since has lapsed, away from home
SELECT hold_pool_set('back', 100) IS NOT NULL AS made;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 9) n, hold_try('back' || n, 'back')$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 9) n, hold_consume('back' || n)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 9) n, hold_return('back' || n)$$);
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 9) n, hold_try('back' || n, 'back', ttl => '30 min')$$);
SELECT hold_pool_set('back', 100, stripes => 4) IS NOT NULL AS changed;
SET hold_ledger.clock_offset = '50 min';
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 9) n, hold_return('back' || n, ref => 'r')$$);
SELECT * FROM hold_verify();
SELECT hold_sweep(100) > 0 AS swept;
SELECT * FROM hold_verify();
RESET hold_ledger.clock_offset;
