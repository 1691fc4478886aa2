-- The tenant: a fence around login roles that a superuser gave one, whatever
-- they know or try, and a choice for those that are trusted with SET.

SELECT current_user AS boss \gset
CREATE ROLE regress_fence_a LOGIN;
CREATE ROLE regress_fence_b LOGIN;
ALTER ROLE regress_fence_a SET hold_ledger.tenant = 'fence_a';
ALTER ROLE regress_fence_b SET hold_ledger.tenant = 'fence_b';
SELECT hold_grant_access('regress_fence_a', 'operator');
SELECT hold_grant_access('regress_fence_b', 'operator');
CREATE SCHEMA regress_fence AUTHORIZATION regress_fence_b;

\c - regress_fence_a
SELECT hold_tenant();
SELECT hold_pool_set('seats', 5) IS NOT NULL AS made, hold_pool_set('secret', 1) IS NOT NULL AS made;
SELECT hold_class_set('slot', 3);
SELECT outcome FROM hold_try('cart', 'seats', 2, payload => '"a"');
SELECT outcome FROM hold_try('hidden', 'secret');
SELECT outcome FROM hold_try('paid', 'seats', 1);
SELECT outcome FROM hold_consume('paid', final => false, ref => 'r');
SELECT hold_pool_add('seats', 1, 'delivery');

--
-- The other tenant sees nothing of it
--

\c - regress_fence_b
SELECT hold_tenant();
SELECT * FROM hold_pool_status;
SELECT * FROM live_holds;
SELECT * FROM hold_entries;

-- not by a name that is guessed
SELECT hold_available('secret');
SELECT * FROM hold_available_many('{secret,seats,slot:1}');
SELECT hold_count('secret');
SELECT count(*) FROM hold_get('hidden');
SELECT count(*) FROM hold_history('hidden');
SELECT hold_pool_history('secret');
SELECT outcome FROM hold_try('hidden', 'secret');
SELECT outcome FROM hold_try('cart', 'slot:1');
SELECT outcome FROM hold_try_lines('cart', hold_lines('{secret}'));
SELECT count(*) FROM hold_renew('hidden') WHERE granted;
SELECT outcome FROM hold_consume('hidden');
SELECT outcome FROM hold_consume('hidden', 'secret');
SELECT outcome FROM hold_consume('hidden', late => true);
SELECT outcome FROM hold_release('hidden');
SELECT outcome FROM hold_return('paid');
SELECT outcome FROM hold_consume('paid', final => false, ref => 'r');
SELECT hold_pool_add('secret', 1);
SELECT hold_pool_close('secret');
SELECT hold_pool_open('secret');
SELECT hold_pool_renew('secret', 9, 'infinity');
SELECT hold_pool_drop('secret');

-- nor in the tables
SELECT pool FROM hold_pools;
SELECT token FROM holds;
SELECT token FROM hold_ledger;

-- nor by a function that is slipped into a query on the views
CREATE FUNCTION regress_fence.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$
BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END $$;
SELECT pool FROM hold_pool_status WHERE regress_fence.leak(pool);
SELECT token FROM live_holds WHERE regress_fence.leak(token);
SELECT token FROM hold_entries WHERE regress_fence.leak(pool);

-- nor by its effects: names and tokens are its own, side by side
SELECT hold_pool_set('seats', 3) IS NOT NULL AS made;
SELECT hold_class_set('slot', 7);
SELECT outcome, available, version FROM hold_try('cart', 'seats', 1);
SELECT outcome, available FROM hold_try('paid', 'seats', 1);
SELECT outcome, available FROM hold_try('cart', 'slot:1');
SELECT hold_pool_add('seats', 1, 'delivery');
SELECT pool, outcome FROM hold_try_lines('cart', hold_lines('{slot:2}'), replace => true);
SELECT pool, capacity, consumed, held, available FROM hold_pool_status ORDER BY pool;
SELECT pool, payload FROM hold_get('cart') ORDER BY pool;
SELECT token, event FROM hold_history('cart');
SELECT count(*) FROM hold_entries WHERE token IN ('hidden', 'paid');
SELECT pool, token FROM live_holds ORDER BY pool;

-- a consumption of one is not one of the other
SELECT outcome FROM hold_consume('cart');
\c - regress_fence_a
SELECT pool, capacity, consumed, held, available FROM hold_pool_status ORDER BY pool;
SELECT pool, qty, state, payload FROM hold_get('cart');
SELECT DISTINCT token FROM hold_entries WHERE token IS NOT NULL ORDER BY token;
SELECT hold_available('slot:1');

-- upkeep is for all, and shows no names
\c - :boss
BEGIN;
UPDATE hold_pools SET held = held + 1 WHERE tenant = 'fence_a' AND pool = 'secret';
SET LOCAL hold_ledger.tenant = 'fence_b';
SET LOCAL ROLE regress_fence_b;
SELECT DISTINCT problem, pool, expected, found FROM hold_verify() WHERE problem ~ 'sum';
SELECT hold_repair();
ROLLBACK;

--
-- It cannot be left
--

\c - regress_fence_b
SELECT hold_tenant();
SET hold_ledger.tenant = 'fence_a';
SET LOCAL hold_ledger.tenant = 'fence_a';
SELECT set_config('hold_ledger.tenant', 'fence_a', false);
SET hold_ledger.require_tenant = off;
SET hold_ledger.clock_offset = 0;
ALTER ROLE regress_fence_b SET hold_ledger.tenant = 'fence_a';
ALTER ROLE regress_fence_b RESET hold_ledger.tenant;
ALTER ROLE regress_fence_b RESET ALL;
CREATE FUNCTION regress_fence.other() RETURNS text LANGUAGE sql SET hold_ledger.tenant = 'fence_a' AS 'SELECT hold_tenant()';
RESET hold_ledger.tenant;
RESET ALL;
DISCARD ALL;
SELECT hold_tenant();

-- nor before the library is loaded, in any way that a session can begin
\c - regress_fence_b
ALTER ROLE regress_fence_b SET hold_ledger.tenant = 'fence_a';
ALTER ROLE regress_fence_b RESET hold_ledger.tenant;
CREATE FUNCTION regress_fence.other() RETURNS text LANGUAGE sql SET hold_ledger.tenant = 'fence_a' AS 'SELECT hold_tenant()';
SET hold_ledger.tenant = 'fence_a';
SELECT hold_tenant();
SELECT hold_available('secret');
SHOW hold_ledger.tenant;
\c - regress_fence_b
SET hold_ledger.tenant = 'fence_a';
SELECT pool FROM hold_pool_status ORDER BY pool;
SELECT hold_tenant();
\c - regress_fence_b
BEGIN;
SET LOCAL hold_ledger.tenant = 'fence_a';
SELECT outcome FROM hold_consume('hidden');
SAVEPOINT a;
SELECT hold_tenant();
ROLLBACK TO a;
SELECT hold_tenant();
ROLLBACK;
SELECT hold_tenant();
\c - regress_fence_b
RESET ALL;
SET hold_ledger.tenant = '';
BEGIN;
SELECT hold_tenant();
ROLLBACK;
SELECT hold_tenant();
\c -reuse-previous=on "user=regress_fence_b options='-c hold_ledger.tenant=fence_a'"
SELECT outcome FROM hold_consume('hidden');
SELECT hold_tenant();
\c -reuse-previous=on "user=regress_fence_b options='-c hold_ledger.tenant='"
BEGIN;
SELECT hold_tenant();
SAVEPOINT a;
SELECT count(*) FROM hold_pool_status;
ROLLBACK TO a;
SELECT hold_tenant();
ROLLBACK;
SELECT hold_tenant();
DISCARD ALL;
SELECT hold_tenant();
\c -reuse-previous=on "user=regress_fence_b options='-c hold_ledger.tenant=fence_a'"
BEGIN;
SAVEPOINT a;
SELECT pool FROM live_holds ORDER BY pool;
ROLLBACK TO a;
SELECT pool FROM live_holds ORDER BY pool;
COMMIT;
SELECT pool FROM live_holds ORDER BY pool;

-- SET ROLE keeps the login's, whatever the other role was given
\c -reuse-previous=on "user=regress_fence_b options=''"
\c - :boss
GRANT regress_fence_a TO regress_fence_b;
\c - regress_fence_b
SET ROLE regress_fence_a;
SELECT hold_tenant();
SELECT outcome FROM hold_consume('hidden');
SET hold_ledger.tenant = 'fence_a';
RESET ROLE;
\c - :boss
REVOKE regress_fence_a FROM regress_fence_b;

-- another's function does not change it either
CREATE FUNCTION regress_fence.definer() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT hold_tenant()';
ALTER FUNCTION regress_fence.definer OWNER TO regress_fence_a;
\c - regress_fence_b
SELECT regress_fence.definer();

--
-- A role with SET is trusted with all tenants
--

\c - :boss
CREATE ROLE regress_fence_trusted LOGIN;
SELECT hold_grant_access('regress_fence_trusted', 'app');
\c - regress_fence_trusted
SELECT hold_tenant() = '' AS is_empty;
SET hold_ledger.tenant = 'fence_a';
\c - :boss
GRANT SET ON PARAMETER hold_ledger.tenant TO regress_fence_trusted;
\c - regress_fence_trusted
SET hold_ledger.tenant = 'fence_a';
SELECT outcome FROM hold_consume('hidden');
BEGIN;
SET LOCAL hold_ledger.tenant = 'fence_b';
SELECT outcome FROM hold_consume('cart', 'slot:2');
COMMIT;
SELECT hold_tenant();
RESET hold_ledger.tenant;
SELECT hold_tenant() = '' AS is_empty;

-- its tenant is at most as long as a key
SET hold_ledger.tenant = 'fence_a';
SELECT set_config('hold_ledger.tenant', repeat('x', 256), false) IS NOT NULL AS set;
SELECT outcome FROM hold_consume('hidden');
\echo :LAST_ERROR_SQLSTATE
SELECT set_config('hold_ledger.tenant', repeat('x', 255), false) IS NOT NULL AS set;
SELECT outcome FROM hold_consume('hidden');

--
-- A tenant can be required
--

\c - :boss
SET hold_ledger.tenant = '';
SET hold_ledger.require_tenant = on;
SELECT outcome FROM hold_try('x', 'seats');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_available('seats');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_set('seats', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM hold_get('x');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM hold_history('x');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_release('x');
\echo :LAST_ERROR_SQLSTATE
SET hold_ledger.tenant = 'fence_b';
SELECT hold_available('seats');
RESET hold_ledger.require_tenant;

-- for a role
ALTER ROLE regress_fence_trusted SET hold_ledger.require_tenant = on;
\c - regress_fence_trusted
SELECT outcome FROM hold_consume('cart', 'slot:2');
\echo :LAST_ERROR_SQLSTATE
SET hold_ledger.require_tenant = off;
\echo :LAST_ERROR_SQLSTATE
SET hold_ledger.tenant = 'fence_b';
SELECT outcome FROM hold_consume('cart', 'slot:2');

\c - :boss
SET hold_ledger.tenant = 'fence_a';
SELECT regress_ok();
SET hold_ledger.tenant = 'fence_b';
SELECT regress_ok();
DROP SCHEMA regress_fence CASCADE;
DROP OWNED BY regress_fence_a, regress_fence_b, regress_fence_trusted;
DROP ROLE regress_fence_a, regress_fence_b, regress_fence_trusted;
