-- What is booked with the old design: its holds are in Redis.
CREATE SCHEMA old;
CREATE TABLE old.slot_bookings (LIKE slot_bookings INCLUDING IDENTITY);
