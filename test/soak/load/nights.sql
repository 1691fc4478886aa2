-- weight: 1
-- a week of a room type, which is given back
\set token random(1, 9000000000000000000)
\set day random(0, 60)
SELECT * FROM hold_try_lines('n' || :token, hold_nights('rt', daterange('2031-01-01'::date + :day, '2031-01-08'::date + :day)));
SELECT * FROM hold_release('n' || :token);
