-- Stock at warehouses.  What lies where, and what is about to move, is the warehouse's own;
-- hold_ledger keeps what carts hold, and asks these tables what is left for them.  An org
-- is a tenant: each transaction says which.

CREATE EXTENSION IF NOT EXISTS hold_ledger CASCADE;

CREATE TABLE locations (
	location bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	org text NOT NULL DEFAULT hold_tenant(),
	warehouse text NOT NULL,
	internal boolean NOT NULL DEFAULT true	-- not a dock, nor on the way
);

CREATE TABLE quants (
	location bigint REFERENCES locations,
	item text,
	quantity numeric NOT NULL,
	reserved numeric NOT NULL DEFAULT 0 CHECK (reserved BETWEEN 0 AND quantity),
	PRIMARY KEY (location, item)
);

CREATE TABLE moves (
	move bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	location bigint NOT NULL REFERENCES locations,
	item text NOT NULL,
	quantity numeric NOT NULL,
	ref text NOT NULL
);

-- The warehouse's own way to reserve: plans moves out of its internal locations, in order.
CREATE FUNCTION plan_moves(ref text, warehouse text, item text, quantity numeric)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	missing numeric := quantity;
	place record;
	part numeric;
BEGIN
	FOR place IN
		SELECT q.* FROM quants q JOIN locations l USING (location)
		WHERE l.org = hold_tenant() AND l.warehouse = plan_moves.warehouse AND l.internal
			AND q.item = plan_moves.item
		ORDER BY location FOR UPDATE OF q
	LOOP
		part := least(missing, place.quantity - place.reserved);
		CONTINUE WHEN part <= 0;
		UPDATE quants q SET reserved = reserved + part
		WHERE q.location = place.location AND q.item = place.item;
		INSERT INTO moves (location, item, quantity, ref)
		VALUES (place.location, place.item, part, plan_moves.ref);
		missing := missing - part;
	END LOOP;
	IF missing > 0 THEN
		RAISE 'warehouse "%" lacks % of "%"', warehouse, missing, item;
	END IF;
END
$$;

-- What carts may hold: what lies in internal locations and is not reserved.  A pool is named
-- stock:["warehouse","item"].
CREATE FUNCTION stock_to_hold(pool text) RETURNS numeric LANGUAGE sql STABLE AS $$
	SELECT COALESCE(sum(q.quantity - q.reserved), 0)
	FROM (SELECT substr(pool, length('stock:') + 1)::jsonb) AS name (key),
		public.quants q JOIN public.locations l USING (location)
	WHERE l.org = public.hold_tenant() AND l.warehouse = name.key ->> 0 AND l.internal
		AND q.item = name.key ->> 1
$$;

-- Once an org: its stock can be held.
CREATE FUNCTION add_org(org text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('hold_ledger.tenant', org, true);
	PERFORM hold_class_set('stock', capacity_from => 'stock_to_hold(text)');
END
$$;
