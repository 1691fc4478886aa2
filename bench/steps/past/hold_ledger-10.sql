-- note: the extension, the room with 10 past stays
-- The token depends on the room, as no other hold may have had it.
\set token random(1000000000000000000, 9000000000000000000) + :last
\set day :day + 4
\set departure :day + random(1, 5)
SELECT * FROM hold_try_stay(:token, :last, daterange(date '2026-01-01' + :day::int, date '2026-01-01' + :departure::int), '1 hour');
SELECT * FROM hold_release(:token);
