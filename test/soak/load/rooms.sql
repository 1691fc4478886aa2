-- weight: 2
-- a room, booked and cancelled, or refused
\set token random(1, 9000000000000000000)
\set room random(1, 50)
\set day random(0, 60)
SELECT * FROM hold_try_stay('r' || :token, :room, daterange('2031-01-01'::date + :day, '2031-01-03'::date + :day), '2 s');
SELECT * FROM hold_consume('r' || :token, reservation_id => 1);
SELECT * FROM hold_return('r' || :token);
