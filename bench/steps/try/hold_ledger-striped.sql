-- note: the extension, a pool of 16 counter rows
\set token random(1000000000000000000, 9000000000000000000)
\set pool random(:first, :last) + 1
SELECT * FROM hold_try(:token, :pool, 1, '1 hour');
