-- hold_nights: a stay as one line a night, each night a pool of its own.

SET hold_ledger.tenant = 'nights';
SET DateStyle = 'ISO';

SELECT * FROM unnest(hold_nights('double', '[2031-05-01,2031-05-04)'));
SELECT * FROM unnest(hold_nights('double', '[2031-05-01,2031-05-03]', 2, '{7,NULL,9}'));
SELECT * FROM unnest(hold_nights('double', '(2031-05-01,2031-05-03)'));

-- the day of departure is not a night: back to back stays share none
SELECT count(*) FROM unnest(hold_nights('double', '[2031-05-01,2031-05-03)')) a
	JOIN unnest(hold_nights('double', '[2031-05-03,2031-05-05)')) b USING (pool);

-- years of any length, leap days, at most hold_ledger.max_nights
SELECT pool FROM unnest(hold_nights('n', '[0004-02-28,0004-03-01)'));
SELECT pool FROM unnest(hold_nights('n', '[12031-12-31,12032-01-02)'));
SELECT count(*), min(pool), max(pool) FROM unnest(hold_nights('n', '[2032-01-01,2033-01-01)'));
SELECT hold_nights('n', '[2032-01-01,2033-01-02)');

-- the names are the same whatever the session says about dates
SET DateStyle = 'SQL, DMY';
SELECT pool FROM unnest(hold_nights('double', daterange('1.5.2031', '3.5.2031')));
SET DateStyle = 'German';
SELECT pool FROM unnest(hold_nights('double', daterange('1.5.2031', '3.5.2031')));
SET DateStyle = 'ISO';

-- nights are calendar dates in every time zone, also where clocks change or a
-- day was left out
CREATE TEMP TABLE zones (zone text, nights text[]);
DO $$
DECLARE
	zone text;
BEGIN
	FOREACH zone IN ARRAY ARRAY['UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Hong_Kong', 'Pacific/Apia']
	LOOP
		PERFORM set_config('TimeZone', zone, true);
		INSERT INTO zones SELECT zone, array_agg(pool)
		FROM unnest(hold_nights('n', '[2031-03-29,2031-04-01)') || hold_nights('n', '[2031-10-25,2031-10-27)')
			|| hold_nights('n', '[2011-12-29,2012-01-01)'));
	END LOOP;
END
$$;
SELECT count(*) AS zones, nights FROM zones GROUP BY nights;

--
-- Holding stays: the worst night decides
--

SELECT count(hold_pool_set(pool, 4)) AS made
FROM unnest(hold_nights('double', '[2031-05-01,2031-05-05)'));

-- five bookings that leave 2, 2, 1 and 3 free
SELECT guest, bool_and(granted) AS granted
FROM (VALUES ('a', '[2031-05-01,2031-05-02)'::daterange), ('b', '[2031-05-01,2031-05-03)'),
		('c', '[2031-05-02,2031-05-04)'), ('d', '[2031-05-03,2031-05-04)'),
		('e', '[2031-05-03,2031-05-05)')) v (guest, stay),
	hold_try_lines(guest, hold_nights('double', stay))
GROUP BY guest ORDER BY guest;
SELECT pool, available, holds FROM hold_pool_status ORDER BY pool;

-- more than the period has in all, but each night has one
SELECT line, pool, outcome, available
FROM hold_try_lines('f', hold_nights('double', '[2031-05-01,2031-05-05)'));
SELECT outcome, pool FROM hold_release('f') ORDER BY pool;

-- two are too many for one night: none is held
SELECT line, pool, outcome, qty, available
FROM hold_try_lines('f', hold_nights('double', '[2031-05-01,2031-05-05)', 2));
SELECT pool, available FROM hold_pool_status ORDER BY pool;

-- a full night in the middle
SELECT outcome FROM hold_try('g', 'double:2031-05-03', 1);
SELECT line, pool, outcome
FROM hold_try_lines('f', hold_nights('double', '[2031-05-02,2031-05-05)'));
SELECT outcome, pool
FROM hold_try_lines('f', hold_nights('double', '[2031-05-01,2031-05-03)'));

-- move the stay: the nights it leaves are free again
SELECT outcome, line, pool
FROM hold_try_lines('f', hold_nights('double', '[2031-05-02,2031-05-03)'), replace => true);
SELECT pool, available FROM hold_pool_status ORDER BY pool;

-- one night that was never opened for sale is an error
SELECT outcome FROM hold_try_lines('h', hold_nights('double', '[2031-05-04,2031-05-06)'));
\echo :LAST_ERROR_SQLSTATE

-- unless a budget says how many rooms there are
SELECT outcome, pool, available
FROM hold_try_lines('h', hold_nights('single', '[2031-05-04,2031-05-06)', budgets => '{3,2}'));

-- a calendar
SELECT pool, available, held
FROM hold_available_many(ARRAY(SELECT 'double:' || day::date
	FROM generate_series('2031-04-30'::timestamp, '2031-05-05', '1 day') day));

-- prefix and date together must fit into a name
SELECT outcome FROM hold_try_lines('h', hold_nights(repeat('x', 245), '[2031-05-04,2031-05-05)', budgets => '{1}'));
\echo :LAST_ERROR_SQLSTATE
SELECT outcome, length(pool)
FROM hold_try_lines('h', hold_nights(repeat('x', 244), '[2031-05-04,2031-05-05)', budgets => '{1}'));

SELECT regress_ok();
