-- What the old service kept beside the warehouse's tables.
CREATE SCHEMA old;

CREATE TABLE old.reservations (
	reservation bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	ref text NOT NULL,
	warehouse text NOT NULL,
	item text NOT NULL,
	qty numeric NOT NULL,
	status text NOT NULL DEFAULT 'held',
	expires_at timestamptz NOT NULL
);
