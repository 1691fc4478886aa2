-- The bookings are kept in PostgreSQL.
CREATE SCHEMA :schema;
SET search_path = :schema;
CREATE TABLE bookings (token text NOT NULL, pool text NOT NULL, qty numeric NOT NULL);
GRANT USAGE ON SCHEMA :schema TO bench_app;
GRANT INSERT ON bookings TO bench_app;
