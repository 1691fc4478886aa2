-- DROP EXTENSION and CREATE EXTENSION again, and a CREATE EXTENSION that is
-- rolled back, in one session: nothing stale is used.

\set home :DBNAME
CREATE DATABASE regress_reinstall;
\connect regress_reinstall

CREATE EXTENSION hold_ledger CASCADE;
SELECT hold_pool_set('p', 5) IS NOT NULL AS made;
SELECT outcome, available FROM hold_try('ann', 'p', 2);
SELECT outcome FROM hold_consume('ann');
SELECT hold_available('p');

DROP EXTENSION hold_ledger;
\set VERBOSITY sqlstate
SELECT hold_available('p');
\set VERBOSITY default

CREATE EXTENSION hold_ledger;
SELECT count(*) FROM hold_pool_status;
SELECT hold_pool_set('p', 5) IS NOT NULL AS made;
SELECT outcome, available FROM hold_try('ann', 'p', 2);
SELECT outcome, available FROM hold_try_lines('bob', hold_lines('{p}'));
SELECT outcome FROM hold_consume('ann');
SELECT event, token, qty FROM hold_entries ORDER BY seq;
SELECT count(*) FROM hold_verify();

-- in another schema
DROP EXTENSION hold_ledger;
CREATE SCHEMA elsewhere;
CREATE EXTENSION hold_ledger SCHEMA elsewhere;
SELECT elsewhere.hold_pool_set('p', 5) IS NOT NULL AS made;
SELECT outcome, available FROM elsewhere.hold_try('ann', 'p', 2);
SELECT outcome FROM elsewhere.hold_release('ann');

-- made and rolled back
DROP EXTENSION hold_ledger;
BEGIN;
CREATE EXTENSION hold_ledger;
SELECT hold_pool_set('p', 5) IS NOT NULL AS made;
SELECT outcome, available FROM hold_try('ann', 'p', 2);
ROLLBACK;
\set VERBOSITY sqlstate
SELECT hold_available('p');
\set VERBOSITY default
CREATE EXTENSION hold_ledger;
SELECT hold_pool_set('p', 5) IS NOT NULL AS made;
SELECT outcome, available FROM hold_try('ann', 'p', 2);

-- dropped and rolled back
BEGIN;
DROP EXTENSION hold_ledger;
ROLLBACK;
SELECT outcome, available FROM hold_try('ann', 'p', 2);
SELECT outcome FROM hold_consume('ann');

-- made anew in the transaction that dropped it
BEGIN;
DROP EXTENSION hold_ledger;
CREATE EXTENSION hold_ledger;
SELECT hold_pool_set('p', 6) IS NOT NULL AS made;
SELECT outcome, available FROM hold_try('ann', 'p', 2);
COMMIT;
SELECT outcome, available FROM hold_try('ann', 'p', 2);

-- prepared statements outlive it
PREPARE available AS SELECT hold_available('p');
EXECUTE available;
DROP EXTENSION hold_ledger;
CREATE EXTENSION hold_ledger;
SELECT hold_pool_set('p', 7) IS NOT NULL AS made;
EXECUTE available;

-- DISCARD between
DISCARD ALL;
SELECT outcome, available FROM hold_try('ann', 'p', 2);

-- tables and indexes written anew, a column's statistics, an index of others'
VACUUM FULL hold_ledger;
VACUUM FULL holds;
CLUSTER hold_pools USING hold_pools_pkey;
REINDEX TABLE holds;
REINDEX INDEX hold_ledger_by_memory;
CREATE INDEX ON holds (lower(token)) WHERE qty > 0;
SELECT outcome, available FROM hold_try('ann', 'p', 1);
SELECT outcome, available FROM hold_try('bob', 'p', 1);
SELECT outcome FROM hold_consume('ann');
SELECT count(*) FROM holds WHERE lower(token) = 'bob' AND qty > 0;
SELECT count(*) FROM hold_verify();

\connect :home
DROP DATABASE regress_reinstall;
