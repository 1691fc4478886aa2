CREATE SCHEMA :schema;
CREATE EXTENSION hold_ledger SCHEMA :schema CASCADE;
SET search_path = :schema;

SELECT count(hold_pool_set(pool, capacity)) FROM bench.pools;
-- each in a transaction of its own, as in life
SELECT format('SELECT FROM hold_try(%L, ''3000000000001'', 1, ''1 day'')', 'full:' || g)
  FROM generate_series(1, 1000) g
\gexec

GRANT USAGE ON SCHEMA :schema TO bench_app;
SELECT hold_grant_access('bench_app', 'app');
