-- note: the extension, a pool that splits by itself
\set token random(1000000000000000000, 9000000000000000000)
\set pool random(:first, :last) + 2
SELECT * FROM hold_try(:token, :pool, 1, '1 hour');
