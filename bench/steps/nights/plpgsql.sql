\set token random(1000000000000000000, 9000000000000000000)
\set type random(:first, :last)
\set arrival random(0, 112)
SELECT * FROM hold_try_nights(:token, 'type-' || :type::text, daterange(date '2031-01-01' + :arrival::int, date '2031-01-08' + :arrival::int), '1 hour');
