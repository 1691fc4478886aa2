-- weight: 2
-- a cart that changes, is renewed and given back
\set token random(1, 9000000000000000000)
\set pool random(0, 199)
SELECT * FROM hold_try('c' || :token, 'sku:' || :pool, 1);
SELECT * FROM hold_try('c' || :token, 'sku:' || :pool, 3);
SELECT * FROM hold_renew('c' || :token);
SELECT * FROM hold_release('c' || :token);
