-- The tables of the rivals in stays; a room's row is of stripe -1, as in hold_ledger.
\ir rival_tables.sql
CREATE EXTENSION IF NOT EXISTS btree_gist;

CREATE TABLE room_stays (
	stay_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	tenant text COLLATE "C" NOT NULL DEFAULT '',
	room_id bigint NOT NULL,
	reservation_id bigint,
	stay daterange NOT NULL,
	ref text,
	token text COLLATE "C",
	expires_at timestamptz,
	token_key bigint,
	held_since timestamptz NOT NULL,
	version int NOT NULL DEFAULT 1,
	payload jsonb,
	EXCLUDE USING gist (tenant WITH =, room_id WITH =, stay WITH &&)
) WITH (
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX ON room_stays (token_key) WHERE token_key IS NOT NULL;
CREATE INDEX ON room_stays (expires_at) WHERE expires_at IS NOT NULL;

INSERT INTO hold_pools (seq, pool, stripe)
SELECT 1, g, -1 FROM generate_series(1, 2000) g;
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, room_id)
SELECT clock_timestamp(), pool_id, 1, 0, 0, 0, 'opened', pool::bigint FROM hold_pools WHERE stripe = -1;

GRANT SELECT, INSERT, UPDATE, DELETE ON room_stays TO bench_app;
