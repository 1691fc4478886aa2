-- What the model check needs on a proxy: the way to the application's functions.

SELECT sharding.write_link('stock_set', 'pool text, total numeric', 'void', 2, false);
SELECT sharding.write_link('insert_stay',
	'room_id bigint, stay daterange, reservation_id bigint, ref text', 'void', 4, false);
SELECT sharding.write_link('set_clock', 'moved text', 'void', 1, true);

CREATE FUNCTION stock_set(pool text, total numeric DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sharding.stock_set(sharding.slot_of(pool), hold_tenant(), pool, total);
END $$;

CREATE FUNCTION insert_stay(room_id bigint, stay daterange, reservation_id bigint DEFAULT NULL,
	ref text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sharding.insert_stay(sharding.slot_of(sharding.room_key(room_id)), hold_tenant(),
		room_id, stay, reservation_id, ref);
END $$;

CREATE FUNCTION set_clock(moved text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sharding.set_clock(hold_tenant(), moved);
END $$;

-- The name of what runs on the shards.
CREATE FUNCTION told(pool text) RETURNS numeric
LANGUAGE sql STABLE AS $$
	SELECT NULL::numeric
$$;
