-- Fractions: quantities are exact to the millionth, whatever is done with them.

SET hold_ledger.tenant = 'fractions';

SELECT hold_pool_set('p', 1) IS NOT NULL AS made;

-- ten tenths are one
SELECT count(*) AS granted FROM generate_series(1, 10) i, hold_try('t' || i, 'p', 0.1) WHERE granted;
SELECT hold_available('p'), hold_available('p') = 0 AS nothing_left;
SELECT outcome, available FROM hold_try('t11', 'p', 0.1);
SELECT outcome, available FROM hold_try('t11', 'p', 0.000001);

-- 0.1 and 0.10 are the same
SELECT DISTINCT outcome, qty FROM generate_series(1, 10) i, hold_try('t' || i, 'p', 0.10);

-- 0.033 of each is consumed, the rest goes back
SELECT DISTINCT outcome, qty, consumed, refunded FROM generate_series(1, 10) i, hold_consume('t' || i, qty => 0.033);
SELECT hold_available('p'), hold_available('p') = 1 - 0.33 AS exact;
SELECT capacity, consumed, held, available FROM hold_pool_status;
SELECT DISTINCT outcome FROM generate_series(1, 10) i, hold_release('t' || i);
SELECT hold_available('p');

-- thirds and sevenths, rounded to six places
SELECT hold_pool_set('q', 1) IS NOT NULL AS made;
SELECT count(*) FROM generate_series(1, 3) i, hold_try('u' || i, 'q', round(1 / 3.0, 6)) WHERE granted;
SELECT hold_available('q');
SELECT count(*) FROM generate_series(1, 7) i, hold_try('v' || i, 'q', 0.000001) WHERE granted;
SELECT hold_available('q');
SELECT outcome, qty, refunded FROM hold_release('u1');
SELECT outcome FROM hold_try('w', 'q', 0.333334);
SELECT outcome FROM hold_try('w', 'q', 0.333333);
SELECT hold_available('q');

-- there and back a thousand times
SELECT hold_pool_set('r', 33.6) IS NOT NULL AS made;
DO $$
BEGIN
	FOR i IN 1..1000 LOOP
		PERFORM hold_try('back and forth', 'r', 0.01 + i * 0.000001);
		PERFORM hold_try('back and forth', 'r', 33.59);
		PERFORM hold_release('back and forth');
	END LOOP;
END
$$;
SELECT hold_available('r');
SELECT outcome, available FROM hold_try('all', 'r', 33.60);
SELECT outcome, consumed, held FROM hold_consume('all', qty => 0.000001, final => false, ref => 'a');
SELECT outcome, consumed, held FROM hold_consume('all', qty => 33.599998, final => false, ref => 'b');
SELECT outcome, consumed, held FROM hold_consume('all', qty => 1, final => false, ref => 'c');
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'r';

-- answers carry no trailing zeros
SELECT hold_pool_set('s', 10.500) IS NOT NULL AS made;
SELECT capacity, available FROM hold_pool_status WHERE pool = 's';
SELECT hold_pool_add('s', 89.50), hold_pool_add('s', 0.000010);
SELECT qty, available FROM hold_try('x', 's', 50.1000);
SELECT qty, consumed, refunded, held FROM hold_consume('x', qty => 20.10);

-- a float needs a cast and rounding
\set VERBOSITY sqlstate
SELECT hold_try('y', 's', 0.1::float8 * 3);
\set VERBOSITY default
SELECT outcome FROM hold_try('y', 's', (0.1::float8 * 3)::numeric);
SELECT outcome FROM hold_try('z', 's', (1 / 3.0::float8)::numeric);
\echo :LAST_ERROR_SQLSTATE
SELECT outcome, qty FROM hold_try('z', 's', round((1 / 3.0::float8)::numeric, 6));

SELECT regress_ok();
