-- weight: 3
-- a hold, its booking, and the booking's end, as pools and ledger are to stay comparable
\set token random(1, 9000000000000000000)
\set pool random(0, 199)
SELECT * FROM hold_try('b' || :token, 'sku:' || :pool, 2);
SELECT * FROM hold_consume('b' || :token, qty => 1);
SELECT * FROM hold_return('b' || :token);
