-- What a pool remembers of the holds that expired: their sum is kept in its row,
-- so that no call walks over them twice.  Nothing is swept until the end.

SET hold_ledger.tenant = 'expired_sums';
SELECT hold_pool_set('p', 1000) IS NOT NULL AS made;

CREATE FUNCTION pg_temp.outcomes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE told text;
BEGIN
	EXECUTE format('SELECT string_agg(n || '' '' || outcome, '', '' ORDER BY outcome)
		FROM (SELECT outcome, count(*) AS n FROM (%s) q GROUP BY outcome) c', query) INTO told;
	RETURN told;
END $$;

-- what the row knows, and what the reads say
CREATE FUNCTION pg_temp.seen() RETURNS TABLE (known_to text, summed float8, available numeric, status numeric, live bigint, problems bigint)
LANGUAGE sql AS $$
	SELECT CASE WHEN p.expired_to = '-infinity' THEN 'nothing' WHEN p.expired_to > hold_clock() THEN 'the future' ELSE 'the past' END,
		(p.expired / 1000000.0)::float8, hold_available('p'), s.available, hold_count('p'), (SELECT count(*) FROM hold_verify())
	FROM hold_pools p JOIN hold_pool_status s USING (pool_id) WHERE p.tenant = 'expired_sums' AND p.pool = 'p'
$$;

SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 100) n, hold_try('a' || n, 'p', 2, '10 s')$$);
SELECT * FROM pg_temp.seen();
-- those that expired are met by the next claim, which evicts four of them
SET hold_ledger.clock_offset = '20 s';
SELECT outcome, available FROM hold_try('b', 'p', 1);
SELECT * FROM pg_temp.seen();
-- and then leapt over
SELECT outcome, available FROM hold_try('c', 'p', 1);
SELECT * FROM pg_temp.seen();
-- one of them claims afresh, one is taken late, one does both
SELECT outcome, available FROM hold_try('a50', 'p', 3);
SELECT outcome, consumed FROM hold_consume('a60', late => true);
SELECT outcome, consumed FROM hold_consume('a70', late => true);
SELECT outcome FROM hold_return('a70');
SELECT outcome, available FROM hold_try('a70', 'p', 3);
SELECT * FROM pg_temp.seen();
-- when more expire, they are added to the sum
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 50) n, hold_try('d' || n, 'p', 3, '10 s')$$);
SELECT * FROM pg_temp.seen();
SET hold_ledger.clock_offset = '40 s';
SELECT * FROM pg_temp.seen();
SELECT outcome, available FROM hold_try('e', 'p', 1);
SELECT * FROM pg_temp.seen();
-- whoever needs more than is free evicts as many as it takes
SELECT outcome, available FROM hold_try('f', 'p', (SELECT available FROM hold_pool_status WHERE pool = 'p'));
SELECT * FROM pg_temp.seen();
SELECT outcome, available FROM hold_try('g', 'p', 1);
SELECT outcome FROM hold_release('f');

-- a clock that is set back finds them alive, and nothing is summed twice
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 10) n, hold_try('h' || n, 'p', 1, '10 s')$$);
SET hold_ledger.clock_offset = '60 s';
SELECT outcome, available FROM hold_try('i', 'p', 1);
SET hold_ledger.clock_offset = '41 s';
SELECT * FROM pg_temp.seen();
SELECT outcome, available FROM hold_try('j', 'p', 1);
SELECT outcome FROM hold_renew('h9', '1 s');
SELECT outcome, available FROM hold_try('h10', 'p', 5, '1 s');
SELECT outcome, available FROM hold_try('k', 'p', 4, '1 s');
SELECT outcome, consumed FROM hold_consume('h8', qty => 0.5, final => false, ref => 'r');
SELECT outcome FROM hold_release('h7');
SELECT * FROM pg_temp.seen();
SET hold_ledger.clock_offset = '70 s';
SELECT * FROM pg_temp.seen();
SELECT outcome, available FROM hold_try('l', 'p', 1);
SELECT * FROM pg_temp.seen();

-- a striped pool keeps a sum in each row
SELECT hold_pool_set('s', 400, stripes => 4) IS NOT NULL AS made;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 80) n, hold_try('s' || n, 's', 2, '10 s')$$);
SET hold_ledger.clock_offset = '90 s';
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 10) n, hold_try('t' || n, 's', 2)$$);
SELECT sum(expired) > 0 AS summed FROM hold_pools WHERE tenant = 'expired_sums' AND pool = 's';
SELECT hold_available('s');
SELECT hold_pool_set('s', 400, stripes => 2) IS NOT NULL AS changed;
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 80) n, hold_try('s' || n, 's', 1)$$);
SELECT hold_available('s'), outcome, available FROM hold_try('u', 's', 100);
SELECT count(*) FROM hold_verify();

-- a new lease begins with none, and so does a repaired row
SELECT hold_pool_renew('p', 500, hold_clock() + '1 h');
SELECT * FROM pg_temp.seen();
SELECT outcome, available FROM hold_try('m', 'p', 1);
SELECT * FROM pg_temp.seen();
SELECT pg_temp.outcomes($$SELECT * FROM generate_series(1, 10) n, hold_try('n' || n, 'p', 1, '10 s')$$);
SET hold_ledger.clock_offset = '120 s';
SELECT outcome, available FROM hold_try('o', 'p', 1);
SELECT * FROM pg_temp.seen();
UPDATE hold_pools SET expired = 1 WHERE tenant = 'expired_sums' AND pool = 'p';
SELECT problem, pool, expected, found FROM hold_verify();
SELECT hold_repair();
SELECT * FROM pg_temp.seen();
SELECT outcome, available FROM hold_try('q', 'p', 1);
SELECT * FROM pg_temp.seen();
SELECT hold_sweep(1000) > 0 AS swept;
SELECT * FROM pg_temp.seen();
SELECT outcome, available FROM hold_try('r', 'p', 1);
RESET hold_ledger.clock_offset;
