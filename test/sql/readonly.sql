-- Read-only transactions, and parallel queries: reads work, verbs do not.

SET hold_ledger.tenant = 'readonly';

SELECT count(hold_pool_set('p' || i, 5)) AS made FROM generate_series(1, 20) i;
SELECT outcome, count(*) FROM generate_series(1, 20) i, hold_try('ann', 'p' || i, 2, '1 minute') GROUP BY outcome;
SELECT outcome, count(*) FROM generate_series(1, 20) i, hold_try('bob', 'p' || i, 1, '1 hour') GROUP BY outcome;
SET hold_ledger.clock_offset = '1 min';

--
-- Reads, also where something has expired
--

SET default_transaction_read_only = on;
SELECT hold_available('p1'), hold_count('p1');
SELECT pool, available, held FROM hold_available_many('{p1,nowhere}');
SELECT pool, state FROM hold_get('ann') WHERE pool = 'p1';
SELECT event FROM hold_history('ann') WHERE pool = 'p1';
SELECT event, token FROM hold_pool_history('p1');
SELECT capacity, held, expired, available FROM hold_pool_status WHERE pool = 'p1';
SELECT token, qty FROM live_holds WHERE pool = 'p1';
SELECT seq, event FROM hold_entries WHERE pool = 'p1' ORDER BY seq;
SELECT count(*) FROM hold_verify();
SELECT count(*) FROM unnest(hold_lines('{p1}')) l, unnest(hold_nights('n', '[2031-05-01,2031-05-02)')) n;

--
-- Verbs
--

SELECT hold_try('cid', 'p1');
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY sqlstate
SELECT hold_try('cid', 'p1', 99);
SELECT hold_try('cid', 'nowhere');
SELECT hold_try_lines('cid', hold_lines('{p1}'));
SELECT hold_renew('bob');
SELECT hold_consume('bob');
SELECT hold_consume('nobody');
SELECT hold_release('bob');
SELECT hold_pool_set('p1', 5);
SELECT hold_pool_add('p1', 1);
SELECT hold_pool_close('p1');
SELECT hold_pool_open('p1');
SELECT hold_pool_drop('p1');
SELECT hold_sweep();
CALL hold_sweep_all();
\set VERBOSITY default
SET default_transaction_read_only = off;

-- a transaction that turns read-only
BEGIN;
SELECT outcome FROM hold_try('cid', 'p1');
SET TRANSACTION READ ONLY;
SELECT hold_available('p1');
SELECT outcome FROM hold_release('cid');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

--
-- Parallel: the setting has two names
--

SELECT count(set_config(name, 'on', false)) FROM pg_settings
WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE regress_pools AS SELECT 'p' || i AS pool FROM generate_series(1, 20) i;
ANALYZE regress_pools;

CREATE FUNCTION pg_temp.plan(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END $$;
SELECT count(*) > 0 AS in_parallel FROM pg_temp.plan('SELECT hold_count(pool) FROM regress_pools') line
WHERE line LIKE '%Gather%';

SELECT hold_available(pool), count(*) FROM regress_pools GROUP BY 1;
SELECT hold_count(pool), count(*) FROM regress_pools GROUP BY 1;
SELECT a.available, a.held, count(*) FROM regress_pools r, hold_available_many(ARRAY[r.pool]) a GROUP BY 1, 2;
SELECT state, count(*) FROM hold_get('ann') GROUP BY state;
SELECT count(*), sum(available) FROM hold_pool_status;
SELECT count(*), sum(qty) FROM live_holds;
SELECT count(*) FROM hold_entries;
SELECT count(*) FROM hold_history('ann');
SELECT count(*) FROM hold_verify();
SELECT count(*) FROM regress_pools WHERE hold_clock() > now() AND hold_tenant() = 'readonly';

-- what writes is left to the leader
SELECT outcome, count(*) FROM regress_pools r, hold_try('dan', r.pool, 1) GROUP BY outcome;
SELECT outcome, count(*) FROM regress_pools r, hold_consume('dan', r.pool) GROUP BY outcome;
SELECT hold_sweep() >= 0 AS swept;

SELECT count(set_config(name, 'off', false)) FROM pg_settings
WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
DROP TABLE regress_pools;
SELECT regress_ok();
