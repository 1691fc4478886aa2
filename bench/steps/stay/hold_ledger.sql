-- Stays in the coming nights, 2 nights a room; with each call of a client they move on.
\set token random(1000000000000000000, 9000000000000000000)
\set room random(:first, :last)
\set day :day + 1
\set arrival :day + random(1, 2 * (:last - :first + 1))
\set departure :arrival + random(1, 5)
SELECT * FROM hold_try_stay(:token, :room, daterange(date '2026-01-01' + :arrival::int, date '2026-01-01' + :departure::int), '1 hour');
