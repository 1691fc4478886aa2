-- The ledger: what it tells of every change, and that nobody changes it.

SET hold_ledger.tenant = 'ledger';

--
-- Every event
--

SELECT hold_pool_set('p', 5) AS pool_id \gset
SELECT outcome FROM hold_try('ann', 'p', 2, '1 minute', payload => '{"cart": 1}');
SELECT outcome FROM hold_try('ann', 'p', 2, '5 minutes');
SELECT outcome FROM hold_try('ann', 'p', 3, payload => '{"cart": 2}');
SELECT outcome FROM hold_consume('ann', qty => 1, final => false, ref => 'a', reservation_id => 7);
SELECT outcome FROM hold_consume('ann', qty => 0.5, ref => 'b');
SELECT outcome FROM hold_try('bob', 'p', 1);
SELECT outcome FROM hold_release('bob');
SELECT outcome FROM hold_try('cid', 'p', 1, '1 minute');
SET hold_ledger.clock_offset = '1 min';
SELECT hold_sweep() > 0 AS swept;
RESET hold_ledger.clock_offset;
SELECT hold_pool_close('p');
SELECT hold_pool_open('p');
SELECT hold_pool_add('p', 1, 'delivery');
SELECT hold_pool_set('p', 4, now() + interval '1 hour') IS NOT NULL AS set;

SELECT seq, event, token, qty, held, consumed, capacity, regress_minutes(expires_at) AS expires_in, ref, payload, reservation_id
FROM hold_entries WHERE pool = 'p' ORDER BY seq;
SELECT DISTINCT pool, stripe, room_id, stay, actor = session_user AS me FROM hold_entries WHERE pool = 'p';

--
-- What changes nothing writes nothing
--

SELECT count(*) AS before FROM hold_entries \gset
SELECT hold_pool_set('p', 4) IS NOT NULL AS set;
SELECT hold_pool_open('p');
SELECT hold_pool_add('p', 1, 'delivery');
SELECT outcome FROM hold_try('dan', 'p', 9);
SELECT outcome FROM hold_try_lines('dan', hold_lines('{p,p}', '{2,2}'));
SELECT outcome FROM hold_try('ann', 'p');
SELECT outcome FROM hold_consume('ann');
SELECT outcome FROM hold_release('bob');
SELECT outcome FROM hold_renew('bob');
SELECT outcome FROM hold_consume('nobody');
SELECT hold_sweep() >= 0 AS swept;
SELECT count(*) - :before AS more FROM hold_entries;

--
-- Numbers without a gap, in the order of commits, also where a part is rolled back
--

BEGIN;
SELECT outcome FROM hold_try('eve', 'p', 0.5);
SAVEPOINT s;
SELECT outcome FROM hold_try('fay', 'p', 0.5);
ROLLBACK TO s;
SELECT outcome FROM hold_try('gus', 'p', 0.5);
COMMIT;
BEGIN;
SELECT outcome FROM hold_release('eve');
ROLLBACK;
SELECT outcome FROM hold_release('gus');
SELECT event, token, held FROM hold_entries WHERE pool = 'p' ORDER BY seq DESC LIMIT 3;
SELECT min(seq), max(seq) = count(*) AS without_a_gap, count(DISTINCT seq) = count(*) AS once_each
FROM hold_entries WHERE pool = 'p';

-- times never run backwards, whatever the clock does
SET hold_ledger.clock_offset = '1 h';
SELECT hold_pool_add('p', 1);
SET hold_ledger.clock_offset = '-1 h';
SELECT hold_pool_add('p', 1);
RESET hold_ledger.clock_offset;
SELECT hold_pool_add('p', 1);
SELECT count(*) FILTER (WHERE at < last) AS backwards, count(*) FILTER (WHERE at = last) >= 2 AS stood_still
FROM (SELECT at, lag(at) OVER (ORDER BY seq) AS last FROM hold_entries WHERE pool = 'p') e;

-- adding up gives the balances of each entry
SELECT count(*) AS wrong FROM (
	SELECT consumed, sum(qty) FILTER (WHERE event = 'consumed') OVER (ORDER BY seq) AS sum
	FROM hold_entries WHERE pool = 'p') e
WHERE consumed <> COALESCE(sum, 0);
SELECT regress_ok();

--
-- Append only: not even its owner changes it, by whatever statement
--

SELECT count(*) AS entries FROM hold_ledger \gset
CREATE FUNCTION pg_temp.refused(statement text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RAISE EXCEPTION 'was not refused';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE TEMP TABLE statements (number serial, statement text);
INSERT INTO statements (statement) VALUES
	('UPDATE hold_ledger SET qty = 0'),
	('UPDATE hold_ledger SET qty = qty WHERE false'),
	('DELETE FROM hold_ledger'),
	('TRUNCATE hold_ledger'),
	('TRUNCATE hold_ledger, holds'),
	('MERGE INTO hold_ledger l USING (SELECT 1) s ON l.seq = 1 WHEN MATCHED THEN UPDATE SET qty = 0'),
	('MERGE INTO hold_ledger l USING (SELECT 1) s ON l.seq = 1 WHEN MATCHED THEN DELETE'),
	('WITH d AS (DELETE FROM hold_ledger RETURNING *) SELECT count(*) FROM d'),
	('INSERT INTO hold_ledger SELECT * FROM hold_ledger ON CONFLICT (pool_id, seq) DO UPDATE SET qty = 0'),
	('DELETE FROM hold_pools'),
	('TRUNCATE hold_pools'),
	('TRUNCATE hold_pools CASCADE');
SELECT pg_temp.refused(statement) AS answer, statement FROM statements ORDER BY number;

-- nor where triggers are off for others
SET session_replication_role = replica;
SELECT pg_temp.refused(statement) AS answer, statement FROM statements ORDER BY number;
RESET session_replication_role;
SELECT count(*) = :entries AS all_there FROM hold_ledger;

-- in full, as its owner sees it
DELETE FROM hold_ledger;
\echo :LAST_ERROR_SQLSTATE

-- an application may not even try
CREATE ROLE regress_app;
SELECT hold_grant_access('regress_app', 'app');
GRANT SELECT ON statements TO regress_app;
SET ROLE regress_app;
SELECT pg_temp.refused(statement) AS answer, statement FROM statements ORDER BY number;
RESET ROLE;
DROP OWNED BY regress_app;
DROP ROLE regress_app;

-- the trigger's function is for triggers
SELECT hold_refuse_change();
\echo :LAST_ERROR_SQLSTATE
