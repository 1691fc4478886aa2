-- weight: 1
\set token random(1, 9000000000000000000)
SELECT * FROM hold_try('f' || :token, 'full');
