-- A proxy, after both.sql.  The extension is there, behind public in the search path, for
-- its types, its settings, what needs no data (hold_lines, hold_tenant), and as the list
-- from which the functions here are written; its tables stay empty.  Each front, such as
-- public.hold_try(...), finds the slot and calls its link, the PL/Proxy function
-- sharding.hold_try(slot, tenant, ...).

CREATE EXTENSION plproxy SCHEMA sharding;

-- PL/Proxy tells with a NOTICE that it connects anew, which it does after each error.
ALTER DATABASE :"DBNAME" SET client_min_messages = warning;

-- The map: all proxies have the same.  connect is a libpq connection string without a user:
-- a shard meets each caller under the role that called.
CREATE TABLE sharding.shards (
	shard integer PRIMARY KEY CHECK (shard BETWEEN 0 AND 999),
	connect text NOT NULL
);
CREATE TABLE sharding.slots (
	slot integer PRIMARY KEY CHECK (slot BETWEEN 0 AND 1023),
	shard integer NOT NULL REFERENCES sharding.shards
);
CREATE TABLE sharding.map (
	version integer NOT NULL
);
INSERT INTO sharding.map VALUES (1);

-- PL/Proxy reads the map anew when its version has grown.
CREATE FUNCTION sharding.grow_version() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	UPDATE sharding.map SET version = version + 1;
	RETURN NULL;
END $$;
CREATE TRIGGER grow_version AFTER INSERT OR UPDATE OR DELETE ON sharding.shards
	FOR EACH STATEMENT EXECUTE FUNCTION sharding.grow_version();
CREATE TRIGGER grow_version AFTER INSERT OR UPDATE OR DELETE ON sharding.slots
	FOR EACH STATEMENT EXECUTE FUNCTION sharding.grow_version();

-- What PL/Proxy asks.
CREATE SCHEMA plproxy;
GRANT USAGE ON SCHEMA plproxy TO PUBLIC;
CREATE FUNCTION plproxy.get_cluster_version(cluster_name text) RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT version FROM sharding.map
$$;
CREATE FUNCTION plproxy.get_cluster_partitions(cluster_name text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT connect FROM sharding.slots JOIN sharding.shards USING (shard) ORDER BY slot
$$;
CREATE FUNCTION plproxy.get_cluster_config(cluster_name text, OUT key text, OUT val text)
RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT 'connection_lifetime', '3600'
$$;

-- These slots are on that shard.
CREATE FUNCTION sharding.assign(slots integer[], shard integer) RETURNS void
LANGUAGE sql AS $$
	INSERT INTO sharding.slots SELECT slot, shard FROM unnest(slots) slot
	ON CONFLICT (slot) DO UPDATE SET shard = EXCLUDED.shard
$$;

-- Writes the PL/Proxy function sharding.NAME(slot, tenant, ...), or without a slot the one
-- that asks all shards.
CREATE FUNCTION sharding.write_link(name text, arguments text, result text, inputs integer,
	everywhere boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE FUNCTION sharding.%1$I(%2$s) RETURNS %3$s
LANGUAGE plproxy AS $body$
	CLUSTER ''shards'';
	RUN ON %4$s;
	SELECT %5$s FROM sharding.%1$I(%6$s);
$body$',
		name,
		concat_ws(', ', CASE WHEN NOT everywhere THEN 'slot integer' END, 'tenant text',
			NULLIF(arguments, '')),
		CASE WHEN NOT everywhere THEN result
			WHEN result = 'void' THEN 'SETOF integer'
			ELSE 'SETOF ' || replace(result, 'SETOF ', '') END,
		CASE WHEN everywhere THEN 'ALL' ELSE 'slot' END,
		CASE WHEN everywhere AND result = 'void' THEN '1' ELSE '*' END,
		CASE WHEN everywhere THEN 'ARRAY[]::integer[], ' || sharding.parameters(1, inputs + 1)
			ELSE 'ARRAY[$1::integer], ' || sharding.parameters(2, inputs + 1) END);
END $$;

-- Writes public.NAME(...), just like the extension's.
CREATE FUNCTION sharding.write_front(f sharding.functions, body text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE FUNCTION public.%I(%s) RETURNS %s
LANGUAGE plpgsql %s AS $body$
#variable_conflict use_variable
BEGIN
	%s;
END $body$', f.name, f.arguments, f.result, f.volatility, body);
END $$;

-- The body of a front that asks the one shard, or all.
CREATE FUNCTION sharding.body(f sharding.functions) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	link text := format('sharding.%I(%s)', f.name, concat_ws(', ',
		CASE f.route WHEN 'key' THEN format('sharding.slot_of(%s)', f.keys) END,
		'ledger.hold_tenant()', NULLIF(sharding.parameters(1, f.inputs), '')));
BEGIN
	RETURN CASE
		WHEN f.route = 'shard' THEN format('RAISE EXCEPTION ''%s works on a shard alone'' USING '
			'ERRCODE = ''feature_not_supported'', HINT = ''Call it on each shard.''', f.name)
		WHEN f.merge IS NOT NULL THEN format('RETURN (SELECT %s(x) FROM %s x)', f.merge, link)
		WHEN f.result = 'void' THEN 'PERFORM ' || link
		WHEN f.many THEN 'RETURN QUERY SELECT * FROM ' || link
		ELSE 'RETURN ' || link END;
END $$;

-- Writes all there is; again after an update of the extension.
CREATE FUNCTION sharding.make_proxy() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
	f sharding.functions;
	v sharding.views;
BEGIN
	PERFORM sharding.check_routes();
	FOR f IN SELECT * FROM sharding.functions
		WHERE route <> 'here' AND kind = 'f' AND result <> 'trigger'
	LOOP
		IF f.route <> 'shard' THEN
			PERFORM sharding.write_link(f.name, f.arguments, f.result, f.inputs,
				f.route = 'all' OR f.name = 'hold_stats');
		END IF;
		IF f.route <> 'own' THEN
			PERFORM sharding.write_front(f, sharding.body(f));
		END IF;
	END LOOP;
	FOR v IN SELECT * FROM sharding.views LOOP
		PERFORM sharding.write_link(v.name, '', format('ledger.%I', v.name), 0, true);
		EXECUTE format('CREATE OR REPLACE VIEW public.%1$I AS '
			'SELECT * FROM sharding.%1$I(ledger.hold_tenant())', v.name);
		EXECUTE format('GRANT SELECT ON public.%I TO PUBLIC', v.name);
	END LOOP;
	PERFORM sharding.write_link('room_of_stay', 'stay_id bigint', 'bigint', 1, true);
END $$;
SELECT sharding.make_proxy();

--
-- By hand: what is split over shards or put together from them.
--

-- Requests of one slot are one batch, with all that the extension promises of it; so is
-- what the extension will refuse.  Others are a batch on each of their shards.
CREATE FUNCTION public.hold_try_batch(requests hold_request[]) RETURNS SETOF hold_grant
LANGUAGE plpgsql AS $$
DECLARE
	slots integer[] := ARRAY(SELECT sharding.slot_of(r.token, r.pool)
		FROM unnest(requests) WITH ORDINALITY r (token, pool, qty, ttl, budget, payload, place)
		ORDER BY r.place);
BEGIN
	IF sharding.is_one(slots) THEN
		RETURN QUERY SELECT * FROM sharding.hold_try_batch(COALESCE(slots[1], 0), hold_tenant(),
			requests);
	ELSE
		RETURN QUERY SELECT * FROM sharding.split_try_batch(slots, sharding.places(slots),
			hold_tenant(), requests) g ORDER BY g.line;
	END IF;
END $$;

CREATE FUNCTION sharding.is_one(slots integer[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
	SELECT count(DISTINCT slot) < 2 FROM unnest(slots) slot
$$;

CREATE FUNCTION sharding.places(slots integer[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE AS $$
	SELECT array_agg(place) FROM generate_series(1, cardinality(slots)) place
$$;

-- A shard numbers the rows of its own part; places tells the numbers in the whole.
CREATE FUNCTION sharding.split_try_batch(slots integer[], places integer[], tenant text,
	requests hold_request[]) RETURNS SETOF hold_grant
LANGUAGE plproxy AS $$
	CLUSTER 'shards';
	SPLIT slots, places, requests;
	RUN ON slots;
	SELECT g.granted, g.outcome, ($2::integer[])[g.line] AS line, g.pool, g.qty, g.available,
		g.expires_at, g.version, g.retry_at
	FROM sharding.hold_try_batch(slots, tenant, requests) g;
$$;

CREATE FUNCTION public.hold_consume_batch(tokens text[], qtys numeric[] DEFAULT NULL,
	refs text[] DEFAULT NULL) RETURNS SETOF hold_settlement
LANGUAGE plpgsql AS $$
DECLARE
	slots integer[] := ARRAY(SELECT sharding.slot_of(t.token)
		FROM unnest(tokens) WITH ORDINALITY t (token, place) ORDER BY t.place);
	length integer := cardinality(tokens);
BEGIN
	IF sharding.is_one(slots) OR cardinality(qtys) <> length OR cardinality(refs) <> length THEN
		RETURN QUERY SELECT * FROM sharding.hold_consume_batch(COALESCE(slots[1], 0),
			hold_tenant(), tokens, qtys, refs);
	ELSE
		RETURN QUERY SELECT (n.s).* FROM (
			SELECT s, row_number() OVER () AS place
			FROM sharding.split_consume_batch(slots, sharding.places(slots), hold_tenant(), tokens,
				COALESCE(qtys, array_fill(NULL::numeric, ARRAY[length])),
				COALESCE(refs, array_fill(NULL::text, ARRAY[length]))) s) n
		ORDER BY (n.s).line, n.place;
	END IF;
END $$;

CREATE FUNCTION sharding.split_consume_batch(slots integer[], places integer[], tenant text,
	tokens text[], qtys numeric[], refs text[]) RETURNS SETOF hold_settlement
LANGUAGE plproxy AS $$
	CLUSTER 'shards';
	SPLIT slots, places, tokens, qtys, refs;
	RUN ON slots;
	SELECT s.outcome, ($2::integer[])[s.line] AS line, s.pool, s.qty, s.consumed, s.refunded,
		s.held, s.at, s.payload, s.room_id, s.stay, s.reservation_id
	FROM sharding.hold_consume_batch(slots, tenant, tokens, qtys, refs) s;
$$;

CREATE FUNCTION public.hold_available_many(pools text[], OUT pool text, OUT available numeric,
	OUT held numeric, OUT closed boolean) RETURNS SETOF record
LANGUAGE plpgsql STABLE AS $$
DECLARE
	slots integer[] := ARRAY(SELECT sharding.slot_of(p.pool)
		FROM unnest(pools) WITH ORDINALITY p (pool, place) ORDER BY p.place);
BEGIN
	IF sharding.is_one(slots) THEN
		RETURN QUERY SELECT * FROM sharding.hold_available_many(COALESCE(slots[1], 0),
			hold_tenant(), pools);
	ELSE
		RETURN QUERY SELECT s.pool, s.available, s.held, s.closed
		FROM sharding.split_available_many(slots, sharding.places(slots), hold_tenant(), pools) s
		ORDER BY s.place;
	END IF;
END $$;

CREATE FUNCTION sharding.split_available_many(slots integer[], places integer[], tenant text,
	pools text[], OUT place integer, OUT pool text, OUT available numeric, OUT held numeric,
	OUT closed boolean) RETURNS SETOF record
LANGUAGE plproxy AS $$
	CLUSTER 'shards';
	SPLIT slots, places, pools;
	RUN ON slots;
	SELECT ($2::integer[])[m.ordinality] AS place, m.pool, m.available, m.held, m.closed
	FROM sharding.hold_available_many(slots, tenant, pools) WITH ORDINALITY m;
$$;

-- A stay is looked for on all shards, and moves among rooms of one key.
CREATE FUNCTION public.hold_move_stay(stay_id bigint, room_id bigint DEFAULT NULL,
	stay daterange DEFAULT NULL) RETURNS SETOF hold_stay_grant
LANGUAGE plpgsql AS $$
DECLARE
	home bigint := (SELECT r FROM sharding.room_of_stay(hold_tenant(), $1) r);
BEGIN
	RETURN QUERY SELECT * FROM sharding.hold_move_stay(
		sharding.slot_of(sharding.room_key(COALESCE(home, $2)), sharding.room_key($2)),
		hold_tenant(), $1, $2, $3);
END $$;

CREATE FUNCTION public.hold_stats(OUT scope text, OUT since timestamptz, OUT granted bigint,
	OUT renewed bigint, OUT changed bigint, OUT refused bigint, OUT already_consumed bigint,
	OUT closed bigint, OUT pool_expired bigint, OUT insufficient bigint, OUT stay_taken bigint,
	OUT blocked bigint, OUT consumed bigint, OUT released bigint, OUT expired bigint,
	OUT returned bigint, OUT evicted bigint, OUT sweep_lag interval)
LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT scope, ', '), min(since), sum(granted), sum(renewed),
		sum(changed), sum(refused), sum(already_consumed), sum(closed), sum(pool_expired),
		sum(insufficient), sum(stay_taken), sum(blocked), sum(consumed), sum(released),
		sum(expired), sum(returned), sum(evicted), max(sweep_lag)
	FROM sharding.hold_stats(hold_tenant())
$$;

-- Batches of all shards side by side; each is committed by its shard.
CREATE PROCEDURE public.hold_sweep_all(batch integer DEFAULT 1000, max_batches integer DEFAULT 16)
LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN 1 .. max_batches LOOP
		EXIT WHEN NOT (SELECT max(swept) = batch AND batch > 0
			FROM sharding.hold_sweep(hold_tenant(), batch) swept);
	END LOOP;
END $$;
