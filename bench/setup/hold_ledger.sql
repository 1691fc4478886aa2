CREATE SCHEMA :schema;
CREATE EXTENSION hold_ledger SCHEMA :schema CASCADE;
SET search_path = :schema;

SELECT count(hold_pool_set(pool, capacity)) FROM bench.pools;
-- the hot pool's sisters
SELECT hold_pool_set('2000000000002', 1000000000, stripes => 16);
SELECT hold_pool_set('2000000000003', 1000000000, stripes => 0);
-- each in a transaction of its own, as in life
SELECT format('SELECT FROM hold_try(%L, ''3000000000001'', 1, ''1 day'')', 'full:' || g)
  FROM generate_series(1, 1000) g
\gexec

-- rooms with many and with few past stays; not waiting for the disk
SET synchronous_commit = off;
SELECT format('INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (%s, %s, daterange(%L, %L))',
			  room_id, g, date '2026-01-01' - 3 * g, date '2026-01-01' - 3 * g + 3)
  FROM (VALUES (3001, 10000), (3002, 10)) rooms (room_id, stays), generate_series(1, stays) g
\gexec

CREATE TABLE bookings (token text NOT NULL, pool text NOT NULL, qty numeric NOT NULL);
GRANT INSERT ON bookings TO bench_app;

GRANT USAGE ON SCHEMA :schema TO bench_app;
SELECT hold_grant_access('bench_app', 'app');
