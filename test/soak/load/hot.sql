-- weight: 2
\set token random(1, 9000000000000000000)
SELECT * FROM hold_try('h' || :token, 'hot', 1, '5 s');
