-- note: locks the room, looks for a stay in the way, inserts; no expiry, no renewal, no memory of settled tokens
-- Stays in the coming nights, 2 nights a room; they move on by a night in 16 calls, by one count for all clients.
\set token random(1000000000000000000, 9000000000000000000)
\set room random(:first, :last)
\set ahead random(1, 2 * (:last - :first + 1))
\set nights random(1, 5)
SELECT stay.* FROM (SELECT date '2026-01-01' + (nextval('bench.calls') / 16 + :ahead)::int AS arrival OFFSET 0) a, hold_try_stay(:token, :room, daterange(arrival, arrival + :nights::int), '1 hour') stay;
