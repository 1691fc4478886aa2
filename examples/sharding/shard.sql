-- What a shard has besides the extension, after both.sql.  The proxies call
-- sharding.hold_try(slots, tenant, ...) and so on: the entrances, which ask whether the
-- slots are here and then call the extension.

-- The slots that are here.
CREATE TABLE sharding.slots (
	slot integer PRIMARY KEY
);
GRANT SELECT ON sharding.slots TO PUBLIC;

-- Shard number N of at most 1000 gives out the ids that end with N.  So an id says the same
-- on all shards, and may move to another.  None is given out twice, however often this runs.
CREATE FUNCTION sharding.number_ids(shard integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('ALTER SEQUENCE ledger.hold_ids INCREMENT BY 1000 RESTART WITH %s',
		(SELECT (last_value / 1000 + 1) * 1000 + shard FROM ledger.hold_ids));
END $$;

-- Lets the transaction work on these slots, as this tenant.  A slot that is on its way to
-- another shard is waited for, and has then left; a role that may not be that tenant is
-- refused.
CREATE FUNCTION sharding.enter(slots integer[], tenant text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	wanted integer;
BEGIN
	FOREACH wanted IN ARRAY slots LOOP
		PERFORM pg_advisory_xact_lock_shared('sharding.slots'::regclass::integer, wanted);
		IF NOT EXISTS (SELECT FROM sharding.slots s WHERE s.slot = wanted) THEN
			RAISE EXCEPTION 'slot % is not on this shard', wanted
				USING ERRCODE = 'serialization_failure',
					HINT = 'It has moved: try again, until the proxy has heard of it.';
		END IF;
	END LOOP;
	IF tenant <> ledger.hold_tenant() THEN
		PERFORM set_config('hold_ledger.tenant', tenant, true);
	END IF;
END $$;

CREATE FUNCTION sharding.write_entrance(name text, arguments text, result text, body text)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE FUNCTION sharding.%I(%s) RETURNS %s
LANGUAGE plpgsql AS $body$
BEGIN
	PERFORM sharding.enter($1, $2);
	%s;
END $body$',
		name, concat_ws(', ', 'slots integer[], tenant text', NULLIF(arguments, '')), result,
		body);
END $$;

-- Makes this database shard number N, as yet without a slot; again after an update of the
-- extension.
CREATE FUNCTION sharding.make_shard(shard integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
	f sharding.functions;
	v sharding.views;
	call text;
BEGIN
	PERFORM sharding.check_routes();
	PERFORM sharding.number_ids(shard);
	FOR f IN SELECT * FROM sharding.functions
		WHERE route IN ('key', 'all', 'own') AND kind = 'f'
	LOOP
		call := format('ledger.%I(%s)', f.name, sharding.parameters(3, f.inputs));
		PERFORM sharding.write_entrance(f.name, f.arguments,
			CASE f.result WHEN 'record' THEN 'SETOF record' ELSE f.result END,
			CASE WHEN f.result = 'void' THEN 'PERFORM ' || call
				WHEN f.many OR f.result = 'record' THEN 'RETURN QUERY SELECT * FROM ' || call
				ELSE 'RETURN ' || call END);
	END LOOP;
	FOR v IN SELECT * FROM sharding.views LOOP
		PERFORM sharding.write_entrance(v.name, '', format('SETOF ledger.%I', v.name),
			format('RETURN QUERY SELECT * FROM ledger.%I', v.name));
	END LOOP;
	PERFORM sharding.write_entrance('room_of_stay', 'stay_id bigint', 'SETOF bigint',
		'RETURN QUERY SELECT s.room_id FROM ledger.hold_stays s WHERE s.stay_id = $3');
END $$;
