-- hold_sweep and hold_sweep_all: tidying up what has expired.

SET hold_ledger.tenant = 'sweep';

-- nothing shall be left of what other tests made
SET hold_ledger.clock_offset = '30 d';
CALL hold_sweep_all(1000000, 1000);

SELECT hold_sweep();

-- five pools with five expired holds each, and a live one each
SELECT count(hold_pool_set('p' || i, 10)) AS made FROM generate_series(1, 5) i;
SELECT count(*) AS granted
FROM generate_series(1, 5) p, generate_series(1, 5) t, hold_try(format('t%s-%s', p, t), 'p' || p, 0.5, '1 minute')
WHERE granted;
SELECT count(*) AS granted FROM generate_series(1, 5) p, hold_try('live', 'p' || p, 1, '1 hour') WHERE granted;

-- what is live is left alone
SELECT hold_sweep();
SET hold_ledger.clock_offset = '43201 min';
SELECT sum(expired) AS expired, sum(held) AS held, sum(available) AS available FROM hold_pool_status;

-- a batch is shared among the pools, so that none starves
BEGIN;
SELECT hold_sweep(10) AS swept;
SELECT bool_and(swept > 0) AS each_had_a_share
FROM (SELECT pool, count(*) FILTER (WHERE event = 'expired') AS swept FROM hold_entries GROUP BY pool) p;
ROLLBACK;

-- at most as many as the batch; what it returns is what the ledger got
SELECT hold_sweep(0);
SELECT hold_sweep(1);
SELECT count(*) FROM hold_entries WHERE event = 'expired';
SELECT hold_sweep(7);
SELECT count(*) FROM hold_entries WHERE event = 'expired';
SELECT sum(expired) AS expired, sum(held) AS held, sum(available) AS available FROM hold_pool_status;
SELECT regress_ok();

-- the rest, in one go
SELECT hold_sweep();
SELECT hold_sweep();
SELECT event, count(*), sum(qty) FROM hold_entries WHERE event IN ('granted', 'expired') GROUP BY event ORDER BY event;
SELECT sum(expired) AS expired, sum(held) AS held, sum(holds) AS holds, sum(available) AS available FROM hold_pool_status;

-- the entry tells until when it was held, and by whom it was swept
SELECT pool, qty, held, regress_minutes(expires_at) AS expires_in, actor = session_user AS me
FROM hold_entries WHERE token = 't1-1' AND event = 'expired';
SELECT regress_ok();

-- numbers do not change by sweeping: it all was free before
SELECT outcome FROM hold_consume('t1-1');
SELECT outcome FROM hold_release('t1-1');

--
-- A renewed hold is not swept at its old time, one that was changed neither
--

SELECT outcome FROM hold_try('ann', 'p1', 1, '1 minute');
SELECT outcome FROM hold_try('bob', 'p1', 1, '1 minute');
SELECT outcome FROM hold_try('cid', 'p1', 1, '1 minute');
SELECT outcome FROM hold_renew('ann', '1 hour');
SELECT outcome FROM hold_try('bob', 'p1', 0.5, '1 hour');
SET hold_ledger.clock_offset = '43203 min';
SELECT hold_sweep();
SELECT token FROM live_holds WHERE pool = 'p1' ORDER BY token;

-- closed, ended and lowered pools are swept like the others
SELECT outcome FROM hold_try('dan', 'p2', 1, '1 minute');
SELECT outcome FROM hold_try('dan', 'p3', 1, '1 minute');
SELECT outcome FROM hold_try('dan', 'p4', 1, '1 minute');
SELECT outcome FROM hold_try('dan', 'outside', 1, '1 minute', budget => 1);
SELECT hold_pool_set('gone', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('dan', 'gone', 1, '1 minute');
SET hold_ledger.clock_offset = '43205 min';
SELECT hold_pool_close('p2');
SELECT hold_pool_set('p3', 10, hold_clock()) IS NOT NULL AS set;
SELECT hold_pool_set('p4', 0) IS NOT NULL AS set;
SELECT hold_pool_drop('gone');
SELECT hold_sweep();
SELECT pool, event FROM hold_history('dan') WHERE event = 'expired' ORDER BY pool;

-- a sweep that is rolled back has not been
SELECT outcome FROM hold_try('eve', 'p1', 1, '1 minute');
SET hold_ledger.clock_offset = '43207 min';
BEGIN;
SELECT hold_sweep();
ROLLBACK;
SELECT hold_sweep();

-- later holds of the same token are not mixed up with it
SELECT outcome, version FROM hold_try('eve', 'p1', 1, '1 minute');
SELECT hold_sweep();
SELECT state FROM hold_get('eve');

--
-- hold_sweep_all: batch after batch, with a commit after each
--

SELECT count(*) AS granted FROM generate_series(1, 20) i, hold_try('all-' || i, 'p5', 0.25, '1 minute') WHERE granted;
SET hold_ledger.clock_offset = '43209 min';
CALL hold_sweep_all(0);
CALL hold_sweep_all(max_batches => 0);
SELECT count(*) FROM hold_entries WHERE event = 'expired' AND token LIKE 'all-%';

-- at most that many batches
CALL hold_sweep_all(3, 2);
SELECT count(*) FROM hold_entries WHERE event = 'expired' AND (token LIKE 'all-%' OR token = 'eve');

-- what was swept before something went wrong stays swept
DO $$
BEGIN
	CALL hold_sweep_all(5, 1);
	RAISE EXCEPTION 'too late to undo';
END
$$;
SELECT count(*) FROM hold_entries WHERE event = 'expired' AND (token LIKE 'all-%' OR token = 'eve');

-- it cannot commit inside a transaction block
BEGIN;
CALL hold_sweep_all();
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- until nothing is left, stays after what was committed before them
SELECT count(*) AS granted FROM generate_series(1, 3) i,
	hold_try_stay('stay-' || i, i, '[2031-01-01,2031-01-03)', '1 minute') WHERE granted;
SET hold_ledger.clock_offset = '43211 min';
CALL hold_sweep_all(1);
CALL hold_sweep_all();
SELECT hold_sweep();
SELECT count(*) FROM hold_entries WHERE event = 'expired' AND token LIKE 'stay-%';
SELECT pool, expired, holds FROM hold_pool_status ORDER BY pool;
SELECT regress_ok();
