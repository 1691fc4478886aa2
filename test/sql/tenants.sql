-- Tenants: the same names side by side, and the fence between them.

--
-- Two tenants, the same pool, the same tokens
--

SET hold_ledger.tenant = 'red';
SELECT hold_pool_set('seats', 2) IS NOT NULL AS made;
SELECT outcome, available FROM hold_try('ann', 'seats', 2, payload => '"red"');

SET hold_ledger.tenant = 'blue';
SELECT outcome FROM hold_try('ann', 'seats');
SELECT hold_available('seats');
SELECT pool, available FROM hold_available_many('{seats}');
SELECT hold_pool_set('seats', 5) IS NOT NULL AS made;
SELECT outcome, available, version FROM hold_try('ann', 'seats', 1, payload => '"blue"');

SELECT pool, capacity, held, available FROM hold_pool_status;
SELECT token, pool, qty, payload FROM live_holds;
SELECT seq, event, token, qty, payload FROM hold_entries;
SELECT pool, qty, payload FROM hold_get('ann');
SELECT seq, event, qty FROM hold_history('ann');
SELECT seq, event, qty FROM hold_pool_history('seats');
SELECT hold_count('seats');

-- what one does to its token leaves the other's alone
SELECT outcome, qty FROM hold_consume('ann');
SET hold_ledger.tenant = 'red';
SELECT pool, capacity, held, available FROM hold_pool_status;
SELECT pool, qty, state, payload FROM hold_get('ann');
SELECT outcome, qty, version FROM hold_renew('ann');
SELECT outcome, qty FROM hold_release('ann');
SELECT outcome, qty FROM hold_consume('ann');
SET hold_ledger.tenant = 'blue';
SELECT outcome, qty, consumed FROM hold_consume('ann');

-- replacing, closing, dropping too
SELECT outcome FROM hold_try('bob', 'seats');
SELECT hold_pool_set('boxes', 5) IS NOT NULL AS made;
SET hold_ledger.tenant = 'red';
SELECT hold_pool_set('boxes', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('bob', 'seats');
SELECT outcome FROM hold_try_lines('bob', hold_lines('{boxes}'), replace => true);
SELECT hold_pool_close('seats');
SELECT hold_pool_drop('seats');
SET hold_ledger.tenant = 'blue';
SELECT pool, qty, state FROM hold_get('bob');
SELECT outcome FROM hold_try('bob', 'seats');
SELECT regress_ok();

-- the tenant without a name is one like the others
RESET hold_ledger.tenant;
SELECT outcome FROM hold_try('bob', 'boxes');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM hold_release('bob');

-- tenant and token are told apart: 'a' with 'bc' is not 'ab' with 'c'
SET hold_ledger.tenant = 'a';
SELECT hold_pool_set('p', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('bc', 'p');
SET hold_ledger.tenant = 'ab';
SELECT outcome FROM hold_release('c');
SET hold_ledger.tenant = 'A';
SELECT outcome FROM hold_release('bc');
SET hold_ledger.tenant = 'a';
SELECT outcome FROM hold_release('bc');

--
-- Upkeep works across tenants
--

SET hold_ledger.tenant = 'red';
SELECT outcome FROM hold_try('cid', 'boxes', 1, '1 minute');
SET hold_ledger.tenant = 'blue';
SELECT outcome FROM hold_try('cid', 'boxes', 1, '1 minute');
RESET hold_ledger.tenant;
SET hold_ledger.clock_offset = '1 min';
SELECT hold_sweep() >= 2 AS swept;
SET hold_ledger.tenant = 'red';
SELECT event FROM hold_history('cid');
SET hold_ledger.tenant = 'blue';
SELECT event FROM hold_history('cid');
RESET hold_ledger.clock_offset;

BEGIN;
UPDATE hold_pools SET consumed = consumed + 1 WHERE tenant IN ('red', 'blue') AND pool = 'boxes';
SELECT count(DISTINCT pool_id) AS pools, count(DISTINCT pool) AS named FROM hold_verify();
ROLLBACK;

--
-- SET LOCAL, as behind a pooler
--

BEGIN;
SET LOCAL hold_ledger.tenant = 'red';
SELECT hold_tenant();
COMMIT;
SELECT hold_tenant();

--
-- The fence: logins whose tenant a superuser set, and that may not set it
--

SELECT current_user AS superuser \gset
CREATE ROLE regress_red LOGIN;
CREATE ROLE regress_blue LOGIN;
SELECT hold_grant_access('regress_red', 'operator');
SELECT hold_grant_access('regress_blue', 'operator');
ALTER ROLE regress_red SET hold_ledger.tenant = 'red';
ALTER ROLE regress_blue SET hold_ledger.tenant = 'blue';
GRANT regress_blue TO regress_red;

\connect - regress_red
SELECT pool FROM hold_pool_status ORDER BY pool;
SELECT hold_tenant();
SET hold_ledger.tenant = 'blue';
\echo :LAST_ERROR_SQLSTATE
SELECT set_config('hold_ledger.tenant', 'blue', false);
ALTER ROLE regress_red SET hold_ledger.tenant = 'blue';
\echo :LAST_ERROR_SQLSTATE
SELECT hold_tenant();

-- nor does RESET get past it
RESET hold_ledger.tenant;
\echo :LAST_ERROR_SQLSTATE
RESET ALL;
SELECT hold_tenant();

-- SET ROLE keeps the login's
SET ROLE regress_blue;
SELECT hold_tenant();
SELECT pool FROM hold_pool_status ORDER BY pool;
RESET ROLE;

\connect - regress_blue
SELECT hold_tenant();
SELECT pool FROM hold_pool_status ORDER BY pool;

\connect - :superuser
DROP OWNED BY regress_red, regress_blue;
DROP ROLE regress_red, regress_blue;
SELECT regress_ok();
