/* sql/hold_ledger--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION hold_ledger" to load this file. \quit

--
-- Types
--

CREATE TYPE @extschema@.hold_outcome AS ENUM (
	'granted', 'renewed', 'changed',
	'already_consumed', 'closed', 'pool_expired', 'insufficient', 'stay_taken',
	'blocked',
	'consumed', 'released', 'already_released', 'expired', 'not_found',
	'returned'
);
COMMENT ON TYPE @extschema@.hold_outcome IS
	'what became of a request: grants, refusals in their order of precedence, settlements';

CREATE TYPE @extschema@.hold_event AS ENUM (
	'capacity', 'opened', 'closed', 'generation',
	'granted', 'renewed', 'changed',
	'consumed', 'released', 'expired', 'returned', 'repaired'
);
COMMENT ON TYPE @extschema@.hold_event IS
	'what a row of the ledger tells';

CREATE TYPE @extschema@.hold_line AS (
	pool text,
	qty numeric,
	budget numeric
);
COMMENT ON TYPE @extschema@.hold_line IS
	'one line of a request; made with hold_line(), hold_lines() or hold_nights()';
COMMENT ON COLUMN @extschema@.hold_line.pool IS 'which pool';
COMMENT ON COLUMN @extschema@.hold_line.qty IS 'how much of it';
COMMENT ON COLUMN @extschema@.hold_line.budget IS
	'what live holds of others and qty together must not exceed, or NULL';

CREATE TYPE @extschema@.hold_request AS (
	token text,
	pool text,
	qty numeric,
	ttl interval,
	budget numeric,
	payload jsonb
);
COMMENT ON TYPE @extschema@.hold_request IS
	'one request of a batch; NULL for qty is 1, for the others as in hold_try';

CREATE TYPE @extschema@.hold_grant AS (
	granted boolean,
	outcome @extschema@.hold_outcome,
	line integer,
	pool text,
	qty numeric,
	available numeric,
	expires_at timestamptz,
	version integer,
	retry_at timestamptz
);
COMMENT ON TYPE @extschema@.hold_grant IS
	'the answer to one line of a request for a hold';
COMMENT ON COLUMN @extschema@.hold_grant.granted IS 'does the token hold what it asked for?';
COMMENT ON COLUMN @extschema@.hold_grant.outcome IS 'what became of the line';
COMMENT ON COLUMN @extschema@.hold_grant.line IS 'number of the line in the request';
COMMENT ON COLUMN @extschema@.hold_grant.qty IS 'what is held, or was asked for';
COMMENT ON COLUMN @extschema@.hold_grant.available IS
	'what is left after the answer; on insufficient, what could have been had';
COMMENT ON COLUMN @extschema@.hold_grant.expires_at IS 'until when the token''s hold is live';
COMMENT ON COLUMN @extschema@.hold_grant.version IS 'starts at 1, grows with each renewal and change';
COMMENT ON COLUMN @extschema@.hold_grant.retry_at IS
	'on a refusal, the earliest moment that capacity can come free';

CREATE TYPE @extschema@.hold_settlement AS (
	outcome @extschema@.hold_outcome,
	line integer,
	pool text,
	qty numeric,
	consumed numeric,
	refunded numeric,
	held numeric,
	at timestamptz,
	payload jsonb,
	room_id bigint,
	stay daterange,
	reservation_id bigint
);
COMMENT ON TYPE @extschema@.hold_settlement IS
	'how one hold was settled';
COMMENT ON COLUMN @extschema@.hold_settlement.outcome IS 'what became of the hold';
COMMENT ON COLUMN @extschema@.hold_settlement.line IS 'number of the row';
COMMENT ON COLUMN @extschema@.hold_settlement.qty IS 'what was held before';
COMMENT ON COLUMN @extschema@.hold_settlement.consumed IS 'what this call consumed';
COMMENT ON COLUMN @extschema@.hold_settlement.refunded IS 'what this call gave back';
COMMENT ON COLUMN @extschema@.hold_settlement.held IS 'what is still held after it';
COMMENT ON COLUMN @extschema@.hold_settlement.at IS 'when it was settled, or expired';

CREATE TYPE @extschema@.hold_stay_grant AS (
	granted boolean,
	outcome @extschema@.hold_outcome,
	room_id bigint,
	stay daterange,
	taken date[],
	expires_at timestamptz,
	version integer,
	retry_at timestamptz
);
COMMENT ON TYPE @extschema@.hold_stay_grant IS
	'the answer to a request for a room';
COMMENT ON COLUMN @extschema@.hold_stay_grant.granted IS 'does the token hold what it asked for?';
COMMENT ON COLUMN @extschema@.hold_stay_grant.outcome IS 'what became of the request';
COMMENT ON COLUMN @extschema@.hold_stay_grant.room_id IS 'which room';
COMMENT ON COLUMN @extschema@.hold_stay_grant.stay IS 'the nights that were asked for';
COMMENT ON COLUMN @extschema@.hold_stay_grant.taken IS 'the nights that are not free';
COMMENT ON COLUMN @extschema@.hold_stay_grant.expires_at IS 'until when the token''s stay is held; NULL: not held, or confirmed';
COMMENT ON COLUMN @extschema@.hold_stay_grant.version IS 'starts at 1, grows with each renewal and move';
COMMENT ON COLUMN @extschema@.hold_stay_grant.retry_at IS
	'on a refusal, when the last stay in the way can come free; NULL: one is confirmed';

--
-- Tables.  Quantities are in millionths; only the extension's functions write
-- them, and nobody but the owner reads them.
--

CREATE SEQUENCE @extschema@.hold_ids;
COMMENT ON SEQUENCE @extschema@.hold_ids IS 'numbers pools, classes and stays';

-- The columns that change with every call stand side by side, so that the
-- write-ahead log of an update stays short.
CREATE TABLE @extschema@.hold_pools (
	pool_id bigint NOT NULL,
	consumed bigint NOT NULL,
	held bigint NOT NULL,
	holds bigint NOT NULL,
	seq bigint NOT NULL,
	last_at timestamptz NOT NULL,
	next_expiry timestamptz NOT NULL,
	expired_to timestamptz NOT NULL,
	expired bigint NOT NULL,
	lease_end timestamptz NOT NULL,
	first_seq bigint NOT NULL,
	class_id bigint NOT NULL,
	generation integer NOT NULL,
	stripe smallint NOT NULL,
	stripes smallint NOT NULL,
	homes smallint NOT NULL,
	rows smallint NOT NULL,
	waits smallint NOT NULL,
	closed boolean NOT NULL,
	retired boolean NOT NULL,
	capacity bigint,
	tenant text COLLATE "C" NOT NULL,
	pool text COLLATE "C" NOT NULL,
	room_id bigint,
	CONSTRAINT hold_pools_pkey PRIMARY KEY (pool_id),
	CONSTRAINT hold_pools_by_key UNIQUE (tenant, pool, stripe)
) WITH (
	fillfactor = 90,
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0
);
COMMENT ON TABLE @extschema@.hold_pools IS
	'the pools and their counters, in millionths; read them by hold_pool_status';
COMMENT ON COLUMN @extschema@.hold_pools.pool_id IS 'never changes: foreign keys may point here';
COMMENT ON COLUMN @extschema@.hold_pools.consumed IS 'confirmed and not returned';
COMMENT ON COLUMN @extschema@.hold_pools.held IS 'held, live or expired and not yet settled';
COMMENT ON COLUMN @extschema@.hold_pools.holds IS 'how many holds there are, live or expired and not yet settled';
COMMENT ON COLUMN @extschema@.hold_pools.seq IS 'number of the newest ledger entry';
COMMENT ON COLUMN @extschema@.hold_pools.last_at IS 'time of the newest ledger entry';
COMMENT ON COLUMN @extschema@.hold_pools.next_expiry IS 'no hold expires before this';
COMMENT ON COLUMN @extschema@.hold_pools.expired_to IS 'holds that expire up to then are summed in expired';
COMMENT ON COLUMN @extschema@.hold_pools.expired IS 'what they hold, of this generation';
COMMENT ON COLUMN @extschema@.hold_pools.lease_end IS 'no new holds from then on';
COMMENT ON COLUMN @extschema@.hold_pools.first_seq IS 'number of the oldest ledger entry that is kept';
COMMENT ON COLUMN @extschema@.hold_pools.class_id IS 'the class that it was made by, or 0';
COMMENT ON COLUMN @extschema@.hold_pools.generation IS 'grows with each successor lease';
COMMENT ON COLUMN @extschema@.hold_pools.stripe IS 'which counter row: 0 is the pool''s own, -1 a room''s';
COMMENT ON COLUMN @extschema@.hold_pools.stripes IS 'how many counter rows were asked for; 0: adaptive';
COMMENT ON COLUMN @extschema@.hold_pools.homes IS 'over how many of them new holds are spread';
COMMENT ON COLUMN @extschema@.hold_pools.rows IS 'how many there are; those that are not used any more drain';
COMMENT ON COLUMN @extschema@.hold_pools.waits IS 'how often a claim waited for the row of an adaptive pool';
COMMENT ON COLUMN @extschema@.hold_pools.closed IS 'refuses new holds and renewals';
COMMENT ON COLUMN @extschema@.hold_pools.retired IS 'dropped: no verb knows it';
COMMENT ON COLUMN @extschema@.hold_pools.capacity IS 'NULL: the capacity lives elsewhere';
COMMENT ON COLUMN @extschema@.hold_pools.tenant IS 'whose pool it is';
COMMENT ON COLUMN @extschema@.hold_pools.pool IS 'its name';
COMMENT ON COLUMN @extschema@.hold_pools.room_id IS 'the row is a room''s: its lock, its numbering, its nights';

CREATE TABLE @extschema@.hold_classes (
	class_id bigint NOT NULL,
	capacity bigint,
	ttl bigint NOT NULL,
	stripes smallint NOT NULL,
	tenant text COLLATE "C" NOT NULL,
	prefix text COLLATE "C" NOT NULL,
	capacity_from text,
	CONSTRAINT hold_classes_pkey PRIMARY KEY (class_id),
	CONSTRAINT hold_classes_by_prefix UNIQUE (tenant, prefix)
);
COMMENT ON TABLE @extschema@.hold_classes IS
	'what pools named prefix:… are made with by their first hold';
COMMENT ON COLUMN @extschema@.hold_classes.class_id IS 'never changes';
COMMENT ON COLUMN @extschema@.hold_classes.capacity IS 'in millionths; NULL: it lives elsewhere';
COMMENT ON COLUMN @extschema@.hold_classes.ttl IS 'microseconds that a hold lasts when no time is given; 0: the setting''s';
COMMENT ON COLUMN @extschema@.hold_classes.stripes IS 'how many counter rows a pool gets';
COMMENT ON COLUMN @extschema@.hold_classes.tenant IS 'whose class it is';
COMMENT ON COLUMN @extschema@.hold_classes.prefix IS 'what stands in front of a colon in the names of its pools';
COMMENT ON COLUMN @extschema@.hold_classes.capacity_from IS 'the function that tells how much holds may take';

CREATE TABLE @extschema@.holds (
	pool_id bigint NOT NULL,
	qty bigint NOT NULL,
	consumed bigint NOT NULL,
	expires_at timestamptz NOT NULL,
	held_since timestamptz NOT NULL,
	token_key bigint NOT NULL,
	version integer NOT NULL,
	generation integer NOT NULL,
	token text COLLATE "C" NOT NULL,
	ref text,
	payload jsonb
) WITH (
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX holds_by_token ON @extschema@.holds (token_key);
CREATE INDEX holds_by_expiry ON @extschema@.holds (pool_id, expires_at);
COMMENT ON TABLE @extschema@.holds IS
	'the holds that have not ended, in millionths; read them by live_holds';
COMMENT ON COLUMN @extschema@.holds.pool_id IS 'the counter row that they are counted in';
COMMENT ON COLUMN @extschema@.holds.qty IS 'still held';
COMMENT ON COLUMN @extschema@.holds.consumed IS 'consumed so far by captures';
COMMENT ON COLUMN @extschema@.holds.expires_at IS 'expired from then on, swept or not';
COMMENT ON COLUMN @extschema@.holds.held_since IS 'when the claim was granted';
COMMENT ON COLUMN @extschema@.holds.token_key IS 'hash of tenant and token';
COMMENT ON COLUMN @extschema@.holds.version IS 'starts at 1, grows with each renewal and change';
COMMENT ON COLUMN @extschema@.holds.generation IS 'generation of the pool when it was granted';
COMMENT ON COLUMN @extschema@.holds.token IS 'the caller''s name for the attempt';
COMMENT ON COLUMN @extschema@.holds.ref IS 'ref of the last capture';
COMMENT ON COLUMN @extschema@.holds.payload IS 'whatever the caller wants kept';

CREATE TABLE @extschema@.hold_ledger (
	at timestamptz NOT NULL,
	pool_id bigint NOT NULL,
	seq bigint NOT NULL,
	qty bigint NOT NULL,
	held bigint NOT NULL,
	consumed bigint NOT NULL,
	generation integer NOT NULL,
	event @extschema@.hold_event NOT NULL,
	capacity bigint,
	expires_at timestamptz,
	memory_key bigint,
	remaining bigint,
	taken bigint,
	held_since timestamptz,
	reservation_id bigint,
	room_id bigint,
	version integer,
	actor text NOT NULL,
	token text COLLATE "C",
	ref text,
	payload jsonb,
	stay daterange
) WITH (
	autovacuum_vacuum_insert_scale_factor = 0.05,
	autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX hold_ledger_by_time ON @extschema@.hold_ledger
	USING brin (at) WITH (autosummarize = on, pages_per_range = 32);
CREATE INDEX hold_ledger_by_memory ON @extschema@.hold_ledger (memory_key)
	WHERE memory_key IS NOT NULL;
COMMENT ON TABLE @extschema@.hold_ledger IS
	'the ledger: every change, in millionths, append-only; read it by hold_entries';
COMMENT ON COLUMN @extschema@.hold_ledger.at IS 'when; never runs backwards within a pool';
COMMENT ON COLUMN @extschema@.hold_ledger.pool_id IS 'which counter row';
COMMENT ON COLUMN @extschema@.hold_ledger.seq IS 'number of the entry there, without a gap';
COMMENT ON COLUMN @extschema@.hold_ledger.qty IS 'how much the event moved, or is held after it';
COMMENT ON COLUMN @extschema@.hold_ledger.held IS 'held there after it';
COMMENT ON COLUMN @extschema@.hold_ledger.consumed IS 'consumed there after it';
COMMENT ON COLUMN @extschema@.hold_ledger.generation IS 'of the hold, or of the pool';
COMMENT ON COLUMN @extschema@.hold_ledger.event IS 'what happened';
COMMENT ON COLUMN @extschema@.hold_ledger.capacity IS 'capacity after it; NULL: it lives elsewhere';
COMMENT ON COLUMN @extschema@.hold_ledger.expires_at IS 'deadline of the hold, or end of the lease';
COMMENT ON COLUMN @extschema@.hold_ledger.memory_key IS 'by which later questions find it';
COMMENT ON COLUMN @extschema@.hold_ledger.remaining IS 'what the token still held after it';
COMMENT ON COLUMN @extschema@.hold_ledger.taken IS 'what the token had consumed by then and not returned';
COMMENT ON COLUMN @extschema@.hold_ledger.held_since IS 'when the claim was granted';
COMMENT ON COLUMN @extschema@.hold_ledger.version IS 'version of the hold';
COMMENT ON COLUMN @extschema@.hold_ledger.actor IS 'role that acted: that of SET ROLE, or the login';

-- Applications may insert confirmed stays: room_id, reservation_id, stay, ref.
CREATE TABLE @extschema@.room_stays (
	stay_id bigint NOT NULL,
	tenant text COLLATE "C" NOT NULL,
	room_id bigint NOT NULL,
	reservation_id bigint,
	stay daterange NOT NULL,
	ref text,
	token text COLLATE "C",
	expires_at timestamptz,
	token_key bigint,
	held_since timestamptz NOT NULL,
	version integer NOT NULL,
	payload jsonb,
	CONSTRAINT room_stays_pkey PRIMARY KEY (stay_id),
	CONSTRAINT room_stays_finite CHECK (
		NOT pg_catalog.isempty(stay)
		AND pg_catalog.isfinite(pg_catalog.lower(stay))
		AND pg_catalog.isfinite(pg_catalog.upper(stay))),
	CONSTRAINT room_stays_held_or_confirmed CHECK (
		CASE WHEN expires_at IS NULL
			THEN reservation_id IS NOT NULL OR ref IS NOT NULL
			ELSE token IS NOT NULL END),
	CONSTRAINT room_stays_no_overlap
		EXCLUDE USING gist (tenant WITH =, room_id WITH =, stay WITH &&)
) WITH (
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX room_stays_by_token ON @extschema@.room_stays (token_key)
	WHERE token_key IS NOT NULL;
CREATE INDEX room_stays_by_expiry ON @extschema@.room_stays (expires_at)
	WHERE expires_at IS NOT NULL;
COMMENT ON TABLE @extschema@.room_stays IS
	'stays in rooms, held and confirmed; no two of a room share a night';
COMMENT ON COLUMN @extschema@.room_stays.stay_id IS 'never changes; given by the extension';
COMMENT ON COLUMN @extschema@.room_stays.tenant IS 'whose room it is';
COMMENT ON COLUMN @extschema@.room_stays.room_id IS 'the application''s number of the room';
COMMENT ON COLUMN @extschema@.room_stays.reservation_id IS 'what the stay is confirmed for';
COMMENT ON COLUMN @extschema@.room_stays.stay IS 'the nights, half-open: from the first to the day of departure';
COMMENT ON COLUMN @extschema@.room_stays.ref IS 'what the stay is confirmed for, as text';
COMMENT ON COLUMN @extschema@.room_stays.token IS 'by which it was held; NULL: inserted by an application';
COMMENT ON COLUMN @extschema@.room_stays.expires_at IS 'until when it is held; NULL: confirmed';
COMMENT ON COLUMN @extschema@.room_stays.token_key IS 'hash of tenant and token';
COMMENT ON COLUMN @extschema@.room_stays.held_since IS 'when it was granted, or inserted';
COMMENT ON COLUMN @extschema@.room_stays.version IS 'starts at 1, grows with each renewal and move';
COMMENT ON COLUMN @extschema@.room_stays.payload IS 'whatever the caller wants kept';

-- The ledger cannot be changed, and history cannot lose its pool.
CREATE FUNCTION @extschema@.hold_refuse_change() RETURNS trigger
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_refuse_change() IS
	'trigger: refuses to change what only the extension''s functions may';

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE
	ON @extschema@.hold_ledger
	FOR EACH STATEMENT EXECUTE FUNCTION @extschema@.hold_refuse_change();
ALTER TABLE @extschema@.hold_ledger ENABLE ALWAYS TRIGGER append_only;
CREATE TRIGGER keep_pools BEFORE DELETE OR TRUNCATE
	ON @extschema@.hold_pools
	FOR EACH STATEMENT EXECUTE FUNCTION @extschema@.hold_refuse_change();
ALTER TABLE @extschema@.hold_pools ENABLE ALWAYS TRIGGER keep_pools;

CREATE FUNCTION @extschema@.hold_insert_stay() RETURNS trigger
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_insert_stay() IS
	'trigger: locks the room, makes way and writes the ledger for a stay that an application inserts';
CREATE TRIGGER insert_stay BEFORE INSERT ON @extschema@.room_stays
	FOR EACH ROW EXECUTE FUNCTION @extschema@.hold_insert_stay();
ALTER TABLE @extschema@.room_stays ENABLE ALWAYS TRIGGER insert_stay;
CREATE TRIGGER by_functions_only BEFORE UPDATE OR DELETE OR TRUNCATE
	ON @extschema@.room_stays
	FOR EACH STATEMENT EXECUTE FUNCTION @extschema@.hold_refuse_change();
ALTER TABLE @extschema@.room_stays ENABLE ALWAYS TRIGGER by_functions_only;

SELECT pg_catalog.pg_extension_config_dump('@extschema@.hold_ids', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.hold_pools', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.hold_classes', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.holds', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.hold_ledger', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.room_stays', '');

--
-- What the views ask
--

CREATE FUNCTION @extschema@.hold_clock() RETURNS timestamptz
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.hold_clock() IS
	'the clock by which holds expire: the server''s, moved by hold_ledger.clock_offset';

CREATE FUNCTION @extschema@.hold_tenant() RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.hold_tenant() IS
	'the tenant whose pools, holds and stays this session sees';

CREATE FUNCTION @extschema@.hold_units(units bigint) RETURNS numeric
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.hold_units(bigint) IS
	'a quantity from the millionths that the tables keep, without trailing zeros';

CREATE FUNCTION @extschema@.hold_token_key(tenant text, token text) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.hold_token_key(text, text) IS
	'the key under which the tables find a tenant''s token';

CREATE FUNCTION @extschema@.hold_see_tokens() RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN true;
COMMENT ON FUNCTION @extschema@.hold_see_tokens() IS
	'who may execute this sees tokens in the views; granted to operators';

CREATE FUNCTION @extschema@.hold_actor() RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.hold_actor() IS
	'who acts, as the ledger notes it: the role of SET ROLE, or the login';

--
-- Making lines
--

CREATE FUNCTION @extschema@.hold_line(pool text, qty numeric DEFAULT 1,
	budget numeric DEFAULT NULL)
RETURNS @extschema@.hold_line
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.hold_line(text, numeric, numeric) IS
	'makes one line of a request';

CREATE FUNCTION @extschema@.hold_lines(pools text[], qtys numeric[] DEFAULT NULL,
	budgets numeric[] DEFAULT NULL)
RETURNS @extschema@.hold_line[]
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.hold_lines(text[], numeric[], numeric[]) IS
	'makes the lines of a request from plain arrays; 1 each without quantities';

CREATE FUNCTION @extschema@.hold_nights(prefix text, stay daterange,
	qty numeric DEFAULT 1, budgets numeric[] DEFAULT NULL)
RETURNS @extschema@.hold_line[]
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.hold_nights(text, daterange, numeric, numeric[]) IS
	'makes one line a night of a stay, for pools named prefix:YYYY-MM-DD';

--
-- Capacity
--

CREATE FUNCTION @extschema@.hold_pool_set(pool text, capacity numeric,
	expires_at timestamptz DEFAULT NULL, stripes integer DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_pool_set(text, numeric, timestamptz, integer) IS
	'makes a pool or changes its capacity; returns its pool_id';

CREATE FUNCTION @extschema@.hold_pool_add(pool text, delta numeric,
	ref text DEFAULT NULL)
RETURNS numeric
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_pool_add(text, numeric, text) IS
	'changes the capacity by delta, once for each ref; returns the new capacity';

CREATE FUNCTION @extschema@.hold_pool_close(pool text) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_pool_close(text) IS
	'refuses new holds and renewals from now on; true if that changed anything';

CREATE FUNCTION @extschema@.hold_pool_open(pool text) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_pool_open(text) IS
	'takes holds again; true if that changed anything';

CREATE FUNCTION @extschema@.hold_pool_renew(pool text, capacity numeric,
	expires_at timestamptz)
RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_pool_renew(text, numeric, timestamptz) IS
	'lets a successor lease begin, with nothing held or consumed; returns its generation';

CREATE FUNCTION @extschema@.hold_pool_drop(pool text) RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_pool_drop(text) IS
	'retires a pool without live holds; its ledger stays';

CREATE FUNCTION @extschema@.hold_class_set(prefix text, capacity numeric DEFAULT NULL,
	ttl interval DEFAULT NULL, stripes integer DEFAULT NULL,
	capacity_from regprocedure DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_class_set(text, numeric, interval, integer, regprocedure) IS
	'lets the first hold of a pool named prefix:… make it, with these values';

--
-- Holding and settling
--

CREATE FUNCTION @extschema@.hold_try(token text, pool text, qty numeric DEFAULT 1,
	ttl interval DEFAULT NULL, budget numeric DEFAULT NULL,
	payload jsonb DEFAULT NULL)
RETURNS @extschema@.hold_grant
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_try(text, text, numeric, interval, numeric, jsonb) IS
	'holds qty of a pool for a token until ttl has passed; the same token again renews or changes';

CREATE FUNCTION @extschema@.hold_try_lines(token text, lines @extschema@.hold_line[],
	ttl interval DEFAULT NULL, replace boolean DEFAULT false,
	payload jsonb DEFAULT NULL)
RETURNS SETOF @extschema@.hold_grant
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 10;
COMMENT ON FUNCTION @extschema@.hold_try_lines(text, @extschema@.hold_line[], interval, boolean, jsonb) IS
	'holds many lines, all or none; one row a line';

CREATE FUNCTION @extschema@.hold_try_batch(requests @extschema@.hold_request[])
RETURNS SETOF @extschema@.hold_grant
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 100;
COMMENT ON FUNCTION @extschema@.hold_try_batch(@extschema@.hold_request[]) IS
	'many independent requests, judged in request order; one row a request';

CREATE FUNCTION @extschema@.hold_renew(token text, ttl interval DEFAULT NULL)
RETURNS SETOF @extschema@.hold_grant
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 10;
COMMENT ON FUNCTION @extschema@.hold_renew(text, interval) IS
	'extends every live hold of a token, or none; one row a hold';

CREATE FUNCTION @extschema@.hold_consume(token text, pool text DEFAULT NULL,
	qty numeric DEFAULT NULL, final boolean DEFAULT true, ref text DEFAULT NULL,
	late boolean DEFAULT false, reservation_id bigint DEFAULT NULL)
RETURNS SETOF @extschema@.hold_settlement
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 10;
COMMENT ON FUNCTION @extschema@.hold_consume(text, text, numeric, boolean, text, boolean, bigint) IS
	'confirms what a token holds, exactly once, in full or in part; one row a hold';

CREATE FUNCTION @extschema@.hold_consume_batch(tokens text[],
	qtys numeric[] DEFAULT NULL, refs text[] DEFAULT NULL)
RETURNS SETOF @extschema@.hold_settlement
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 100;
COMMENT ON FUNCTION @extschema@.hold_consume_batch(text[], numeric[], text[]) IS
	'confirms what many tokens hold, in request order; one row a hold';

CREATE FUNCTION @extschema@.hold_release(token text, pool text DEFAULT NULL)
RETURNS SETOF @extschema@.hold_settlement
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 10;
COMMENT ON FUNCTION @extschema@.hold_release(text, text) IS
	'gives back what a token holds; one row a hold';

CREATE FUNCTION @extschema@.hold_return(token text, pool text DEFAULT NULL,
	qty numeric DEFAULT NULL, ref text DEFAULT NULL)
RETURNS SETOF @extschema@.hold_settlement
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 10;
COMMENT ON FUNCTION @extschema@.hold_return(text, text, numeric, text) IS
	'puts back what a token consumed, for a cancelled booking; one row a pool';

--
-- Stays
--

CREATE FUNCTION @extschema@.hold_try_stay(token text, room_id bigint,
	stay daterange, ttl interval DEFAULT NULL, payload jsonb DEFAULT NULL)
RETURNS SETOF @extschema@.hold_stay_grant
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 1;
COMMENT ON FUNCTION @extschema@.hold_try_stay(text, bigint, daterange, interval, jsonb) IS
	'holds every night of a room for a token, or none; the nights that are taken are named';

CREATE FUNCTION @extschema@.hold_try_stays(token text, room_ids bigint[],
	stay daterange, ttl interval DEFAULT NULL, payload jsonb DEFAULT NULL)
RETURNS SETOF @extschema@.hold_stay_grant
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 10;
COMMENT ON FUNCTION @extschema@.hold_try_stays(text, bigint[], daterange, interval, jsonb) IS
	'the same for several rooms, all or none; one row a room';

CREATE FUNCTION @extschema@.hold_release_stay(token text, room_id bigint,
	nights daterange DEFAULT NULL)
RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_release_stay(text, bigint, daterange) IS
	'gives nights of a room back that the token still holds; returns how many';

CREATE FUNCTION @extschema@.hold_move_stay(stay_id bigint,
	room_id bigint DEFAULT NULL, stay daterange DEFAULT NULL)
RETURNS SETOF @extschema@.hold_stay_grant
AS 'MODULE_PATHNAME' LANGUAGE C ROWS 1;
COMMENT ON FUNCTION @extschema@.hold_move_stay(bigint, bigint, daterange) IS
	'moves a confirmed stay to another room, to other nights, or both';

CREATE FUNCTION @extschema@.hold_cancel_stay(stay_id bigint) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_cancel_stay(bigint) IS
	'gives up a confirmed stay; false if there is none of that id';

--
-- Reading
--

CREATE FUNCTION @extschema@.hold_get(token text,
	OUT kind text, OUT pool text, OUT pool_id bigint, OUT generation integer,
	OUT qty numeric, OUT consumed numeric, OUT state @extschema@.hold_outcome,
	OUT expires_at timestamptz, OUT version integer, OUT payload jsonb,
	OUT ref text, OUT room_id bigint, OUT stay daterange,
	OUT reservation_id bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION @extschema@.hold_get(text) IS
	'what a token holds, and how what it held has ended; one row a pool';

CREATE FUNCTION @extschema@.hold_available(pool text) RETURNS numeric
AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.hold_available(text) IS
	'what the next hold_try could have of a pool; NULL if its capacity lives elsewhere';

CREATE FUNCTION @extschema@.hold_available_many(pools text[],
	OUT pool text, OUT available numeric, OUT held numeric, OUT closed boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE ROWS 100;
COMMENT ON FUNCTION @extschema@.hold_available_many(text[]) IS
	'the same for many pools, one row a pool in order; NULL for an unknown one';

CREATE FUNCTION @extschema@.hold_count(pool text) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.hold_count(text) IS
	'how many live holds a pool has';

--
-- Upkeep
--

CREATE FUNCTION @extschema@.hold_sweep(batch integer DEFAULT 1000) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_sweep(integer) IS
	'expires at most batch holds whose time is over, skipping what is locked; returns how many';

CREATE PROCEDURE @extschema@.hold_sweep_all(batch integer DEFAULT 1000,
	max_batches integer DEFAULT 16)
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.hold_sweep_all(integer, integer) IS
	'sweeps batch after batch and commits after each, until one is not full';

CREATE FUNCTION @extschema@.hold_schedule(cron text DEFAULT '* * * * *')
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C
SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION @extschema@.hold_schedule(text) IS
	'has pg_cron sweep at these times; returns the number of the job';

CREATE FUNCTION @extschema@.hold_unschedule() RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C
SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION @extschema@.hold_unschedule() IS
	'takes the job of hold_schedule away; false if there is none';

CREATE FUNCTION @extschema@.hold_trim(before timestamptz DEFAULT NULL,
	batch integer DEFAULT 10000)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C
SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION @extschema@.hold_trim(timestamptz, integer) IS
	'removes old ledger rows of the tenant, never younger than hold_ledger.retention; returns how many';

CREATE FUNCTION @extschema@.hold_repair() RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C
SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION @extschema@.hold_repair() IS
	'rebuilds counters from holds and writes what it changed into the ledger; returns how many pools';

CREATE FUNCTION @extschema@.hold_require_consumed() RETURNS trigger
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION @extschema@.hold_require_consumed() IS
	'constraint trigger: a row cannot commit unless the token in the named column was consumed in the same transaction';

--
-- Views.  They are security barriers: no function of a caller's query is
-- shown a row of another tenant.
--

CREATE VIEW @extschema@.hold_pool_status WITH (security_barrier) AS
SELECT p.pool,
	p.pool_id,
	@extschema@.hold_units(s.capacity) AS capacity,
	@extschema@.hold_units(s.consumed) AS consumed,
	@extschema@.hold_units(s.held) AS held,
	@extschema@.hold_units(s.expired) AS expired,
	@extschema@.hold_units(CASE
		WHEN s.capacity IS NULL THEN NULL
		WHEN p.closed OR p.lease_end OPERATOR(pg_catalog.<=) c.clock THEN 0
		ELSE GREATEST(0, s.capacity::numeric OPERATOR(pg_catalog.-) s.consumed
			OPERATOR(pg_catalog.-) s.held)::bigint
	END) AS available,
	s.holds,
	s.next_expiry,
	NULLIF(p.lease_end, 'infinity') AS expires_at,
	p.closed,
	p.generation,
	p.stripes::integer AS stripes
FROM @extschema@.hold_pools p
	CROSS JOIN LATERAL (SELECT @extschema@.hold_clock() AS clock) c
	-- the sums over the pool's counter rows
	CROSS JOIN LATERAL (
		SELECT pg_catalog.sum(r.capacity)::bigint AS capacity,
			pg_catalog.sum(r.consumed)::bigint AS consumed,
			pg_catalog.sum(r.held OPERATOR(pg_catalog.-) e.expired)::bigint AS held,
			pg_catalog.sum(e.expired)::bigint AS expired,
			pg_catalog.sum(r.holds OPERATOR(pg_catalog.-) e.holds)::bigint AS holds,
			pg_catalog.min(n.expires_at) AS next_expiry
		FROM @extschema@.hold_pools r
			CROSS JOIN LATERAL (
				SELECT pg_catalog.count(*) AS holds,
					COALESCE(pg_catalog.sum(h.qty) FILTER (
						WHERE h.generation OPERATOR(pg_catalog.=) r.generation), 0)::bigint AS expired
				FROM @extschema@.holds h
				WHERE h.pool_id OPERATOR(pg_catalog.=) r.pool_id
					AND h.expires_at OPERATOR(pg_catalog.<=) c.clock
			) e
			LEFT JOIN LATERAL (
				SELECT h.expires_at
				FROM @extschema@.holds h
				WHERE h.pool_id OPERATOR(pg_catalog.=) r.pool_id
					AND h.expires_at OPERATOR(pg_catalog.>) c.clock
				ORDER BY h.expires_at LIMIT 1
			) n ON true
		WHERE r.tenant OPERATOR(pg_catalog.=) p.tenant
			AND r.pool OPERATOR(pg_catalog.=) p.pool
			AND r.stripe OPERATOR(pg_catalog.>=) 0
	) s
WHERE p.tenant OPERATOR(pg_catalog.=) (SELECT @extschema@.hold_tenant() COLLATE "C")
	AND p.stripe OPERATOR(pg_catalog.=) 0
	AND NOT p.retired;
COMMENT ON VIEW @extschema@.hold_pool_status IS
	'the pools of the current tenant, exact without any sweep; look for a prefix with pool >= ''a:'' AND pool < ''a;''';
COMMENT ON COLUMN @extschema@.hold_pool_status.pool IS 'its name';
COMMENT ON COLUMN @extschema@.hold_pool_status.pool_id IS 'never changes: foreign keys may point to it';
COMMENT ON COLUMN @extschema@.hold_pool_status.capacity IS 'NULL: the capacity lives elsewhere';
COMMENT ON COLUMN @extschema@.hold_pool_status.consumed IS 'confirmed and not returned';
COMMENT ON COLUMN @extschema@.hold_pool_status.held IS 'held by live holds';
COMMENT ON COLUMN @extschema@.hold_pool_status.expired IS 'what expired holds not yet settled still occupy; it counts as free';
COMMENT ON COLUMN @extschema@.hold_pool_status.available IS 'what the next hold_try could have';
COMMENT ON COLUMN @extschema@.hold_pool_status.holds IS 'how many live holds there are';
COMMENT ON COLUMN @extschema@.hold_pool_status.next_expiry IS 'when the first of them expires';
COMMENT ON COLUMN @extschema@.hold_pool_status.expires_at IS 'end of the lease: no new holds from then on';
COMMENT ON COLUMN @extschema@.hold_pool_status.closed IS 'refuses new holds and renewals';
COMMENT ON COLUMN @extschema@.hold_pool_status.generation IS 'grows with each successor lease';
COMMENT ON COLUMN @extschema@.hold_pool_status.stripes IS 'over how many counter rows it was set to be spread; 0: as many as it needs';

-- Operators see tokens, refs and payloads; monitors see that they are there.
CREATE VIEW @extschema@.live_holds WITH (security_barrier) AS
SELECT CASE WHEN s.sees THEN h.token END AS token,
	p.pool,
	@extschema@.hold_units(h.qty) AS qty,
	h.expires_at,
	h.version,
	CASE WHEN s.sees THEN h.payload END AS payload,
	h.held_since
FROM @extschema@.hold_pools p
	JOIN @extschema@.holds h ON h.pool_id OPERATOR(pg_catalog.=) p.pool_id
	CROSS JOIN (SELECT pg_catalog.has_function_privilege(
		'@extschema@.hold_see_tokens()'::pg_catalog.regprocedure::pg_catalog.oid,
		'EXECUTE') AS sees, @extschema@.hold_clock() AS clock) s
WHERE p.tenant OPERATOR(pg_catalog.=) (SELECT @extschema@.hold_tenant() COLLATE "C")
	AND NOT p.retired
	AND h.expires_at OPERATOR(pg_catalog.>) s.clock;
COMMENT ON VIEW @extschema@.live_holds IS
	'the live holds of the current tenant';
COMMENT ON COLUMN @extschema@.live_holds.token IS 'shown to operators only';
COMMENT ON COLUMN @extschema@.live_holds.pool IS 'where';
COMMENT ON COLUMN @extschema@.live_holds.qty IS 'what is still held';
COMMENT ON COLUMN @extschema@.live_holds.expires_at IS 'until when';
COMMENT ON COLUMN @extschema@.live_holds.version IS 'starts at 1, grows with each renewal and change';
COMMENT ON COLUMN @extschema@.live_holds.payload IS 'shown to operators only';
COMMENT ON COLUMN @extschema@.live_holds.held_since IS 'when the claim was granted';

CREATE VIEW @extschema@.hold_entries WITH (security_barrier) AS
SELECT l.at,
	CASE WHEN p.room_id IS NULL THEN p.pool END AS pool,
	CASE WHEN p.room_id IS NULL THEN p.stripe::integer END AS stripe,
	l.seq,
	l.event,
	CASE WHEN s.sees THEN l.token END AS token,
	@extschema@.hold_units(l.qty) AS qty,
	@extschema@.hold_units(l.held) AS held,
	@extschema@.hold_units(l.consumed) AS consumed,
	@extschema@.hold_units(l.capacity) AS capacity,
	l.expires_at,
	CASE WHEN s.sees THEN l.ref END AS ref,
	CASE WHEN s.sees THEN l.payload END AS payload,
	l.room_id,
	l.stay,
	l.reservation_id,
	l.actor
FROM @extschema@.hold_ledger l
	JOIN @extschema@.hold_pools p ON p.pool_id OPERATOR(pg_catalog.=) l.pool_id
	CROSS JOIN (SELECT pg_catalog.has_function_privilege(
		'@extschema@.hold_see_tokens()'::pg_catalog.regprocedure::pg_catalog.oid,
		'EXECUTE') AS sees) s
WHERE p.tenant OPERATOR(pg_catalog.=) (SELECT @extschema@.hold_tenant() COLLATE "C");
COMMENT ON VIEW @extschema@.hold_entries IS
	'the ledger of the current tenant: every change, append-only';
COMMENT ON COLUMN @extschema@.hold_entries.at IS 'when; never runs backwards within a pool';
COMMENT ON COLUMN @extschema@.hold_entries.pool IS 'where; NULL: in a room';
COMMENT ON COLUMN @extschema@.hold_entries.stripe IS 'which counter row of the pool';
COMMENT ON COLUMN @extschema@.hold_entries.seq IS 'number of the entry there, without a gap, in commit order';
COMMENT ON COLUMN @extschema@.hold_entries.event IS 'what happened';
COMMENT ON COLUMN @extschema@.hold_entries.token IS 'shown to operators only';
COMMENT ON COLUMN @extschema@.hold_entries.qty IS
	'granted, renewed, changed: what is held after it; consumed, released, expired, returned: how much; capacity: by how much it changed';
COMMENT ON COLUMN @extschema@.hold_entries.held IS 'held there after it, expired ones included until they are settled';
COMMENT ON COLUMN @extschema@.hold_entries.consumed IS 'consumed there after it';
COMMENT ON COLUMN @extschema@.hold_entries.capacity IS 'capacity after it; NULL: it lives elsewhere';
COMMENT ON COLUMN @extschema@.hold_entries.expires_at IS 'deadline of the hold, or end of the lease';
COMMENT ON COLUMN @extschema@.hold_entries.ref IS 'the caller''s name for the settlement; shown to operators only';
COMMENT ON COLUMN @extschema@.hold_entries.payload IS 'shown to operators only';
COMMENT ON COLUMN @extschema@.hold_entries.room_id IS 'of a stay';
COMMENT ON COLUMN @extschema@.hold_entries.stay IS 'of a stay';
COMMENT ON COLUMN @extschema@.hold_entries.reservation_id IS 'what it was consumed for';
COMMENT ON COLUMN @extschema@.hold_entries.actor IS 'role that acted: that of SET ROLE, or the login';

CREATE VIEW @extschema@.hold_stays WITH (security_barrier) AS
SELECT r.stay_id,
	r.room_id,
	r.stay,
	r.reservation_id,
	r.ref,
	CASE WHEN r.expires_at IS NULL THEN 'confirmed'
		WHEN r.expires_at OPERATOR(pg_catalog.>) s.clock THEN 'held'
		ELSE 'expired' END AS state,
	r.expires_at,
	r.version,
	r.held_since,
	CASE WHEN s.sees THEN r.token END AS token,
	CASE WHEN s.sees THEN r.payload END AS payload
FROM @extschema@.room_stays r
	CROSS JOIN (SELECT pg_catalog.has_function_privilege(
		'@extschema@.hold_see_tokens()'::pg_catalog.regprocedure::pg_catalog.oid,
		'EXECUTE') AS sees, @extschema@.hold_clock() AS clock) s
WHERE r.tenant OPERATOR(pg_catalog.=) (SELECT @extschema@.hold_tenant() COLLATE "C");
COMMENT ON VIEW @extschema@.hold_stays IS
	'the stays of the current tenant, with the stay_id that hold_move_stay and hold_cancel_stay take';
COMMENT ON COLUMN @extschema@.hold_stays.stay_id IS 'never changes';
COMMENT ON COLUMN @extschema@.hold_stays.room_id IS 'the application''s number of the room';
COMMENT ON COLUMN @extschema@.hold_stays.stay IS 'the nights, half-open: from the first to the day of departure';
COMMENT ON COLUMN @extschema@.hold_stays.reservation_id IS 'what the stay is confirmed for';
COMMENT ON COLUMN @extschema@.hold_stays.ref IS 'what the stay is confirmed for, as text';
COMMENT ON COLUMN @extschema@.hold_stays.state IS 'confirmed, held, or expired: then its nights are free';
COMMENT ON COLUMN @extschema@.hold_stays.expires_at IS 'until when it is held';
COMMENT ON COLUMN @extschema@.hold_stays.version IS 'starts at 1, grows with each renewal and move';
COMMENT ON COLUMN @extschema@.hold_stays.held_since IS 'when it was granted, or inserted';
COMMENT ON COLUMN @extschema@.hold_stays.token IS 'shown to operators only';
COMMENT ON COLUMN @extschema@.hold_stays.payload IS 'shown to operators only';

--
-- History.  The index on time makes it cost what was written since.
--

CREATE FUNCTION @extschema@.hold_history(token text, since interval DEFAULT '1 day')
RETURNS SETOF @extschema@.hold_entries
AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.hold_history(text, interval) IS
	'the ledger rows of a token, in order';

CREATE FUNCTION @extschema@.hold_pool_history(pool text, since interval DEFAULT '1 day')
RETURNS SETOF @extschema@.hold_entries
AS 'MODULE_PATHNAME' LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.hold_pool_history(text, interval) IS
	'the ledger rows of a pool, in order; tokens, refs and payloads are shown to operators only';

--
-- Proof
--

CREATE FUNCTION @extschema@.hold_verify(OUT problem text, OUT pool_id bigint,
	OUT pool text, OUT expected text, OUT found text)
RETURNS SETOF record
LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
WITH entry AS (
	SELECT l.pool_id, l.seq, l.event::text AS event, l.at, l.qty, l.held,
		l.consumed, l.capacity, l.expires_at, l.room_id IS NOT NULL AS of_room,
		l.memory_key, p.tenant, l.token, l.remaining, l.taken,
		-- does it touch the balances of the pool's generation at that time?
		l.generation = p.generation - count(*) FILTER (WHERE l.event = 'generation')
			OVER (pool_order ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS counts,
		lag(l.seq) OVER pool_order AS last_seq,
		lag(l.at) OVER pool_order AS last_at,
		lag(l.held) OVER pool_order AS last_held,
		lag(l.consumed) OVER pool_order AS last_consumed,
		lead(l.seq) OVER pool_order IS NULL AS is_newest,
		-- what the token holds after it, and held before
		COALESCE(l.remaining, l.qty) AS token_holds,
		CASE WHEN l.token IS NOT NULL
			THEN lag(COALESCE(l.remaining, l.qty)) OVER token_order END AS token_held,
		lead(l.seq) OVER token_order IS NULL AS is_newest_of_token
	FROM @extschema@.hold_ledger l
		LEFT JOIN @extschema@.hold_pools p ON p.pool_id = l.pool_id
	WHERE l.pool_id IS NOT NULL
	WINDOW pool_order AS (PARTITION BY l.pool_id ORDER BY l.seq),
		token_order AS (PARTITION BY l.pool_id, l.token ORDER BY l.seq)
), replayed AS (
	SELECT e.*,
		CASE WHEN event = 'generation' THEN 0
			WHEN NOT counts THEN last_held
			WHEN event = 'granted' THEN last_held + qty
			WHEN event = 'changed' THEN last_held + qty - token_held
			-- a stay that was not held, which would have an end, is confirmed at once
			WHEN event = 'consumed' AND of_room AND expires_at IS NULL THEN last_held
			WHEN event IN ('consumed', 'released', 'expired') THEN last_held - qty
			WHEN event = 'repaired' THEN held
			ELSE last_held END AS should_hold,
		CASE WHEN event = 'generation' THEN 0
			WHEN NOT counts THEN last_consumed
			WHEN event = 'consumed' THEN last_consumed + qty
			WHEN event = 'returned' THEN last_consumed - qty
			WHEN event = 'repaired' THEN consumed
			ELSE last_consumed END AS should_consume
	FROM entry e
), held AS (
	SELECT h.pool_id, h.generation, sum(h.qty) AS qty, count(*) AS holds,
		0 AS confirmed
	FROM @extschema@.holds h GROUP BY h.pool_id, h.generation
	UNION ALL
	SELECT p.pool_id, p.generation,
		COALESCE(sum(upper(s.stay) - lower(s.stay))
			FILTER (WHERE s.expires_at IS NOT NULL), 0) * 1000000,
		count(*),
		COALESCE(sum(upper(s.stay) - lower(s.stay))
			FILTER (WHERE s.expires_at IS NULL), 0) * 1000000
	FROM @extschema@.room_stays s
		JOIN @extschema@.hold_pools p ON p.tenant = s.tenant AND p.room_id = s.room_id
	GROUP BY p.pool_id, p.generation
), finding AS (
	SELECT 'held is not the sum of the holds' AS problem, p.pool_id,
		COALESCE(h.qty, 0)::text AS expected, p.held::text AS found
	FROM @extschema@.hold_pools p
		LEFT JOIN held h ON h.pool_id = p.pool_id AND h.generation = p.generation
	WHERE p.held <> COALESCE(h.qty, 0)
	UNION ALL
	SELECT 'the number of holds is not what there are', p.pool_id,
		COALESCE(h.holds, 0)::text, p.holds::text
	FROM @extschema@.hold_pools p
		LEFT JOIN (SELECT pool_id, sum(holds) AS holds
			FROM held GROUP BY pool_id) h ON h.pool_id = p.pool_id
	WHERE p.holds <> COALESCE(h.holds, 0)
	UNION ALL
	SELECT 'consumed is not the sum of the confirmed stays', p.pool_id,
		COALESCE(h.confirmed, 0)::text, p.consumed::text
	FROM @extschema@.hold_pools p LEFT JOIN held h ON h.pool_id = p.pool_id
	WHERE p.room_id IS NOT NULL AND p.consumed <> COALESCE(h.confirmed, 0)
	UNION ALL
	SELECT 'a stay is in a room without a row', NULL, s.room_id::text, NULL
	FROM @extschema@.room_stays s
	WHERE NOT EXISTS (SELECT FROM @extschema@.hold_pools p
		WHERE p.tenant = s.tenant AND p.room_id = s.room_id)
	UNION ALL
	SELECT 'the pool''s row is not what its newest entry says', p.pool_id,
		concat_ws(' ', e.seq, e.held, e.consumed, e.capacity, e.at),
		concat_ws(' ', p.seq, p.held, p.consumed, p.capacity, p.last_at)
	FROM @extschema@.hold_pools p
		LEFT JOIN replayed e ON e.pool_id = p.pool_id AND e.is_newest
	WHERE (e.seq, e.held, e.consumed, e.capacity, e.at) IS DISTINCT FROM
		(p.seq, p.held, p.consumed, p.capacity, p.last_at)
	UNION ALL
	SELECT 'the ledger''s numbers have a gap', e.pool_id,
		(e.last_seq + 1)::text, e.seq::text
	FROM replayed e WHERE e.seq <> e.last_seq + 1
	UNION ALL
	SELECT 'the oldest entry of a pool is not the one it should be', p.pool_id,
		p.first_seq::text, min(e.seq)::text
	FROM @extschema@.hold_pools p LEFT JOIN replayed e ON e.pool_id = p.pool_id
	GROUP BY p.pool_id, p.first_seq HAVING min(e.seq) IS DISTINCT FROM p.first_seq
	UNION ALL
	SELECT 'the ledger''s time runs backwards', e.pool_id,
		e.last_at::text, e.at::text
	FROM replayed e WHERE e.at < e.last_at
	UNION ALL
	SELECT 'an entry''s balances do not follow from the one before', e.pool_id,
		concat_ws(' ', e.seq, e.should_hold, e.should_consume),
		concat_ws(' ', e.seq, e.held, e.consumed)
	FROM replayed e
	WHERE e.last_seq IS NOT NULL
		AND (e.held <> e.should_hold OR e.consumed <> e.should_consume)
	UNION ALL
	SELECT 'more was granted than there is', e.pool_id,
		e.capacity::text, (e.held::numeric + e.consumed)::text
	FROM replayed e
	WHERE e.event IN ('granted', 'changed') AND e.counts
		AND e.held > e.last_held AND e.held::numeric + e.consumed > e.capacity
	UNION ALL
	SELECT 'a hold is not what the ledger says', COALESCE(e.pool_id, h.pool_id),
		concat_ws(' ', e.token_holds, e.expires_at),
		concat_ws(' ', h.qty, h.expires_at)
	FROM (SELECT * FROM replayed
			WHERE is_newest_of_token AND token IS NOT NULL AND token_holds > 0
				AND NOT of_room) e
		FULL JOIN @extschema@.holds h
			ON h.pool_id = e.pool_id AND h.token = e.token
	WHERE (e.token_holds, e.expires_at) IS DISTINCT FROM (h.qty, h.expires_at)
	UNION ALL
	SELECT 'a hold cannot be found by its token', h.pool_id,
		@extschema@.hold_token_key(p.tenant, h.token)::text, h.token_key::text
	FROM @extschema@.holds h JOIN @extschema@.hold_pools p ON p.pool_id = h.pool_id
	WHERE h.token_key <> @extschema@.hold_token_key(p.tenant, h.token)
	UNION ALL
	SELECT 'a stay cannot be found by its token', p.pool_id,
		@extschema@.hold_token_key(s.tenant, s.token)::text, s.token_key::text
	FROM @extschema@.room_stays s
		LEFT JOIN @extschema@.hold_pools p ON p.tenant = s.tenant AND p.room_id = s.room_id
	WHERE s.token_key IS DISTINCT FROM @extschema@.hold_token_key(s.tenant, s.token)
	UNION ALL
	SELECT 'an entry cannot be found by its token', e.pool_id,
		@extschema@.hold_token_key(e.tenant, e.token)::text, e.memory_key::text
	FROM replayed e
	WHERE e.event IN ('consumed', 'released', 'expired', 'returned')
		AND e.token IS NOT NULL
		AND e.memory_key IS DISTINCT FROM @extschema@.hold_token_key(e.tenant, e.token)
	UNION ALL
	SELECT 'a hold''s consumed units are not what the ledger says', h.pool_id,
		COALESCE(t.taken, 0)::text, h.consumed::text
	FROM @extschema@.holds h
		LEFT JOIN (SELECT DISTINCT ON (e.pool_id, e.token) e.pool_id, e.token, e.taken
			FROM replayed e WHERE e.taken IS NOT NULL AND e.token IS NOT NULL
			ORDER BY e.pool_id, e.token, e.seq DESC) t
			ON t.pool_id = h.pool_id AND t.token = h.token
	WHERE h.consumed <> COALESCE(t.taken, 0)
	UNION ALL
	SELECT 'a hold is of a generation that its pool never had', h.pool_id,
		p.generation::text, h.generation::text
	FROM @extschema@.holds h JOIN @extschema@.hold_pools p ON p.pool_id = h.pool_id
	WHERE h.generation NOT BETWEEN 1 AND p.generation
	UNION ALL
	SELECT 'the lease does not end when the ledger says', p.pool_id,
		e.expires_at::text, p.lease_end::text
	FROM @extschema@.hold_pools p
		JOIN (SELECT DISTINCT ON (e.pool_id) e.pool_id,
				COALESCE(e.expires_at, 'infinity') AS expires_at
			FROM replayed e WHERE e.token IS NULL AND NOT e.of_room
			ORDER BY e.pool_id, e.seq DESC) e ON e.pool_id = p.pool_id
	WHERE p.lease_end <> e.expires_at
	UNION ALL
	SELECT 'a token has several holds in a pool', min(h.pool_id), '1', count(*)::text
	FROM @extschema@.holds h JOIN @extschema@.hold_pools p ON p.pool_id = h.pool_id
	GROUP BY p.tenant, p.pool, h.token HAVING count(*) > 1
	UNION ALL
	SELECT 'the counter rows of a pool disagree', min(p.pool_id),
		max(p.rows)::text, count(*)::text
	FROM @extschema@.hold_pools p WHERE p.stripe >= 0
	GROUP BY p.tenant, p.pool
	HAVING count(*) <> max(p.rows) OR count(DISTINCT (p.lease_end, p.generation,
		p.class_id, p.stripes, p.homes, p.rows, p.closed, p.retired,
		p.capacity IS NULL)) > 1
	UNION ALL
	SELECT 'a hold expires before the pool''s next expiry', p.pool_id,
		min(h.expires_at)::text, p.next_expiry::text
	FROM @extschema@.hold_pools p
		JOIN @extschema@.holds h ON h.pool_id = p.pool_id
	GROUP BY p.pool_id HAVING min(h.expires_at) < p.next_expiry
	UNION ALL
	SELECT 'the units of expired holds are not what the pool says', p.pool_id,
		COALESCE(sum(h.qty), 0)::text, p.expired::text
	FROM @extschema@.hold_pools p
		LEFT JOIN @extschema@.holds h ON h.pool_id = p.pool_id
			AND h.generation = p.generation AND h.expires_at <= p.expired_to
	GROUP BY p.pool_id HAVING COALESCE(sum(h.qty), 0) <> p.expired
	UNION ALL
	SELECT 'a hold belongs to no pool', h.pool_id, NULL, NULL
	FROM @extschema@.holds h
	WHERE NOT EXISTS (SELECT FROM @extschema@.hold_pools p WHERE p.pool_id = h.pool_id)
	UNION ALL
	SELECT 'an entry belongs to no pool', e.pool_id, NULL, e.seq::text
	FROM replayed e
	WHERE NOT EXISTS (SELECT FROM @extschema@.hold_pools p WHERE p.pool_id = e.pool_id)
)
SELECT f.problem, f.pool_id,
	CASE WHEN p.tenant = @extschema@.hold_tenant() THEN p.pool END,
	f.expected, f.found
FROM finding f LEFT JOIN @extschema@.hold_pools p ON p.pool_id = f.pool_id
ORDER BY f.pool_id, f.problem;
END;
COMMENT ON FUNCTION @extschema@.hold_verify() IS
	'a row for each disagreement between counters, holds and ledger, in millionths, of all tenants; none when all is well';

--
-- Monitoring
--

CREATE FUNCTION @extschema@.hold_stats(OUT scope text, OUT since timestamptz,
	OUT granted bigint, OUT renewed bigint, OUT changed bigint,
	OUT refused bigint, OUT already_consumed bigint, OUT closed bigint,
	OUT pool_expired bigint, OUT insufficient bigint, OUT stay_taken bigint,
	OUT blocked bigint, OUT consumed bigint, OUT released bigint,
	OUT expired bigint, OUT returned bigint, OUT evicted bigint,
	OUT sweep_lag interval)
AS 'MODULE_PATHNAME' LANGUAGE C
SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION @extschema@.hold_stats() IS
	'how often what has happened in this database, in all sessions if the library is preloaded, else in this one';

CREATE FUNCTION @extschema@.hold_hoarding(since interval DEFAULT '1 day',
	separator text DEFAULT ':',
	OUT pool text, OUT token_prefix text, OUT holds bigint,
	OUT unconsumed bigint, OUT unit_hours numeric,
	OUT unconsumed_unit_hours numeric)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE ROWS 100
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION @extschema@.hold_hoarding(interval, text) IS
	'how much was held for how long and not consumed, for each pool and token prefix; prefixes are shown to operators only';

-- Which level may use what.  Operators have all that the others have.
CREATE FUNCTION @extschema@.hold_grant_access(role regrole, level text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	verbs CONSTANT text[] := ARRAY['hold_try', 'hold_try_lines', 'hold_try_batch',
		'hold_renew', 'hold_consume', 'hold_consume_batch', 'hold_release', 'hold_return', 'hold_try_stay',
		'hold_try_stays', 'hold_release_stay', 'hold_move_stay',
		'hold_cancel_stay', 'hold_get', 'hold_history',
		'hold_pool_history', 'hold_require_consumed', 'hold_available', 'hold_available_many',
		'hold_count'];
	watching CONSTANT text[] := ARRAY['hold_available',
		'hold_available_many', 'hold_count', 'hold_verify', 'hold_stats',
		'hold_hoarding'];
	upkeep CONSTANT text[] := ARRAY['hold_pool_set', 'hold_pool_add',
		'hold_pool_close', 'hold_pool_open', 'hold_pool_renew',
		'hold_pool_drop', 'hold_class_set', 'hold_sweep', 'hold_sweep_all',
		'hold_schedule', 'hold_unschedule', 'hold_trim', 'hold_repair',
		'hold_see_tokens'];
	granted text[];
	routine regprocedure;
	home regnamespace;
BEGIN
	IF hold_grant_access.role IS NULL OR hold_grant_access.level IS NULL THEN
		RAISE EXCEPTION 'role and level must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_roles r
		WHERE r.oid = hold_grant_access.role::oid)
	THEN
		RAISE EXCEPTION 'role % does not exist', hold_grant_access.role::oid
			USING ERRCODE = 'undefined_object';
	END IF;
	granted := CASE hold_grant_access.level
		WHEN 'app' THEN verbs
		WHEN 'monitor' THEN watching
		WHEN 'operator' THEN verbs || watching || upkeep
	END;
	IF granted IS NULL THEN
		RAISE EXCEPTION 'level "%" does not exist', hold_grant_access.level
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = 'Levels are app, monitor and operator.';
	END IF;
	SELECT e.extnamespace INTO STRICT home
	FROM pg_extension e WHERE e.extname = 'hold_ledger';
	EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', home,
		hold_grant_access.role);
	FOR routine IN
		SELECT p.oid FROM pg_proc p
		WHERE p.pronamespace = home AND p.proname = ANY (granted)
	LOOP
		EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', routine,
			hold_grant_access.role);
	END LOOP;
	EXECUTE format('GRANT SELECT ON %s.hold_stays TO %s', home,
		hold_grant_access.role);
	IF hold_grant_access.level <> 'monitor' THEN
		EXECUTE format('GRANT INSERT (room_id, reservation_id, stay, ref) '
			'ON %s.room_stays TO %s', home, hold_grant_access.role);
	END IF;
	IF hold_grant_access.level <> 'app' THEN
		EXECUTE format('GRANT SELECT ON %1$s.hold_pool_status, %1$s.live_holds, '
			'%1$s.hold_entries TO %2$s', home, hold_grant_access.role);
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.hold_grant_access(regrole, text) IS
	'gives a role what it needs: level app, monitor or operator';

--
-- Privileges: nothing that writes, and no token, for PUBLIC
--

DO $$
DECLARE
	routine pg_catalog.regprocedure;
BEGIN
	FOR routine IN
		SELECT p.oid
		FROM pg_catalog.pg_proc p
			JOIN pg_catalog.pg_depend d ON d.objid OPERATOR(pg_catalog.=) p.oid
			JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
		WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
			AND d.deptype OPERATOR(pg_catalog.=) 'e'
			AND e.extname OPERATOR(pg_catalog.=) 'hold_ledger'
			AND p.proname OPERATOR(pg_catalog.<>) ALL (ARRAY['hold_clock',
				'hold_tenant', 'hold_actor', 'hold_units', 'hold_line',
				'hold_lines', 'hold_nights']::pg_catalog.name[])
	LOOP
		EXECUTE pg_catalog.format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', routine);
	END LOOP;
END
$$;
