-- note: the extension, each call a transaction and a round trip
\set token random(1000000000000000000, 9000000000000000000)
\set pool random(:first, :last)
SELECT * FROM hold_try(:token, :pool, 1, '1 hour');
SELECT * FROM hold_consume(:token);
