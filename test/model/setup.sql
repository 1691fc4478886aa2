-- What the sequences need: an application's own count of what there is.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hold_ledger CASCADE;

CREATE TABLE stock (
	tenant text,
	pool text,
	total numeric,
	PRIMARY KEY (tenant, pool)
);

CREATE FUNCTION told(pool text) RETURNS numeric LANGUAGE sql STABLE AS $$
	SELECT s.total FROM public.stock s
	WHERE s.tenant = current_setting('hold_ledger.tenant') AND s.pool = told.pool
$$;

CREATE FUNCTION stock_set(pool text, total numeric DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO public.stock VALUES (current_setting('hold_ledger.tenant'), pool, total)
	ON CONFLICT ON CONSTRAINT stock_pkey DO UPDATE SET total = EXCLUDED.total;
END $$;

CREATE FUNCTION insert_stay(room_id bigint, stay daterange, reservation_id bigint DEFAULT NULL,
	ref text DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO room_stays (room_id, reservation_id, stay, ref)
	VALUES (room_id, reservation_id, stay, ref);
END $$;
