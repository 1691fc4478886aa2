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

SELECT * FROM hold_verify();
