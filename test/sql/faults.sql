-- Faults that were found once, one block each: they must not come back.
SET hold_ledger.tenant = 'faults';

--
-- A client's option outranks the tenant that a role was given, is thrown away
-- when the library is loaded, and must not take the tenant with it
--
CREATE ROLE regress_faults LOGIN;
ALTER ROLE regress_faults SET hold_ledger.tenant = 'faults_fenced';
ALTER ROLE regress_faults SET hold_ledger.max_ttl = '5 s';
SELECT hold_grant_access('regress_faults', 'operator');
SELECT current_user AS boss \gset
\setenv PGOPTIONS '-c hold_ledger.tenant=faults -c hold_ledger.max_ttl=100d'
\c - regress_faults
SET client_min_messages = error;
BEGIN;
SELECT outcome FROM hold_try('a', 'p', 1, '1 day', budget => 1);
ROLLBACK;
SELECT hold_tenant();
SHOW hold_ledger.max_ttl;
\setenv PGOPTIONS ''
\c - :boss
SET hold_ledger.tenant = 'faults';
SET client_min_messages = error;
DROP OWNED BY regress_faults;
DROP ROLE regress_faults;
RESET client_min_messages;

--
-- What is promised can be far above a capacity that is set later: no wrap
--
SELECT hold_pool_set('wide', NULL) IS NOT NULL AS made;
SELECT count(*) FROM generate_series(1, 9) i,
	LATERAL hold_try('w' || i, 'wide', 999999999999.999999, budget => 999999999999.999999) t,
	LATERAL hold_consume(CASE WHEN (t).granted THEN 'w' || i END) c WHERE c.outcome = 'consumed';
SELECT outcome FROM hold_try('w', 'wide', 999999999999.999999, budget => 999999999999.999999);
SELECT hold_pool_set('wide', 5) IS NOT NULL AS made;
SELECT hold_available('wide'), available, consumed, held FROM hold_pool_status WHERE pool = 'wide';
SELECT outcome, available FROM hold_try('late', 'wide', 1);
SELECT outcome FROM hold_consume('w');
SELECT count(*) FROM hold_verify();

--
-- A lease that has begun before does not begin again
--
SELECT hold_pool_set('lease', 10) IS NOT NULL AS made;
SELECT hold_pool_renew('lease', 5, '2999-01-01'), hold_pool_renew('lease', 6, '2999-02-01');
SELECT outcome FROM hold_try('l', 'lease', 6);
SELECT hold_pool_renew('lease', 5, '2999-01-01');
SELECT generation, capacity, held FROM hold_pool_status WHERE pool = 'lease';

--
-- A trim that cuts between a token's entries leaves what it took
--
BEGIN;
SELECT hold_pool_set('trimmed', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('t', 'trimmed', 3);
SELECT outcome FROM hold_consume('t');
SET LOCAL hold_ledger.clock_offset = '390 d';
SELECT outcome, refunded FROM hold_return('t', qty => 1, ref => 'r');
SET LOCAL hold_ledger.clock_offset = '410 d';
SELECT hold_trim() > 0 AS trimmed;
SELECT consumed, state FROM hold_get('t');
SELECT outcome, consumed FROM hold_consume('t');
SELECT outcome, refunded FROM hold_return('t', qty => 1, ref => 'r');
SELECT outcome FROM hold_try('t', 'trimmed');
SELECT outcome, refunded FROM hold_return('t');
SELECT outcome FROM hold_try('t', 'trimmed');
SELECT count(*) FROM hold_verify();
ROLLBACK;

--
-- The guard follows a row to its newest version, and sees a single statement
--
CREATE TABLE regress_guarded (id int, token text, n int);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON regress_guarded
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('token');
\set VERBOSITY sqlstate
INSERT INTO regress_guarded VALUES (1, 'nobody');
BEGIN;
INSERT INTO regress_guarded VALUES (1, 'nobody');
UPDATE regress_guarded SET n = 1;
COMMIT;
\set VERBOSITY default
DROP TABLE regress_guarded;

--
-- Columns that others add are left empty
--
BEGIN;
ALTER TABLE hold_ledger ADD COLUMN extra text;
ALTER TABLE holds ADD COLUMN extra int;
ALTER TABLE hold_pools ADD COLUMN extra timestamptz;
SELECT hold_pool_set('more', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('m', 'more');
SELECT count(*) FROM hold_ledger WHERE extra IS NOT NULL;
ROLLBACK;

--
-- A return that found nothing is remembered by its ref
--
SELECT hold_pool_set('refs', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('r', 'refs', 2);
SELECT outcome FROM hold_consume('r');
SELECT refunded FROM hold_return('r');
SELECT refunded FROM hold_return('r', qty => 1, ref => 'again');
SELECT outcome FROM hold_try('r', 'refs', 2);
SELECT outcome FROM hold_consume('r');
SELECT refunded FROM hold_return('r', qty => 1, ref => 'again');

SELECT count(*) FROM hold_verify();
