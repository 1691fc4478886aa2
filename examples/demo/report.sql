-- Who got what, what the ledger says of it, and whether both are right.

\pset footer off

\echo 'How the 200 visits ended'
SELECT ending, count(*) AS shoppers, round(avg(attempts), 1) AS attempts, round(avg(seconds), 1) AS seconds
FROM visits GROUP BY ending ORDER BY shoppers DESC;

\echo 'The first and the last shopper of each kind'
SELECT DISTINCT shopper, habit, attempts, seconds, ending
FROM (SELECT *, row_number() OVER up AS first, row_number() OVER down AS last FROM visits
	WINDOW up AS (PARTITION BY ending ORDER BY shopper),
		down AS (PARTITION BY ending ORDER BY shopper DESC)) AS visit
WHERE first = 1 OR last = 1 ORDER BY ending, shopper;

\echo 'The pool: hold_pool_status'
SELECT pool, capacity, consumed, held, expired, available, closed FROM hold_pool_status;

\echo 'The last entries of the ledger: hold_entries'
SELECT * FROM (SELECT seq, at::time(3), event, token, qty, held, consumed, capacity FROM hold_entries
	ORDER BY seq DESC LIMIT 10) AS entry ORDER BY seq;

\echo 'What hold_verify() finds wrong'
SELECT CASE count(*) WHEN 0 THEN 'ok' ELSE count(*) || ' disagreements' END AS verdict FROM hold_verify();

DO $$
BEGIN
	ASSERT (SELECT count(*) = 200 FROM visits), 'a shopper is missing';
	ASSERT (SELECT count(*) BETWEEN 1 AND 50 FROM bookings), 'oversold, or nothing was sold';
	ASSERT (SELECT count(*) FROM bookings) = (SELECT consumed FROM hold_pool_status),
		'bookings and consumed units differ';
	ASSERT (SELECT max(held + consumed) <= 50 FROM hold_entries), 'more was promised than there is';
	ASSERT NOT EXISTS (SELECT FROM hold_verify()), 'counters, holds and ledger disagree';
END
$$;
