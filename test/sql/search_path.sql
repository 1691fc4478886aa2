-- Names: the extension finds what is its own, whatever the caller's search_path
-- has, whatever its schema is called.

SET hold_ledger.tenant = 'search_path';

--
-- A hostile path: tables, types, functions and operators that are named like
-- those that the extension uses, and found first
--

SELECT hold_pool_set('p', 10) IS NOT NULL AS made;

CREATE SCHEMA regress_hostile;
CREATE TABLE regress_hostile.hold_pools AS SELECT 'trapped' AS tenant;
CREATE TABLE regress_hostile.holds AS SELECT 'trapped' AS token;
CREATE TABLE regress_hostile.hold_ledger AS SELECT 'trapped' AS token;
CREATE VIEW regress_hostile.hold_entries AS SELECT 'trapped' AS token;
CREATE VIEW regress_hostile.hold_pool_status AS SELECT 'trapped' AS pool;
CREATE SEQUENCE regress_hostile.hold_ids;
CREATE TABLE regress_hostile.hold_classes AS SELECT 'trapped' AS prefix;
CREATE TYPE regress_hostile.hold_line AS (trapped integer);
CREATE TYPE regress_hostile.hold_grant AS (trapped integer);
CREATE TYPE regress_hostile.hold_outcome AS ENUM ('trapped');
CREATE TYPE regress_hostile.hold_event AS ENUM ('trapped');
CREATE TEMP TABLE hold_pools AS SELECT 'trapped' AS tenant;
CREATE TEMP TABLE holds AS SELECT 'trapped' AS token;
CREATE TEMP TABLE hold_ledger AS SELECT 'trapped' AS token;

-- every operator and function of these names and types, as a trap
DO $$
DECLARE
	trap record;
BEGIN
	FOR trap IN
		SELECT oid, oprname AS name, oprleft::regtype AS a, oprright::regtype AS b, oprresult::regtype AS result
		FROM pg_operator
		WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprleft <> 0
			AND oprname IN ('=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '||', '->>', '@>', '&&')
			AND oprleft::regtype::text IN ('bigint', 'integer', 'smallint', 'numeric', 'text', 'name',
				'timestamp with time zone', 'interval', 'boolean', 'oid', 'anyenum', 'jsonb')
			AND NOT oprresult::regtype::text LIKE 'any%'
	LOOP
		EXECUTE format('CREATE FUNCTION regress_hostile.operator_%s(%s, %s) RETURNS %s '
			'LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''trapped''''; END''', trap.oid, trap.a, trap.b, trap.result);
		EXECUTE format('CREATE OPERATOR regress_hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = regress_hostile.operator_%s)',
			trap.name, trap.a, trap.b, trap.oid);
	END LOOP;
	FOR trap IN
		SELECT DISTINCT proname AS name, oidvectortypes(proargtypes) AS arguments, prorettype::regtype AS result
		FROM pg_proc
		WHERE prokind = 'f' AND NOT proretset AND provariadic = 0
			AND proname IN ('now', 'clock_timestamp', 'set_config', 'current_setting', 'nextval', 'numeric_mul',
				'int8eq', 'texteq', 'has_function_privilege', 'hold_clock', 'hold_tenant', 'hold_actor',
				'hold_units', 'hold_see_tokens')
	LOOP
		EXECUTE format('CREATE FUNCTION regress_hostile.%I(%s) RETURNS %s '
			'LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''trapped''''; END''', trap.name, trap.arguments, trap.result);
	END LOOP;
END
$$;

SET search_path = pg_temp, regress_hostile, pg_catalog;
\set VERBOSITY terse
SELECT 1 + 1;
SELECT now();
SELECT hold_tenant();
SELECT 'a'::text = 'b'::text;
\set VERBOSITY default

SELECT outcome, available FROM public.hold_try('ann', 'p', 2, '1 minute');
SELECT outcome, available FROM public.hold_try('ann', 'p', 3);
SELECT outcome, available FROM public.hold_try_lines('bob', public.hold_lines('{p,p}'));
SELECT outcome, available FROM public.hold_try_lines('bob', ARRAY[public.hold_line('p', 1)]);
SELECT outcome, available FROM public.hold_try_lines('cid',
	public.hold_nights('n', '[2031-05-01,2031-05-02)', 1, '{1}'));
SELECT outcome FROM public.hold_renew('ann');
SELECT outcome, consumed, held FROM public.hold_consume('ann', qty => 1, final => false, ref => 'a');
SELECT outcome, consumed, held FROM public.hold_consume('ann', qty => 1, final => false, ref => 'a');
SELECT outcome FROM public.hold_release('bob');
SELECT pool, qty, state FROM public.hold_get('ann');
SELECT event, token, qty FROM public.hold_history('ann');
SELECT event, token, qty FROM public.hold_pool_history('p');
SELECT public.hold_available('p');
SELECT pool, available FROM public.hold_available_many('{p}');
SELECT public.hold_count('p');
SELECT pool, capacity, available FROM public.hold_pool_status ORDER BY pool;
SELECT token, pool, qty FROM public.live_holds ORDER BY token;
SELECT pool, seq, event, token, qty FROM public.hold_entries ORDER BY pool, seq;
SELECT public.hold_pool_add('p', 1);
SELECT public.hold_pool_close('p');
SELECT public.hold_pool_open('p');
SELECT public.hold_pool_set('q', 1) IS NOT NULL AS made;
SELECT public.hold_pool_drop('q');
SELECT public.hold_sweep(0);
CALL public.hold_sweep_all(0);
SELECT problem FROM public.hold_verify();
CREATE ROLE regress_anybody;
SELECT public.hold_grant_access('regress_anybody', 'operator');

RESET search_path;
DROP OWNED BY regress_anybody;
DROP ROLE regress_anybody;
DROP TABLE pg_temp.hold_pools, pg_temp.holds, pg_temp.hold_ledger;
SET client_min_messages = warning;
DROP SCHEMA regress_hostile CASCADE;
RESET client_min_messages;
SELECT regress_ok();

--
-- A schema with an odd name, and another for btree_gist; no search_path at all
--

\set home :DBNAME
CREATE DATABASE regress_odd;
\connect regress_odd
CREATE SCHEMA "Odd Name-1";
CREATE SCHEMA "it's gist";
CREATE EXTENSION btree_gist SCHEMA "it's gist";
CREATE EXTENSION hold_ledger SCHEMA "Odd Name-1";
SET search_path = '';

SELECT "Odd Name-1".hold_pool_set('p', 10) IS NOT NULL AS made;
SELECT outcome FROM "Odd Name-1".hold_try('ann', 'p', 2, payload => '1');
SELECT outcome FROM "Odd Name-1".hold_try_lines('bob', "Odd Name-1".hold_lines('{p,q}', NULL, '{9,9}'));
SELECT outcome FROM "Odd Name-1".hold_try_lines('bob', ARRAY["Odd Name-1".hold_line('p')], replace => true);
SELECT outcome FROM "Odd Name-1".hold_try_lines('cid', "Odd Name-1".hold_nights('n', '[2031-05-01,2031-05-02)', 1, '{1}'));
SELECT outcome FROM "Odd Name-1".hold_renew('ann');
SELECT outcome FROM "Odd Name-1".hold_consume('ann', qty => 1);
SELECT outcome FROM "Odd Name-1".hold_release('bob') ORDER BY line;
SELECT pool, consumed, state FROM "Odd Name-1".hold_get('ann');
SELECT event, qty FROM "Odd Name-1".hold_history('ann');
SELECT event, token FROM "Odd Name-1".hold_pool_history('q');
SELECT "Odd Name-1".hold_available('p'), "Odd Name-1".hold_count('p');
SELECT pool, held FROM "Odd Name-1".hold_available_many('{p,q}');
SELECT pool, available FROM "Odd Name-1".hold_pool_status ORDER BY pool;
SELECT token, pool FROM "Odd Name-1".live_holds;
SELECT count(*) FROM "Odd Name-1".hold_entries;
SELECT "Odd Name-1".hold_pool_add('p', 1);
SELECT "Odd Name-1".hold_pool_close('p');
SELECT "Odd Name-1".hold_pool_open('p');
SELECT "Odd Name-1".hold_pool_drop('q');
SELECT "Odd Name-1".hold_sweep();
CALL "Odd Name-1".hold_sweep_all();
SELECT * FROM "Odd Name-1".hold_verify();
DELETE FROM "Odd Name-1".hold_ledger;
CREATE ROLE regress_anybody;
SELECT "Odd Name-1".hold_grant_access('regress_anybody', 'operator');
SET ROLE regress_anybody;
SELECT outcome FROM "Odd Name-1".hold_try('dan', 'p');
SELECT token FROM "Odd Name-1".live_holds WHERE pool = 'p';
RESET ROLE;
DROP OWNED BY regress_anybody;
DROP ROLE regress_anybody;

-- it stays where it is
ALTER EXTENSION hold_ledger SET SCHEMA public;
\echo :LAST_ERROR_SQLSTATE

\connect :home
DROP DATABASE regress_odd;
