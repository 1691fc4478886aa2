-- hold_verify: names every disagreement between counters, holds and ledger.
-- Each is made by hand, seen, and rolled back.

SET hold_ledger.tenant = 'verify';

SELECT hold_pool_set('p', 10) AS pool_id \gset
SELECT hold_pool_set('q', 10) AS other_id \gset
SELECT outcome FROM hold_try('ann', 'p', 3, '1 hour', payload => '1');
SELECT outcome FROM hold_try('bob', 'p', 2, '2 hours');
SELECT outcome FROM hold_consume('bob', qty => 0.5, final => false, ref => 'a');
SELECT outcome FROM hold_try('cid', 'p', 1);
SELECT outcome FROM hold_consume('cid');
SELECT outcome FROM hold_try('dan', 'p', 1);
SELECT outcome FROM hold_release('dan');
SELECT outcome FROM hold_renew('ann', '1 hour');
SELECT outcome FROM hold_try('ann', 'q', 1);
SELECT regress_ok();

-- What verify says of pool p or q when a statement has been run.
CREATE FUNCTION pg_temp.broken(statement text, pool_id bigint, other_id bigint)
RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
	problems text[];
BEGIN
	EXECUTE replace(replace(statement, ':pool_id', pool_id::text), ':other_id', other_id::text);
	SELECT array_agg(DISTINCT v.problem COLLATE "C" ORDER BY v.problem COLLATE "C") INTO problems
	FROM hold_verify() v WHERE v.pool_id IN (broken.pool_id, broken.other_id, -1);
	RAISE EXCEPTION 'take it back' USING ERRCODE = 'ZZZZZ';
EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
	RETURN problems;
END
$$;

CREATE TEMP TABLE breaks (number serial, statement text);
INSERT INTO breaks (statement) VALUES
	-- counters
	('UPDATE hold_pools SET held = held + 1 WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET consumed = consumed - 1 WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET capacity = capacity + 1 WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET capacity = NULL WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET seq = seq + 1 WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET last_at = last_at - interval ''1 s'' WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET next_expiry = ''infinity'' WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET lease_end = now() WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET first_seq = 3 WHERE pool_id = :pool_id'),
	('UPDATE hold_pools SET generation = 2 WHERE pool_id = :pool_id'),
	('DELETE FROM hold_pools WHERE pool_id = :pool_id'),
	-- holds
	('UPDATE holds SET qty = qty + 1 WHERE pool_id = :pool_id AND token = ''ann'''),
	('UPDATE holds SET qty = 9223372036854775807 WHERE pool_id = :pool_id'),
	('UPDATE holds SET consumed = 0 WHERE pool_id = :pool_id AND token = ''bob'''),
	('UPDATE holds SET expires_at = expires_at + interval ''1 day'' WHERE pool_id = :pool_id AND token = ''ann'''),
	('UPDATE holds SET token = ''eve'' WHERE pool_id = :pool_id AND token = ''ann'''),
	('UPDATE holds SET token_key = token_key + 1 WHERE pool_id = :pool_id AND token = ''ann'''),
	('UPDATE holds SET pool_id = :other_id WHERE pool_id = :pool_id AND token = ''bob'''),
	('UPDATE holds SET pool_id = -1 WHERE pool_id = :pool_id AND token = ''bob'''),
	('UPDATE holds SET generation = 2 WHERE pool_id = :pool_id AND token = ''ann'''),
	('DELETE FROM holds WHERE pool_id = :pool_id AND token = ''ann'''),
	('INSERT INTO holds SELECT * FROM holds WHERE pool_id = :pool_id AND token = ''ann'''),
	('INSERT INTO holds SELECT pool_id, qty, consumed, expires_at, held_since, 7, version, generation, ''fay'' FROM holds WHERE pool_id = :pool_id AND token = ''ann'''),
	-- ledger
	('DELETE FROM hold_ledger WHERE pool_id = :pool_id AND seq = 4'),
	('DELETE FROM hold_ledger WHERE pool_id = :pool_id AND seq = (SELECT max(seq) FROM hold_ledger WHERE pool_id = :pool_id)'),
	('DELETE FROM hold_ledger WHERE pool_id = :pool_id'),
	('INSERT INTO hold_ledger SELECT * FROM hold_ledger WHERE pool_id = :pool_id AND seq = 4'),
	('UPDATE hold_ledger SET qty = qty + 1 WHERE pool_id = :pool_id AND seq = 2'),
	('UPDATE hold_ledger SET qty = qty - 1 WHERE pool_id = :pool_id AND event = ''consumed'' AND token = ''bob'''),
	('UPDATE hold_ledger SET held = held + 1 WHERE pool_id = :pool_id AND seq = 3'),
	('UPDATE hold_ledger SET consumed = consumed + 1 WHERE pool_id = :pool_id AND seq = 4'),
	('UPDATE hold_ledger SET at = at + interval ''1 day'' WHERE pool_id = :pool_id AND seq = 3'),
	('UPDATE hold_ledger SET event = ''released'' WHERE pool_id = :pool_id AND event = ''consumed'' AND token = ''cid'''),
	('UPDATE hold_ledger SET token = ''eve'' WHERE pool_id = :pool_id AND token = ''ann'' AND event = ''renewed'''),
	('UPDATE hold_ledger SET token = ''eve'' WHERE pool_id = :pool_id AND token = ''cid'' AND event = ''consumed'''),
	('UPDATE hold_ledger SET remaining = 0 WHERE pool_id = :pool_id AND token = ''bob'' AND event = ''consumed'''),
	('UPDATE hold_ledger SET memory_key = NULL WHERE pool_id = :pool_id AND token = ''cid'' AND event = ''consumed'''),
	('UPDATE hold_ledger SET pool_id = -1 WHERE pool_id = :pool_id AND seq = 1');

ALTER TABLE hold_ledger DISABLE TRIGGER append_only;
ALTER TABLE hold_pools DISABLE TRIGGER keep_pools;

CREATE TEMP TABLE found AS
SELECT number, pg_temp.broken(statement, :pool_id, :other_id) AS problems, statement FROM breaks;

-- none of them goes unseen
SELECT statement FROM found WHERE problems IS NULL ORDER BY number;

-- and this is what it is called
\pset format unaligned
SELECT number, problems FROM found ORDER BY number;
\pset format aligned

-- more granted than there was
BEGIN;
UPDATE hold_ledger SET capacity = 2000000 WHERE pool_id = :pool_id;
UPDATE hold_pools SET capacity = 2000000 WHERE pool_id = :pool_id;
SELECT problem, pool, expected, found FROM hold_verify() WHERE pool_id = :pool_id;
ROLLBACK;

-- numbers are in millionths
BEGIN;
UPDATE hold_pools SET held = held + 1 WHERE pool_id = :pool_id;
SELECT problem, pool, expected, found FROM hold_verify() WHERE pool_id = :pool_id AND problem LIKE 'held%';
ROLLBACK;

ALTER TABLE hold_ledger ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE hold_pools ENABLE ALWAYS TRIGGER keep_pools;

-- what was lowered on purpose is no disagreement, nor what is closed or dropped
SELECT hold_pool_set('p', 1) IS NOT NULL AS set;
SELECT hold_pool_close('p');
SELECT hold_pool_set('r', 1) IS NOT NULL AS made;
SELECT hold_pool_drop('r');
SELECT count(*) FROM hold_verify();
SELECT regress_ok();
