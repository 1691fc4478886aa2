-- weight: 4
-- a hold that nobody comes back for
\set token random(1, 9000000000000000000)
\set pool random(0, 199)
SELECT * FROM hold_try('a' || :token, 'sku:' || :pool, 1, '5 s');
