-- Delivery slots.  The shop's own tables say how many deliveries a slot has and which
-- are booked; hold_ledger keeps the holds, and asks these tables what is left for them.

CREATE EXTENSION IF NOT EXISTS hold_ledger CASCADE;

-- How many deliveries a location can make in each of its slots.
CREATE TABLE slot_templates (
	shop text,
	location text,
	method text,
	capacity int NOT NULL CHECK (capacity >= 0),
	PRIMARY KEY (shop, location, method)
);

CREATE TABLE slot_bookings (
	booking bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	shop text NOT NULL,
	location text NOT NULL,
	method text NOT NULL,
	starts_at timestamptz NOT NULL,
	cart_token text,	-- NULL: taken on the telephone
	FOREIGN KEY (shop, location, method) REFERENCES slot_templates
);

CREATE INDEX ON slot_bookings (shop, location, method, starts_at);

-- A cart's booking cannot commit unless the cart's hold is consumed in the same transaction.
CREATE CONSTRAINT TRIGGER only_consumed AFTER INSERT OR UPDATE ON slot_bookings
	DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('cart_token');

-- What the carts may hold of a slot: the template's capacity minus what is booked.  A pool
-- is named slot:["shop","location","method","start"].
CREATE FUNCTION slot_capacity(pool text) RETURNS numeric LANGUAGE sql STABLE AS $$
	SELECT t.capacity - (
		SELECT count(*) FROM public.slot_bookings b
		WHERE b.shop = t.shop AND b.location = t.location AND b.method = t.method
			AND b.starts_at = (slot.key ->> 3)::timestamptz)
	FROM (SELECT substr(pool, length('slot:') + 1)::jsonb) AS slot (key),
		public.slot_templates t
	WHERE t.shop = slot.key ->> 0 AND t.location = slot.key ->> 1 AND t.method = slot.key ->> 2
$$;

SELECT hold_class_set('slot', capacity_from => 'slot_capacity(text)');
