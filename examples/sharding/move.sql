-- What move.py calls on a shard, as a superuser; after shard.sql.

-- The pools and rooms of these slots, retired ones too.
CREATE FUNCTION sharding.pools_in(slots integer[]) RETURNS TABLE (pool_id bigint)
LANGUAGE sql STABLE AS $$
	SELECT p.pool_id FROM ledger.hold_pools p
	WHERE sharding.slot(sharding.key(COALESCE(sharding.room_key(p.room_id), p.pool)))
		= ANY (slots)
$$;

-- Waits for the calls on these slots, and lets those that come wait.
CREATE FUNCTION sharding.leave(slots integer[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock('sharding.slots'::regclass::integer, slot)
	FROM (SELECT unnest(slots) AS slot ORDER BY slot) s;
	-- a sweep passes over what is locked
	PERFORM FROM ledger.hold_pools p WHERE p.pool_id IN (SELECT sharding.pools_in(slots))
	ORDER BY p.pool_id FOR UPDATE;
	DELETE FROM sharding.slots s WHERE s.slot = ANY (slots);
END $$;

-- Removes what was copied.  The triggers that keep the ledger are off in this transaction
-- alone; other writers of the shard wait until it has ended.
CREATE FUNCTION sharding.forget(slots integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	gone bigint[] := ARRAY(SELECT sharding.pools_in(slots));
BEGIN
	LOCK TABLE ledger.hold_pools, ledger.hold_ledger, ledger.room_stays
		IN SHARE ROW EXCLUSIVE MODE;
	ALTER TABLE ledger.hold_pools DISABLE TRIGGER keep_pools;
	ALTER TABLE ledger.hold_ledger DISABLE TRIGGER append_only;
	ALTER TABLE ledger.room_stays DISABLE TRIGGER by_functions_only;
	DELETE FROM ledger.room_stays s
	WHERE sharding.slot(sharding.key(sharding.room_key(s.room_id))) = ANY (slots);
	DELETE FROM ledger.hold_ledger l WHERE l.pool_id = ANY (gone);
	DELETE FROM ledger.holds h WHERE h.pool_id = ANY (gone);
	DELETE FROM ledger.hold_pools p WHERE p.pool_id = ANY (gone);
	ALTER TABLE ledger.hold_pools ENABLE ALWAYS TRIGGER keep_pools;
	ALTER TABLE ledger.hold_ledger ENABLE ALWAYS TRIGGER append_only;
	ALTER TABLE ledger.room_stays ENABLE ALWAYS TRIGGER by_functions_only;
END $$;

-- Stays arrive as they are, without an entry of their own in the ledger.
CREATE FUNCTION sharding.arrive(slots integer[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	ALTER TABLE ledger.room_stays DISABLE TRIGGER insert_stay;
	INSERT INTO sharding.slots SELECT unnest(slots);
END $$;

CREATE FUNCTION sharding.open_stays() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	ALTER TABLE ledger.room_stays ENABLE ALWAYS TRIGGER insert_stay;
END $$;

-- Classes are known by their prefix, as each shard has numbered its own.
CREATE TABLE sharding.arrived_classes (LIKE ledger.hold_classes);

CREATE FUNCTION sharding.take_classes(slots integer[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ledger.hold_classes SELECT * FROM sharding.arrived_classes
	ON CONFLICT DO NOTHING;
	UPDATE ledger.hold_pools p SET class_id = ours.class_id
	FROM sharding.arrived_classes theirs JOIN ledger.hold_classes ours USING (tenant, prefix)
	WHERE p.class_id = theirs.class_id AND p.pool_id IN (SELECT sharding.pools_in(slots));
	DELETE FROM sharding.arrived_classes;
END $$;
