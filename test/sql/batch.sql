-- The batches: many independent requests, each judged on its own.

SET hold_ledger.tenant = 'batch';

SELECT hold_pool_set('p', 3) IS NOT NULL AS made;
SELECT hold_pool_set('q', 1) IS NOT NULL AS made;

-- answers stand in the order of the requests; a refusal refuses no other
SELECT * FROM (SELECT line, outcome, pool, qty, available FROM hold_try_batch(ARRAY[
	ROW('ann', 'q', 1, NULL, NULL, NULL)::hold_request,
	ROW('bob', 'p', 2, '5 minutes', NULL, '{"cart": 2}')::hold_request,
	ROW('bob', 'q', 1, NULL, NULL, NULL)::hold_request,
	ROW('cid', 'p', 2, NULL, NULL, NULL)::hold_request,
	ROW('dan', 'p', NULL, NULL, NULL, NULL)::hold_request])) answers;
SELECT pool, qty, payload FROM hold_get('bob');

-- the same token and pool twice: the second is an answer to the first
SELECT line, outcome, pool, qty FROM hold_try_batch(ARRAY[
	ROW('ann', 'q', 1, NULL, NULL, NULL)::hold_request,
	ROW('ann', 'q', 1, NULL, NULL, NULL)::hold_request]);

-- an error names its request, and nothing of the batch remains
SELECT outcome, pool FROM hold_release('bob');
SELECT * FROM hold_try_batch(ARRAY[
	ROW('eve', 'p', 1, NULL, NULL, NULL)::hold_request,
	ROW('eve', 'nowhere', 1, NULL, NULL, NULL)::hold_request]);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM hold_try_batch(ARRAY[
	ROW('eve', 'p', -1, NULL, NULL, NULL)::hold_request]);
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM hold_get('eve');

-- consumed together, in part and in whole; unknown tokens are told
SELECT line, outcome, pool, qty, consumed, refunded, reservation_id
FROM hold_consume_batch('{dan,nobody,ann}', '{NULL,NULL,1}');
SELECT line, outcome, consumed FROM hold_consume_batch('{dan,ann}');

-- nothing to do, and nonsense
SELECT count(*) FROM hold_try_batch('{}');
SELECT count(*) FROM hold_consume_batch('{}');
SELECT count(*) FROM hold_try_batch(NULL);
SELECT count(*) FROM hold_consume_batch(NULL);
SELECT * FROM hold_try_batch(ARRAY[NULL]::hold_request[]);
SELECT * FROM hold_consume_batch('{NULL}');
SELECT * FROM hold_consume_batch('{a,b}', '{1}');
SELECT * FROM hold_consume_batch('{a,b}', refs => '{x}');
SELECT * FROM hold_try_batch(array_fill(ROW('a', 'p', 1, NULL, NULL, NULL)::hold_request, '{10001}'));
\echo :LAST_ERROR_SQLSTATE

-- a number that is none, and a key that is none
SELECT * FROM hold_try_batch(ARRAY[ROW('a', 'p', 'NaN', NULL, NULL, NULL)::hold_request]);
SELECT * FROM hold_try_batch(ARRAY[ROW('', 'p', 1, NULL, NULL, NULL)::hold_request]);
SELECT * FROM hold_try_batch(ARRAY[ROW('a', NULL, 1, NULL, NULL, NULL)::hold_request]);
SELECT * FROM hold_consume_batch('{a}', '{NaN}');

-- a request that gives units back makes room for the next one, in request order
SELECT hold_pool_set('r', 2) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ann', 'r', 2);
SELECT line, outcome, available FROM hold_try_batch(ARRAY[
	ROW('bob', 'r', 1, NULL, NULL, NULL)::hold_request,
	ROW('ann', 'r', 1, NULL, NULL, NULL)::hold_request,
	ROW('bob', 'r', 1, NULL, NULL, NULL)::hold_request,
	ROW('cid', 'r', 1, NULL, NULL, NULL)::hold_request]);

-- a batch of refusals writes and locks nothing
BEGIN;
SELECT line, outcome FROM hold_try_batch(ARRAY[
	ROW('bob', 'q', 1, NULL, NULL, NULL)::hold_request,
	ROW('dan', 'r', 1, NULL, NULL, NULL)::hold_request]);
SELECT line, outcome FROM hold_consume_batch('{nobody}');
SELECT pg_current_xact_id_if_assigned() IS NULL AS wrote_nothing;
COMMIT;

-- pools that a budget makes: by who is granted something, and by nobody else
SELECT line, outcome, pool FROM hold_try_batch(ARRAY[
	ROW('ann', 'z', 1, NULL, 1, NULL)::hold_request,
	ROW('ann', 'y', 2, NULL, 1, NULL)::hold_request,
	ROW('bob', 'z', 1, NULL, 1, NULL)::hold_request,
	ROW('bob', 'x', 1, NULL, 1, NULL)::hold_request]);
SELECT pool FROM hold_pool_status WHERE pool IN ('x', 'y', 'z') ORDER BY pool;

-- one snapshot, and a savepoint that rolls back
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT line, outcome, qty FROM hold_consume_batch('{bob,bob}');
SAVEPOINT here;
SELECT line, outcome, pool FROM hold_try_batch(ARRAY[
	ROW('eve', 'r', 1, NULL, NULL, NULL)::hold_request,
	ROW('eve', 'w', 1, NULL, 1, NULL)::hold_request,
	ROW('eve', 'w', 1, NULL, 1, NULL)::hold_request]);
SELECT line, outcome, pool FROM hold_consume_batch('{ann,cid}');
ROLLBACK TO here;
SELECT line, outcome, pool FROM hold_consume_batch('{ann,eve}');
COMMIT;
SELECT pool, consumed, held FROM hold_pool_status ORDER BY pool;

SELECT * FROM hold_verify();

--
-- The counters of a pool are written once, whatever is asked of it
--

SELECT hold_pool_set('often', 3) IS NOT NULL AND hold_pool_set('seldom', 3) IS NOT NULL AS made;
BEGIN;
SELECT n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'hold_pools' \gset before_
SELECT line, outcome, available FROM hold_try_batch(ARRAY[
	ROW('o1', 'often', 1, NULL, NULL, NULL), ROW('o2', 'often', 1, NULL, NULL, NULL),
	ROW('s1', 'seldom', 1, NULL, NULL, NULL), ROW('o1', 'often', 2, NULL, NULL, NULL),
	ROW('o3', 'often', 1, NULL, NULL, NULL)]::hold_request[]);
SELECT n_tup_upd - :before_n_tup_upd AS written FROM pg_stat_xact_user_tables WHERE relname = 'hold_pools';
SELECT line, outcome, held FROM hold_consume_batch('{o1,o2,o1}', '{1,NULL,NULL}', '{r,NULL,NULL}');
SELECT n_tup_upd - :before_n_tup_upd AS written FROM pg_stat_xact_user_tables WHERE relname = 'hold_pools';
COMMIT;
SELECT pool, seq, event, qty, held, consumed FROM hold_entries WHERE pool IN ('often', 'seldom') ORDER BY pool, seq;

-- a function that tells a capacity sees what the requests before it wrote, and
-- its own errors pass as they are
CREATE FUNCTION regress_by_holds(pool text) RETURNS numeric STABLE
LANGUAGE plpgsql AS $$
BEGIN
	IF pool = 'told:broken' THEN
		RAISE EXCEPTION 'out of order';
	END IF;
	RETURN 2 * (SELECT coalesce(sum(held), 0) FROM public.hold_pool_status s WHERE s.pool = $1) + 1;
END $$;
SELECT hold_class_set('told', capacity_from => 'regress_by_holds(text)');
SELECT line, outcome, available FROM hold_try_batch(ARRAY[
	ROW('t1', 'told:1', 1, NULL, NULL, NULL), ROW('t2', 'told:1', 2, NULL, NULL, NULL),
	ROW('t3', 'told:1', 4, NULL, NULL, NULL), ROW('t4', 'told:1', 1, NULL, NULL, NULL)]::hold_request[]);
SELECT FROM hold_try_batch(ARRAY[ROW('t1', 'told:broken', 1, NULL, NULL, NULL)]::hold_request[]);
SELECT * FROM hold_verify();

-- a pool that a request makes is known to those after it
SELECT line, outcome, available FROM hold_try_batch(ARRAY[
	ROW('t', 'made', 1, NULL, 5, NULL), ROW('u', 'made', 2, NULL, 5, NULL), ROW('t', 'made', 1, NULL, NULL, NULL)]::hold_request[]);
SELECT line, outcome FROM hold_try_batch(ARRAY[
	ROW('t', 'made 2', 1, NULL, 5, NULL), ROW('u', 'made 2', 2, NULL, NULL, NULL)]::hold_request[]);
\echo :LAST_ERROR_SQLSTATE
SELECT line, outcome FROM hold_try_batch(ARRAY[
	ROW('t', 'made 3', 1, NULL, 5, NULL), ROW('u', 'nowhere', 2, NULL, NULL, NULL)]::hold_request[]);
SELECT line, outcome FROM hold_try_batch(ARRAY[ROW('u', 'nowhere', 2, NULL, NULL, NULL)]::hold_request[]);
\echo :LAST_ERROR_SQLSTATE
SELECT pool FROM hold_pool_status WHERE pool ~ '^made' ORDER BY pool;

-- so is what an earlier request settled: then a quantity is no mistake
SELECT hold_pool_set('two 1', 5) IS NOT NULL AND hold_pool_set('two 2', 5) IS NOT NULL AS made;
SELECT count(*) FROM hold_try_lines('both', hold_lines('{two 1,two 2}'));
SELECT line, pool, outcome, consumed FROM hold_consume_batch('{both}', '{0.5}');
\echo :LAST_ERROR_SQLSTATE
SELECT line, pool, outcome, consumed FROM hold_consume_batch('{both,both}', '{NULL,0.5}', '{r,s}') ORDER BY line, pool;

-- all requests are judged as of one moment
SELECT hold_pool_set('moment', 1000) IS NOT NULL AS made;
SELECT count(*), count(DISTINCT expires_at) FROM hold_try_batch(ARRAY(
	SELECT ROW('m' || n, 'moment', 1, NULL, NULL, NULL)::hold_request FROM generate_series(1, 500) n));
SELECT count(*), count(DISTINCT at) FROM hold_consume_batch(ARRAY(SELECT 'm' || n FROM generate_series(1, 500) n));

-- what is refused in any case asks no function, in a batch or alone
SELECT outcome, available FROM hold_try_batch(ARRAY[ROW('t1', 'told:9', 1, NULL, NULL, NULL)]::hold_request[]);
SELECT outcome FROM hold_consume('t1', 'told:9');
SELECT outcome, available FROM hold_try('t1', 'told:9');
SELECT outcome, available FROM hold_try_batch(ARRAY[ROW('t1', 'told:9', 1, NULL, NULL, NULL)]::hold_request[]);
SELECT hold_pool_close('told:9');
SELECT outcome, available FROM hold_try('t2', 'told:9');
SELECT outcome, available FROM hold_try_batch(ARRAY[ROW('t2', 'told:9', 1, NULL, NULL, NULL)]::hold_request[]);

-- a refusal makes no pool, whatever is granted beside it
CREATE TABLE regress_stock (p text PRIMARY KEY, n numeric);
INSERT INTO regress_stock VALUES ('stock:none', 0), ('stock:some', 5);
CREATE FUNCTION regress_in_stock(pool text) RETURNS numeric LANGUAGE sql STABLE AS
	$$ SELECT n FROM public.regress_stock WHERE p = pool $$;
SELECT hold_class_set('stock', capacity_from => 'regress_in_stock(text)', stripes => 4);
SELECT hold_class_set('gone', 10);
SELECT outcome FROM hold_try('t1', 'gone:1', 8);
SELECT outcome FROM hold_consume('t1', 'gone:1');
SELECT hold_pool_drop('gone:1');
SELECT line, outcome, available FROM hold_try_batch(ARRAY[
	ROW('t1', 'stock:none', 1, NULL, NULL, NULL), ROW('t2', 'moment', 1, NULL, NULL, NULL),
	ROW('t3', 'stock:some', 3, NULL, NULL, NULL), ROW('t4', 'stock:some', 3, NULL, NULL, NULL),
	ROW('t1', 'gone:1', 8, NULL, NULL, NULL)]::hold_request[]);
SELECT pool FROM hold_pool_status WHERE pool ~ '^(stock|gone):' ORDER BY pool;
-- what was consumed there is remembered, whatever is asked for now
SELECT outcome FROM hold_try('t1', 'gone:1', 8);
SELECT outcome FROM hold_try('t1', 'gone:1', 1);
SELECT outcome FROM hold_try('t2', 'gone:1', 8);
SELECT pool, outcome FROM hold_try_lines('t1', hold_lines('{gone:1,moment}', '{8,1}'));
SELECT * FROM hold_verify();
DROP FUNCTION regress_in_stock;
DROP TABLE regress_stock;
