-- hold_stats: what this session has done is counted as the ledger has it.  Over
-- all sessions, with the library preloaded: t/025_stats.pl.

SET hold_ledger.tenant = 'stats';

-- what other tests left is swept, so that the lag is this test's own
SET hold_ledger.clock_offset = '40 d';
CALL hold_sweep_all(1000000, 1000);
SELECT sweep_lag FROM hold_stats();

\connect
SET hold_ledger.tenant = 'stats';
SELECT scope, since <= clock_timestamp() AND since > clock_timestamp() - interval '1 minute' AS since_just_now
FROM hold_stats();
SELECT to_jsonb(s) - 'since' AS stats FROM hold_stats() s;

SELECT count(hold_pool_set(p, 10)) AS made FROM unnest('{p,q,shut,over}'::text[]) p;
SELECT hold_pool_close('shut');
SELECT hold_pool_set('over', 10, '2001-01-01') IS NOT NULL AS made;

-- Counts those of the session that are not 0, and holds them against the
-- ledger of this tenant.
CREATE FUNCTION regress_stats(OUT stats jsonb, OUT ledger jsonb) LANGUAGE sql AS $$
	SELECT (SELECT jsonb_object_agg(key, value) FROM hold_stats() s, jsonb_each(to_jsonb(s) - 'since' - 'scope' - 'sweep_lag')
			WHERE value <> '0'),
		(SELECT jsonb_object_agg(event, n) FROM (SELECT event, count(*) AS n FROM hold_entries GROUP BY event) e
			WHERE event IN ('granted', 'renewed', 'changed', 'consumed', 'released', 'expired', 'returned'))
$$;

-- each grant and each end of a hold
SELECT outcome FROM hold_try('ann', 'p', 2);
SELECT outcome FROM hold_try('ann', 'p', 2);
SELECT outcome FROM hold_try('ann', 'p', 3);
SELECT outcome FROM hold_renew('ann');
SELECT outcome FROM hold_consume('ann', qty => 2, final => false, ref => 'one');
SELECT outcome FROM hold_consume('ann');
SELECT outcome FROM hold_return('ann', qty => 1, ref => 'back');
SELECT outcome FROM hold_try_lines('bob', hold_lines('{p,q}'));
SELECT outcome FROM hold_try_lines('bob', hold_lines('{q}'), replace => true);
SELECT outcome FROM hold_release('bob');
SELECT * FROM regress_stats();

-- each refusal, line by line; a retry is none, nor is a settlement that came too late
SELECT outcome FROM hold_try('ann', 'p');
SELECT outcome FROM hold_try('cid', 'shut');
SELECT outcome FROM hold_try('cid', 'over');
SELECT outcome FROM hold_try('cid', 'p', 11);
SELECT outcome FROM hold_try_lines('cid', hold_lines('{p,q,shut}'));
SELECT outcome FROM hold_try_batch(ARRAY[('cid', 'p', 11, NULL, NULL, NULL), ('dan', 'p', 1, NULL, NULL, NULL)]::hold_request[]);
SELECT outcome FROM hold_try_stay('eve', 1, '[2031-05-01,2031-05-03)');
SELECT outcome FROM hold_try_stay('fay', 1, '[2031-05-02,2031-05-04)');
SELECT outcome FROM hold_try_stays('fay', '{1,2}', '[2031-05-02,2031-05-04)');
SELECT outcome FROM hold_consume('ann');
SELECT outcome FROM hold_release('ann');
SELECT outcome FROM hold_renew('nobody');
SELECT * FROM regress_stats();

-- an error is no refusal
SELECT hold_try('cid', 'unknown');
SELECT stats->'refused' AS refused FROM regress_stats();

--
-- What is rolled back was not; a refusal was an answer all the same
--

BEGIN;
SELECT outcome FROM hold_try('gil', 'p');
SELECT outcome FROM hold_try('gil', 'p', 100);
ROLLBACK;
SELECT * FROM regress_stats();

BEGIN;
SELECT outcome FROM hold_try('h1', 'p', 0.1);
SAVEPOINT a;
SELECT outcome FROM hold_try('h2', 'p', 0.1);
SAVEPOINT b;
SELECT outcome FROM hold_try('h3', 'p', 0.1);
RELEASE b;
SAVEPOINT c;
SELECT outcome FROM hold_try('h4', 'p', 0.1);
ROLLBACK TO c;
SELECT outcome FROM hold_try('h5', 'p', 0.1);
ROLLBACK TO a;
SELECT outcome FROM hold_try('h6', 'p', 0.1);
SAVEPOINT d;
SAVEPOINT e;
SELECT outcome FROM hold_try('h7', 'p', 0.1);
RELEASE d;
-- not before the commit
SELECT stats->'granted' AS granted FROM regress_stats();
COMMIT;
SELECT * FROM regress_stats();

DO $$
BEGIN
	PERFORM hold_try('i1', 'p', 0.1);
	BEGIN
		PERFORM hold_try('i2', 'p', 0.1);
		RAISE EXCEPTION 'no';
	EXCEPTION WHEN raise_exception THEN
		PERFORM hold_try('i3', 'p', 0.1);
	END;
	BEGIN
		PERFORM hold_try('i4', 'p', 0.1);
	EXCEPTION WHEN raise_exception THEN
	END;
END
$$;
SELECT * FROM regress_stats();

BEGIN;
SELECT outcome FROM hold_try('prepared', 'q');
PREPARE TRANSACTION 'regress_stats';
COMMIT PREPARED 'regress_stats';
SELECT * FROM regress_stats();

--
-- Expired: by a sweep, or in a call's way; and how far the sweep lags behind
--

SELECT hold_pool_set('full', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('late', 'full', ttl => '1 min');
SELECT outcome FROM hold_try('later', 'q', ttl => '3 min');
SELECT outcome FROM hold_try_stay('last', 2, '[2031-05-01,2031-05-03)', '4 min');
SELECT sweep_lag FROM hold_stats();
SET hold_ledger.clock_offset = '5 min';
SELECT date_trunc('minute', sweep_lag + interval '1 s') AS lag FROM hold_stats();
SELECT outcome FROM hold_try('next', 'full');
SELECT date_trunc('minute', sweep_lag + interval '1 s') AS lag FROM hold_stats();
SELECT stats->'expired' AS expired, stats->'evicted' AS evicted FROM regress_stats();
SELECT hold_sweep(1);
SELECT date_trunc('minute', sweep_lag + interval '1 s') AS lag FROM hold_stats();
SELECT hold_sweep();
SELECT sweep_lag FROM hold_stats();
SELECT * FROM regress_stats();

-- it needs no tenant, and locks nothing that others need
RESET hold_ledger.tenant;
SET hold_ledger.require_tenant = on;
SELECT scope FROM hold_stats();
RESET hold_ledger.require_tenant;
BEGIN READ ONLY;
SELECT scope FROM hold_stats();
COMMIT;

SET hold_ledger.tenant = 'stats';
RESET hold_ledger.clock_offset;
DROP FUNCTION regress_stats;
SELECT regress_ok();
