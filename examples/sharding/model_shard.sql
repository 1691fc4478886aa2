-- What the model check needs on a shard, after test/model/setup.sql: entrances to the
-- application's functions, and a clock that is moved for everybody.

SELECT sharding.write_entrance('stock_set', 'pool text, total numeric', 'void',
	'PERFORM public.stock_set($3, $4)');
SELECT sharding.write_entrance('insert_stay',
	'room_id bigint, stay daterange, reservation_id bigint, ref text', 'void',
	'PERFORM public.insert_stay($3, $4, $5, $6)');

CREATE TABLE clock (
	moved text NOT NULL
);
INSERT INTO clock VALUES ('0');

SELECT sharding.write_entrance('set_clock', 'moved text', 'void',
	'UPDATE public.clock c SET moved = $3');

ALTER FUNCTION sharding.enter(integer[], text) RENAME TO enter_now;
CREATE FUNCTION sharding.enter(slots integer[], tenant text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sharding.enter_now(slots, tenant);
	PERFORM set_config('hold_ledger.clock_offset', c.moved, true) FROM public.clock c;
END $$;
