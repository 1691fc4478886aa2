-- What shards and proxies agree on: where a key belongs, and how each function of the
-- extension finds its shard.  PL/Proxy hands on types by their full name, so the extension
-- is in a schema of the same name in all databases.

CREATE SCHEMA ledger;
GRANT USAGE ON SCHEMA ledger TO PUBLIC;
CREATE EXTENSION hold_ledger SCHEMA ledger CASCADE;
ALTER DATABASE :"DBNAME" SET search_path = "$user", public, ledger;
SET search_path = public, ledger;

CREATE SCHEMA sharding;
GRANT USAGE ON SCHEMA sharding TO PUBLIC;

-- What stands in the first braces is the shard key, without braces the whole name.
CREATE FUNCTION sharding.key(name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT COALESCE(substring(name FROM '^[^{]*\{([^}]+)\}'), name)
$$;

-- The shard key of a room.  Replace it, on shards and proxies alike, before there is a
-- room: rooms of one key can be held in one call.
CREATE FUNCTION sharding.room_key(room_id bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT 'room-' || room_id
$$;

-- A key belongs to one of 1024 slots, for ever, and a slot to one shard at a time.
CREATE FUNCTION sharding.slot(key text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT hashtext(key) & 1023
$$;

-- The slot of a request that names all these.  Names of NULL name nothing.
CREATE FUNCTION sharding.slot_of(name text, VARIADIC others text[] DEFAULT '{}') RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
	other text;
BEGIN
	FOREACH other IN ARRAY others LOOP
		IF sharding.key(other) <> sharding.key(name) THEN
			RAISE EXCEPTION 'request spans shards: "%" and "%" have different shard keys',
				name, other
				USING ERRCODE = 'feature_not_supported',
					HINT = 'The shard key is what stands in braces, else the whole name.';
		END IF;
	END LOOP;
	RETURN COALESCE(sharding.slot(sharding.key(name)), 0);
END $$;

-- How a function finds its shard:
--	key	all that it names has one key; keys are the expressions that tell
--	all	all shards are asked; merge makes one number or truth of theirs
--	own	written by hand in proxy.sql
--	here	it needs no data
--	shard	of use on a shard alone
CREATE TABLE sharding.routes (
	name text PRIMARY KEY,
	route text NOT NULL CHECK (route IN ('key', 'all', 'own', 'here', 'shard')),
	keys text,
	merge text
);
INSERT INTO sharding.routes (name, route, keys) VALUES
	('hold_try', 'key', 'token, pool'),
	('hold_try_lines', 'key', 'token, VARIADIC ARRAY(SELECT l.pool FROM unnest(lines) l)'),
	('hold_renew', 'key', 'token'),
	('hold_consume', 'key', 'token, pool'),
	('hold_release', 'key', 'token, pool'),
	('hold_return', 'key', 'token, pool'),
	('hold_try_stay', 'key', 'token, sharding.room_key(room_id)'),
	('hold_try_stays', 'key',
		'token, VARIADIC ARRAY(SELECT sharding.room_key(r) FROM unnest(room_ids) r)'),
	('hold_release_stay', 'key', 'token, sharding.room_key(room_id)'),
	('hold_get', 'key', 'token'),
	('hold_history', 'key', 'token'),
	('hold_pool_set', 'key', 'pool'),
	('hold_pool_add', 'key', 'pool'),
	('hold_pool_close', 'key', 'pool'),
	('hold_pool_open', 'key', 'pool'),
	('hold_pool_renew', 'key', 'pool'),
	('hold_pool_drop', 'key', 'pool'),
	('hold_pool_history', 'key', 'pool'),
	('hold_available', 'key', 'pool'),
	('hold_count', 'key', 'pool');
INSERT INTO sharding.routes (name, route, merge) VALUES
	('hold_class_set', 'all', NULL),
	('hold_grant_access', 'all', NULL),
	('hold_verify', 'all', NULL),
	('hold_hoarding', 'all', NULL),
	('hold_sweep', 'all', 'sum'),
	('hold_trim', 'all', 'sum'),
	('hold_repair', 'all', 'sum'),
	('hold_cancel_stay', 'all', 'bool_or'),
	('hold_try_batch', 'own', NULL),
	('hold_consume_batch', 'own', NULL),
	('hold_available_many', 'own', NULL),
	('hold_move_stay', 'own', NULL),
	('hold_stats', 'own', NULL),
	('hold_sweep_all', 'own', NULL),
	('hold_line', 'here', NULL),
	('hold_lines', 'here', NULL),
	('hold_nights', 'here', NULL),
	('hold_clock', 'here', NULL),
	('hold_tenant', 'here', NULL),
	('hold_actor', 'here', NULL),
	('hold_units', 'here', NULL),
	('hold_token_key', 'here', NULL),
	('hold_see_tokens', 'here', NULL),
	('hold_schedule', 'shard', NULL),
	('hold_unschedule', 'shard', NULL),
	('hold_require_consumed', 'shard', NULL),
	('hold_insert_stay', 'shard', NULL),
	('hold_refuse_change', 'shard', NULL);

-- The extension's functions, with what is needed to write others like them.
CREATE VIEW sharding.functions AS
SELECT p.proname::text AS name,
	p.oid::regprocedure AS function,
	pg_get_function_arguments(p.oid) AS arguments,
	pg_get_function_result(p.oid) AS result,
	p.proretset AS many,
	p.prokind AS kind,
	CASE p.provolatile WHEN 'v' THEN 'VOLATILE' ELSE 'STABLE' END AS volatility,
	p.pronargs AS inputs,
	r.route,
	r.keys,
	r.merge
FROM pg_extension e
	JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
	JOIN pg_proc p ON p.oid = d.objid
	LEFT JOIN sharding.routes r ON r.name = p.proname
WHERE e.extname = 'hold_ledger';

-- The extension's views.
CREATE VIEW sharding.views AS
SELECT c.relname::text AS name
FROM pg_extension e
	JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		AND d.classid = 'pg_class'::regclass AND d.deptype = 'e'
	JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'v'
WHERE e.extname = 'hold_ledger';

-- '$3, $4' for (3, 2)
CREATE FUNCTION sharding.parameters(first integer, count integer) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
	SELECT COALESCE(string_agg('$' || n, ', ' ORDER BY n), '')
	FROM generate_series(first, first + count - 1) n
$$;

-- An extension that has grown is not served by half.
CREATE FUNCTION sharding.check_routes() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	missing text := (SELECT string_agg(f.function::text, ', ' ORDER BY f.name)
		FROM sharding.functions f WHERE f.route IS NULL);
BEGIN
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION 'no route for %', missing
			USING HINT = 'Add it to the table sharding.routes.';
	END IF;
END $$;
