-- The token depends on the room, as no other hold may have had it.
\set token random(1000000000000000000, 9000000000000000000) + :first
\set day :day + 4
\set departure :day + random(1, 5)
SELECT * FROM hold_try_stay(:token, :first, daterange(date '2026-01-01' + :day::int, date '2026-01-01' + :departure::int), '1 hour');
SELECT * FROM hold_release(:token);
