-- What the old design kept in PostgreSQL: its holds are in Redis.
CREATE SCHEMA old;

CREATE TABLE old.reservations (
	reservation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	room_type text NOT NULL,
	stay daterange NOT NULL
);

CREATE TABLE old.room_stays (
	room_id bigint NOT NULL,
	reservation_id bigint NOT NULL,
	stay daterange NOT NULL,
	EXCLUDE USING gist (room_id WITH =, stay WITH &&)
);
