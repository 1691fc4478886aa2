-- One statement, one transaction: each call sees what the calls before it did.

SET hold_ledger.tenant = 'snapshots';

--
-- Many calls in one statement
--

SELECT hold_pool_set('p', 3) IS NOT NULL AS made;
SELECT i, outcome, available FROM generate_series(1, 5) i, hold_try('t' || i, 'p', 1, '60 s') ORDER BY i;
SELECT held, holds, available FROM hold_pool_status WHERE pool = 'p';
SELECT outcome, count(*) FROM generate_series(1, 5) i, hold_consume('t' || i) GROUP BY outcome ORDER BY outcome;
SELECT consumed, held, available FROM hold_pool_status WHERE pool = 'p';

-- in the select list, too
SELECT hold_pool_set('q', 3) IS NOT NULL AS made;
SELECT i, (hold_try('t' || i, 'q', 1, '60 s')).outcome FROM generate_series(1, 5) i ORDER BY i;
SELECT i, (hold_try_lines('t' || i, hold_lines('{q}'))).outcome FROM generate_series(1, 5) i ORDER BY i;

-- the same token several times: one hold
SELECT hold_pool_set('r', 3) IS NOT NULL AS made;
SELECT i, outcome, version
FROM (VALUES (1, 'same'), (2, 'same'), (3, 'same')) v (i, token), hold_try(token, 'r', 1, '60 s') ORDER BY i;
SELECT i, outcome, qty FROM generate_series(1, 3) i, hold_try('same', 'r', i, '60 s') ORDER BY i;
SELECT held, holds FROM hold_pool_status WHERE pool = 'r';

-- a pool that the first of them makes
SELECT i, outcome, available FROM generate_series(1, 4) i, hold_try('t' || i, 'new', 1, '60 s', budget => 2) ORDER BY i;

-- WITH: each part sees those before it
WITH held AS MATERIALIZED (
	SELECT outcome FROM hold_try('cte', 's', 1, '60 s', budget => 1)
), consumed AS MATERIALIZED (
	SELECT c.outcome FROM held, hold_consume('cte') c
)
SELECT h.outcome AS held, c.outcome AS consumed FROM held h, consumed c;
SELECT consumed, held FROM hold_pool_status WHERE pool = 's';

-- consumed in the statement that held it
SELECT hold_pool_set('u', 3) IS NOT NULL AS made;
SELECT t.outcome, c.outcome, c.consumed FROM hold_try('x', 'u', 2, '60 s') t, hold_consume('x') c;

-- a reader sees what its statement's snapshot shows: the next statement's is newer
SELECT outcome, hold_available('u') FROM hold_try('y', 'u', 1, '60 s');
SELECT hold_available('u');

-- a volatile function sees at once what it did
CREATE FUNCTION pg_temp.take(token text) RETURNS numeric
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM hold_try(token, 'v', 1);
	RETURN hold_available('v');
END
$$;
SELECT hold_pool_set('v', 5) IS NOT NULL AS made;
SELECT i, pg_temp.take('z' || i) FROM generate_series(1, 3) i ORDER BY i;

-- a function that is declared STABLE: never too much, never too little
CREATE FUNCTION pg_temp.take_in_stable(token text) RETURNS hold_outcome STABLE
LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT outcome FROM hold_try(token, 'w', 1)); END $$;
SELECT hold_pool_set('w', 3) IS NOT NULL AS made;
SELECT i, pg_temp.take_in_stable('t' || i) FROM generate_series(1, 5) i ORDER BY i;
SELECT held, holds, available FROM hold_pool_status WHERE pool = 'w';

-- from a trigger
SELECT hold_pool_set('x', 3) IS NOT NULL AS made;
CREATE TEMP TABLE cart (token text, outcome hold_outcome);
CREATE FUNCTION pg_temp.hold_for_cart() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	SELECT outcome INTO new.outcome FROM hold_try(new.token, 'x', 1, '60 s');
	RETURN new;
END
$$;
CREATE TRIGGER hold_for_cart BEFORE INSERT ON cart FOR EACH ROW EXECUTE FUNCTION pg_temp.hold_for_cart();
INSERT INTO cart SELECT 't' || i FROM generate_series(1, 5) i;
SELECT * FROM cart ORDER BY token;

-- in a cursor, in a prepared statement
PREPARE take AS SELECT outcome, available FROM hold_try($1, 'u2', $2, budget => $3);
EXECUTE take('a', 1, 2);
EXECUTE take('b', 1, 2);
EXECUTE take('c', 1, 2);
BEGIN;
DECLARE taken CURSOR FOR SELECT i, outcome FROM generate_series(1, 5) i, hold_try('cursor' || i, 'u3', 1, budget => 2);
FETCH 1 FROM taken;
FETCH 1 FROM taken;
FETCH 1 FROM taken;
CLOSE taken;
COMMIT;
SELECT regress_ok();

--
-- One transaction: everything or nothing
--

SELECT hold_pool_set('y', 3) IS NOT NULL AS made;
BEGIN;
SELECT outcome, available FROM hold_try('ann', 'y', 2);
SELECT hold_available('y');
SELECT outcome, available FROM hold_try('ann', 'y', 1);
SELECT outcome FROM hold_consume('ann');
SELECT consumed, held, available FROM hold_pool_status WHERE pool = 'y';
ROLLBACK;
SELECT consumed, held, available FROM hold_pool_status WHERE pool = 'y';
SELECT outcome FROM hold_consume('ann');

-- savepoints
BEGIN;
SELECT outcome FROM hold_try('bob', 'y', 1);
SAVEPOINT one;
SELECT outcome FROM hold_try('bob', 'y', 2);
SAVEPOINT two;
SELECT outcome FROM hold_consume('bob');
ROLLBACK TO two;
SELECT qty, state FROM hold_get('bob');
ROLLBACK TO one;
SELECT qty, state FROM hold_get('bob');
SELECT outcome FROM hold_renew('bob');
COMMIT;
SELECT qty, state, version FROM hold_get('bob');
SELECT seq, event, qty, held FROM hold_pool_history('y');

-- an error takes back its own statement alone
BEGIN;
SELECT outcome FROM hold_try('cid', 'y', 1);
SAVEPOINT one;
SELECT outcome FROM hold_try_lines('cid', hold_lines('{y,nowhere}'));
ROLLBACK TO one;
COMMIT;
SELECT qty, state FROM hold_get('cid');

-- a pool that was made in what is rolled back is gone, its name can be made again
BEGIN;
SELECT outcome FROM hold_try('dan', 'made', 1, budget => 1);
ROLLBACK;
SELECT hold_available('made');
SELECT outcome FROM hold_try('dan', 'made', 1, budget => 1);

-- a prepared transaction
BEGIN;
SELECT outcome FROM hold_try('eve', 'y', 1);
PREPARE TRANSACTION 'regress_snapshots';
SELECT count(*) FROM hold_get('eve');
COMMIT PREPARED 'regress_snapshots';
SELECT qty, state FROM hold_get('eve');

SELECT regress_ok();

--
-- The stricter levels: the same in a transaction of their own
--

SELECT hold_pool_set('z', 3) IS NOT NULL AS made;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT i, outcome, available FROM generate_series(1, 5) i, hold_try('rr' || i, 'z', 1) ORDER BY i;
SELECT outcome FROM hold_consume('rr1');
SELECT outcome FROM hold_release('rr2');
SELECT outcome FROM hold_try('rr4', 'z', 1);
SELECT consumed, held, available FROM hold_pool_status WHERE pool = 'z';
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT outcome FROM hold_release('rr3');
SELECT outcome FROM hold_try('rr5', 'z', 1);
SELECT outcome, pool FROM hold_try_lines('rr5', hold_lines('{z,z2}', NULL, '{9,9}'));
SELECT outcome FROM hold_consume('rr5');
COMMIT;
SELECT pool, consumed, held, available FROM hold_pool_status WHERE pool LIKE 'z%' ORDER BY pool;
SELECT regress_ok();
