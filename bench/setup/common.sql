-- What every variant needs: the pools, the role that calls, the counts.
CREATE SCHEMA bench;
CREATE ROLE bench_app LOGIN;

CREATE TABLE bench.pools (pool text, capacity bigint);
INSERT INTO bench.pools SELECT 1000000000000 + g, 1000000000 FROM generate_series(1, 100000) g;
INSERT INTO bench.pools VALUES ('2000000000001', 1000000000);
-- this one gets full: 1000 holds of 1
INSERT INTO bench.pools VALUES ('3000000000001', 1000);
-- 300 room types, 120 nights
INSERT INTO bench.pools
SELECT format('type-%s:%s', t, date '2031-01-01' + n), 1000000000
  FROM generate_series(1, 300) t, generate_series(0, 119) n;

-- by which the nights move on for all clients alike
CREATE SEQUENCE bench.calls;
GRANT USAGE ON SCHEMA bench TO bench_app;
GRANT USAGE ON SEQUENCE bench.calls TO bench_app;

-- What the server has written so far, and what of it are rows of one schema.
CREATE FUNCTION bench.written(schema name, OUT wal numeric, OUT rows numeric, OUT ledger_rows numeric)
LANGUAGE sql AS $$
	SELECT pg_current_wal_insert_lsn() - '0/0',
		   coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0),
		   coalesce(sum(n_tup_ins) FILTER (WHERE relname = 'hold_ledger'), 0)
	  FROM pg_stat_user_tables WHERE schemaname = schema;
$$;
