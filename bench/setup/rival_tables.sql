-- The tables of the rivals: columns, indexes and storage options of hold_ledger's.
CREATE SCHEMA :schema;
SET search_path = :schema;

CREATE TYPE hold_event AS ENUM ('capacity', 'opened', 'closed', 'generation', 'granted', 'renewed', 'changed',
	'consumed', 'released', 'expired', 'returned', 'repaired');

CREATE TABLE hold_pools (
	pool_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	consumed bigint NOT NULL DEFAULT 0,
	held bigint NOT NULL DEFAULT 0,
	holds bigint NOT NULL DEFAULT 0,	-- the rivals do not count them
	seq bigint NOT NULL DEFAULT 0,
	last_at timestamptz NOT NULL DEFAULT '-infinity',
	next_expiry timestamptz NOT NULL DEFAULT 'infinity',
	lease_end timestamptz NOT NULL DEFAULT 'infinity',
	generation int NOT NULL DEFAULT 1,
	stripe smallint NOT NULL DEFAULT 0,
	stripes smallint NOT NULL DEFAULT 1,
	closed boolean NOT NULL DEFAULT false,
	retired boolean NOT NULL DEFAULT false,
	capacity bigint,
	tenant text COLLATE "C" NOT NULL DEFAULT '',
	pool text COLLATE "C" NOT NULL,
	room_id bigint,
	UNIQUE (tenant, pool, stripe)
) WITH (
	fillfactor = 90,
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE holds (
	pool_id bigint NOT NULL,
	qty bigint NOT NULL,
	consumed bigint NOT NULL DEFAULT 0,
	expires_at timestamptz NOT NULL,
	held_since timestamptz NOT NULL,
	token_key bigint NOT NULL,
	version int NOT NULL DEFAULT 1,
	generation int NOT NULL DEFAULT 1,
	token text COLLATE "C" NOT NULL,
	ref text,
	payload jsonb
) WITH (
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX ON holds (token_key);
CREATE INDEX ON holds (pool_id, expires_at);

CREATE TABLE hold_ledger (
	at timestamptz NOT NULL,
	pool_id bigint NOT NULL,
	seq bigint NOT NULL,
	qty bigint NOT NULL,
	held bigint NOT NULL,
	consumed bigint NOT NULL,
	generation int NOT NULL DEFAULT 1,
	event hold_event NOT NULL,
	capacity bigint,
	expires_at timestamptz,
	memory_key bigint,		-- of the entries that end or draw on a hold
	remaining bigint,
	taken bigint,
	held_since timestamptz,
	reservation_id bigint,
	room_id bigint,
	version int,
	actor text NOT NULL DEFAULT current_user,
	token text COLLATE "C",
	ref text,
	payload jsonb,
	stay daterange
) WITH (
	autovacuum_vacuum_insert_scale_factor = 0.05,
	autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX ON hold_ledger USING brin (at) WITH (autosummarize = on, pages_per_range = 32);
CREATE INDEX ON hold_ledger (memory_key) WHERE memory_key IS NOT NULL;

CREATE TABLE bookings (token text NOT NULL, pool text NOT NULL, qty numeric NOT NULL);

-- capacities, then the holds of the full pool, each with its ledger entry
INSERT INTO hold_pools (capacity, seq, pool)
SELECT capacity * 1000000, 1, pool FROM bench.pools;
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity)
SELECT clock_timestamp(), pool_id, 1, 0, 0, 0, 'capacity', capacity FROM hold_pools;

INSERT INTO holds (pool_id, qty, expires_at, held_since, token_key, token)
SELECT pool_id, 1000000, now() + '1 day', now(), hashtextextended('full:' || g, 0), 'full:' || g
  FROM hold_pools, generate_series(1, 1000) g
 WHERE pool = '3000000000001';
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity, expires_at, token)
SELECT held_since, pool_id, seq + g, qty, g * qty, 0, 'granted', capacity, expires_at, token
  FROM hold_pools JOIN (SELECT *, row_number() OVER () AS g FROM holds) h USING (pool_id);
UPDATE hold_pools p SET held = h.held, seq = seq + h.n, last_at = now(), next_expiry = h.next
  FROM (SELECT pool_id, sum(qty) AS held, count(*) AS n, min(expires_at) AS next FROM holds GROUP BY pool_id) h
 WHERE p.pool_id = h.pool_id;

GRANT USAGE ON SCHEMA :schema TO bench_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA :schema TO bench_app;
