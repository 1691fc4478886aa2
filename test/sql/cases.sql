-- Faults that others had in the field, one block each.  Those that have a topic
-- of their own are tested there.

SET hold_ledger.tenant = 'cases';

--
-- Same pool twice in one request
--

SELECT hold_pool_set('bundle', 3) IS NOT NULL AS made;
SELECT outcome, qty, available FROM hold_try_lines('t', hold_lines('{bundle,bundle}', '{2,2}'), '60 s');
SELECT hold_available('bundle');
SELECT outcome, qty, available FROM hold_try_lines('u', hold_lines('{bundle,bundle}', '{1,2}'), '60 s');
SELECT pool, held, holds, available FROM hold_pool_status;
SELECT outcome, qty, consumed FROM hold_consume('u');
SELECT outcome, qty, refunded FROM hold_release('u');
SELECT pool, held, consumed, available FROM hold_pool_status;

-- released instead of consumed, it gives exactly 3 back
SELECT hold_pool_add('bundle', 3);
SELECT outcome FROM hold_try_lines('v', hold_lines('{bundle,bundle}', '{1,2}'), '60 s');
SELECT outcome, qty, refunded FROM hold_release('v');
SELECT hold_available('bundle');
SELECT regress_ok();

--
-- Renewal counts the holder's own units as someone else's
--

SELECT hold_pool_set('unit', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('t', 'unit', 1, '60 s');
SELECT outcome, available FROM hold_try('t', 'unit', 1, '60 s');
SELECT outcome, available FROM hold_try('t2', 'unit', 1, '60 s');
SELECT token, qty FROM live_holds WHERE pool = 'unit';
SELECT event, token, qty, held FROM hold_pool_history('unit');
SELECT regress_ok();

--
-- Renewing an expired hold
--

SELECT hold_pool_set('lot', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('a', 'lot', 1, '1 s');
SET hold_ledger.clock_offset = '2 s';
SELECT outcome FROM hold_try('b', 'lot', 1, '60 s');
SELECT outcome, available FROM hold_try('a', 'lot', 1, '60 s');
SELECT outcome FROM hold_renew('a', '60 s');
SELECT token, qty, version FROM live_holds WHERE pool = 'lot';

-- after the release it is a fresh claim, counted once
SELECT outcome FROM hold_release('b');
SELECT outcome, version FROM hold_try('a', 'lot', 1, '60 s');
SELECT event, token, qty, held FROM hold_pool_history('lot');

-- of several lines only one was taken meanwhile: all or none
SELECT hold_pool_set('lot 2', 1) IS NOT NULL AS made;
SELECT hold_pool_set('lot 3', 1) IS NOT NULL AS made;
SELECT outcome, pool FROM hold_try_lines('c', hold_lines('{lot 2,lot 3}'), '1 s');
SET hold_ledger.clock_offset = '4 s';
SELECT outcome FROM hold_try('d', 'lot 3', 1, '60 s');
SELECT outcome, pool FROM hold_try_lines('c', hold_lines('{lot 2,lot 3}'), '60 s');
SELECT outcome, pool FROM hold_renew('c', '60 s') ORDER BY line;
SELECT hold_available('lot 2');

-- closed or lowered since: refused like any new claim
SELECT hold_pool_close('lot 2');
SELECT outcome FROM hold_try('c', 'lot 2', 1, '60 s');
SELECT hold_pool_open('lot 2');
SELECT hold_pool_set('lot 2', 0) IS NOT NULL AS set;
SELECT outcome FROM hold_try('c', 'lot 2', 1, '60 s');
RESET hold_ledger.clock_offset;
SELECT regress_ok();

--
-- Same token, different request
--

SELECT hold_pool_set('p', 10) IS NOT NULL AS made;
SELECT hold_pool_set('q', 10) IS NOT NULL AS made;
SELECT outcome, qty FROM hold_try_lines('t', hold_lines('{p}', '{2}'), '60 s');

-- another quantity is a change, judged anew
SELECT outcome, qty FROM hold_try_lines('t', hold_lines('{p}', '{5}'), '60 s');

-- other lines are held beside it
SELECT outcome, pool, qty FROM hold_try_lines('t', hold_lines('{p,q}', '{2,1}'), '60 s');
SELECT outcome, pool, qty FROM hold_try_lines('t', hold_lines('{q}', '{2}'), '60 s');
SELECT pool, qty FROM hold_get('t') WHERE pool IN ('p', 'q') ORDER BY pool;

-- order and scale are no change, another ttl is a renewal
SELECT outcome, pool, qty FROM hold_try_lines('t', hold_lines('{q,p}', '{2.0,2.000000}'), '60 s');
SELECT outcome, pool, regress_minutes(expires_at) AS expires_in
FROM hold_try_lines('t', hold_lines('{p,q}', '{2,2}'), '5 min');

-- a change that is refused keeps what the last success reported
SELECT outcome, pool FROM hold_try_lines('t', hold_lines('{p,q}', '{3,11}'), '60 s');
SELECT pool, qty FROM hold_get('t') WHERE pool IN ('p', 'q') ORDER BY pool;
SELECT regress_ok();

--
-- Remainder refunded from the wrong base
--

SELECT hold_pool_set('stock 1', 100) IS NOT NULL AS made;
SELECT hold_pool_set('stock 2', 100) IS NOT NULL AS made;
SELECT outcome FROM hold_try_lines('order', hold_lines('{stock 1,stock 2}', '{10,10}'), '60 s');
SELECT outcome, consumed, refunded FROM hold_consume('order', 'stock 1', 7);
SELECT outcome, consumed, refunded FROM hold_consume('order', 'stock 2', 6);
SELECT hold_available('stock 1'), hold_available('stock 2');
SELECT outcome, pool, refunded, consumed FROM hold_release('order') ORDER BY line;
SELECT hold_available('stock 1'), hold_available('stock 2');
SET hold_ledger.clock_offset = '2 min';
SELECT hold_sweep(10) >= 0 AND hold_sweep(10) >= 0 AS swept_twice;
SELECT hold_available('stock 1'), hold_available('stock 2');
RESET hold_ledger.clock_offset;
SELECT pool, event, qty, held, consumed FROM hold_history('order') ORDER BY pool, seq;
SELECT regress_ok();

--
-- Release of something no longer yours
--

SELECT hold_pool_set('permit', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('permit t', 'permit', 1, '1 s');
SET hold_ledger.clock_offset = '2 s';
SELECT outcome, refunded FROM hold_release('permit t');
SELECT outcome FROM hold_try('permit u', 'permit', 1, '60 s');
SELECT outcome FROM hold_consume('permit u');
SELECT outcome, refunded FROM hold_release('permit u');
SELECT outcome FROM hold_try('permit v', 'permit', 1, '60 s');
SELECT outcome, refunded FROM hold_release('permit v');
SELECT outcome, refunded FROM hold_release('permit v');
SELECT outcome, refunded FROM hold_release('permit w');
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'permit';
RESET hold_ledger.clock_offset;
SELECT regress_ok();

--
-- Capacity lowered below what is promised; one bad pool poisons others
--

SELECT hold_pool_set('low', 5) IS NOT NULL AS made;
SELECT hold_pool_set('good', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('low a', 'low', 4, '60 s');
SELECT hold_pool_set('low', 2) IS NOT NULL AS set;
SELECT hold_available('low');
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'low';
SELECT outcome FROM hold_try('low b', 'good', 1, '60 s');
SELECT outcome, available FROM hold_try('low c', 'low', 1, '60 s');
SELECT outcome, pool FROM hold_try_lines('low d', hold_lines('{good,low}'), '60 s');
SELECT regress_ok();

-- the promise is kept
SELECT outcome, consumed, refunded FROM hold_consume('low a', qty => 3);
SELECT hold_available('low');
SELECT hold_pool_set('low', 4) IS NOT NULL AS set;
SELECT hold_available('low');
SELECT outcome FROM hold_try('low c', 'low', 1, '60 s');
SELECT hold_pool_set('low', -1);
\echo :LAST_ERROR_SQLSTATE
SELECT regress_ok();

--
-- DST and session time zone: a day is 24 hours, wherever the session is
--

SELECT hold_pool_set('clock', 100) IS NOT NULL AS made;
CREATE TEMP TABLE hours (zone text, season text, hours numeric);
DO $$
DECLARE
	zone text;
	change timestamptz;
BEGIN
	FOREACH zone IN ARRAY ARRAY['UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Hong_Kong', 'Pacific/Apia']
	LOOP
		PERFORM set_config('TimeZone', zone, true);
		-- the clock stands twelve hours before Berlin's clocks change
		FOREACH change IN ARRAY ARRAY['2031-03-30 01:00+00', '2031-10-26 01:00+00']::timestamptz[]
		LOOP
			PERFORM set_config('hold_ledger.clock_offset',
				extract(epoch FROM change - interval '12 hours' - clock_timestamp()) || ' s', true);
			INSERT INTO hours
			SELECT zone, to_char(change, 'Mon'), round(extract(epoch FROM expires_at - hold_clock()) / 3600, 3)
			FROM hold_try(zone || change, 'clock', ttl => '1 day');
		END LOOP;
	END LOOP;
END
$$;
SELECT season, hours, count(*) AS zones FROM hours GROUP BY season, hours ORDER BY season;
RESET hold_ledger.clock_offset;
SELECT regress_ok();

--
-- Zero and negative quantities, negative release
--

SELECT hold_pool_set('sign', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('sign u', 'sign', 2, '60 s');
\set VERBOSITY sqlstate
SELECT hold_try_lines('sign t', hold_lines('{sign}', '{-3}'), '60 s');
SELECT hold_try_lines('sign t', hold_lines('{sign,sign}', '{4,-2}'), '60 s');
SELECT hold_try_lines('sign t', hold_lines('{sign}', '{0}'), '60 s');
SELECT hold_consume('sign u', qty => -1);
SELECT hold_consume('sign u', qty => -1, final => false, ref => 'a');
\set VERBOSITY default
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'sign';

-- 0 returns all
SELECT outcome, consumed, refunded FROM hold_consume('sign u', qty => 0);
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'sign';
SELECT regress_ok();

--
-- Cancel in the middle, and huge requests
--

SET hold_ledger.max_lines = 100000;
SELECT count(*) AS before FROM hold_entries \gset
SELECT array_agg('huge:' || i) AS pools FROM generate_series(1, 50000) i \gset
SET statement_timeout = '50ms';
SELECT count(*) FROM hold_try_lines('huge', hold_lines(:'pools', NULL, array_fill(1, ARRAY[50000])));
\echo :LAST_ERROR_SQLSTATE
RESET statement_timeout;
RESET hold_ledger.max_lines;
SELECT count(*) FROM hold_pool_status WHERE pool LIKE 'huge:%';
SELECT count(*) - :before AS more FROM hold_entries;
SELECT count(*) FROM hold_get('huge');
SELECT outcome FROM hold_try('huge', 'good', 1, '60 s');
SELECT regress_ok();
