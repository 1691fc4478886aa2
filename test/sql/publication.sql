-- Logical replication: the ledger can be published, the other tables cannot.

SET hold_ledger.tenant = 'publication';
SELECT hold_pool_set('p', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ann', 'p', 1);

-- no warning that wal_level is not logical
SET client_min_messages = error;

-- the ledger as a stream of events
CREATE PUBLICATION regress_events FOR TABLE hold_ledger WITH (publish = 'insert');
SELECT outcome FROM hold_try('bob', 'p', 1);
SELECT outcome FROM hold_consume('bob');
SELECT hold_pool_add('p', 1);
SELECT hold_sweep() >= 0 AS swept;
DROP PUBLICATION regress_events;

-- a publication that would send what is updated or deleted in the other tables
CREATE PUBLICATION regress_all FOR ALL TABLES;
SELECT outcome FROM hold_try('cid', 'p', 1);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY sqlstate
SELECT outcome FROM hold_try('cid', 'p', 99);
SELECT hold_try_lines('cid', hold_lines('{p}'));
SELECT hold_renew('ann');
SELECT hold_consume('ann');
SELECT hold_release('ann');
SELECT hold_pool_set('p', 5);
SELECT hold_pool_add('p', 1);
SELECT hold_pool_close('p');
SELECT hold_pool_open('p');
SELECT hold_pool_drop('p');
SELECT hold_sweep();
CALL hold_sweep_all();
\set VERBOSITY default

-- reads work
SELECT hold_available('p'), hold_count('p');
SELECT pool, state FROM hold_get('ann');
SELECT pool, available FROM hold_pool_status;
SELECT count(*) FROM hold_verify();
DROP PUBLICATION regress_all;

-- nothing was left behind
SELECT seq, event, token FROM hold_entries ORDER BY seq;
SELECT outcome FROM hold_try('cid', 'p', 1);

-- by schema or one by one it is the same
CREATE PUBLICATION regress_schema FOR TABLES IN SCHEMA public;
SELECT outcome FROM hold_try('dan', 'p', 1);
DROP PUBLICATION regress_schema;
CREATE PUBLICATION regress_pools FOR TABLE hold_pools;
SELECT outcome FROM hold_try('dan', 'p', 1);
DROP PUBLICATION regress_pools;
CREATE PUBLICATION regress_holds FOR TABLE holds WITH (publish = 'delete');
SELECT outcome FROM hold_try('dan', 'p', 1);
DROP PUBLICATION regress_holds;
SELECT outcome FROM hold_try('dan', 'p', 1);
RESET client_min_messages;

SELECT regress_ok();
