-- Who may do what: PUBLIC, and the levels app, monitor and operator.  And who
-- acted, as the ledger tells it.

SET hold_ledger.tenant = 'privileges';

CREATE ROLE regress_nobody;
CREATE ROLE regress_app;
CREATE ROLE regress_monitor;
CREATE ROLE regress_operator;
SELECT hold_grant_access('regress_app', 'app');
SELECT hold_grant_access('regress_monitor', 'monitor');
SELECT hold_grant_access('regress_operator', 'operator');

SELECT hold_pool_set('seats', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ann', 'seats', 2, payload => '{"cart": 1}');
SELECT outcome, held FROM hold_consume('ann', qty => 1, final => false, ref => 'order 5');

--
-- Every function, view and table, for each of them
--

-- "yes" if a role may make the call, else what it is refused with; nothing is
-- kept of what it did.
CREATE FUNCTION pg_temp.may(role name, call text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('role', role, true);
	EXECUTE call;
	RAISE EXCEPTION 'yes' USING ERRCODE = 'ZZZZZ';
EXCEPTION WHEN OTHERS THEN
	RETURN CASE SQLSTATE WHEN 'ZZZZZ' THEN 'yes' ELSE SQLSTATE END;
END
$$;

CREATE TEMP TABLE calls (number serial, call text);
INSERT INTO calls (call) VALUES
	('SELECT hold_clock()'),
	('SELECT hold_tenant()'),
	('SELECT hold_actor()'),
	('SELECT hold_units(1)'),
	('SELECT hold_token_key(''privileges'', ''ann'')'),
	('SELECT hold_line(''seats'')'),
	('SELECT hold_lines(''{seats}'')'),
	('SELECT hold_nights(''n'', ''[2031-05-01,2031-05-02)'')'),
	('SELECT hold_try(''bob'', ''seats'')'),
	('SELECT hold_try_lines(''bob'', hold_lines(''{seats}''))'),
	('SELECT hold_try_batch(''{}'')'),
	('SELECT hold_renew(''ann'')'),
	('SELECT hold_consume(''ann'')'),
	('SELECT hold_consume_batch(''{ann}'')'),
	('SELECT hold_release(''ann'')'),
	('SELECT hold_return(''ann'')'),
	('SELECT hold_try_stay(''bob'', 101, ''[2031-05-01,2031-05-03)'')'),
	('SELECT hold_try_stays(''bob'', ''{101,102}'', ''[2031-05-01,2031-05-03)'')'),
	('SELECT hold_release_stay(''bob'', 101)'),
	('SELECT hold_move_stay(0, 102)'),
	('SELECT hold_cancel_stay(0)'),
	('INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (101, 7, ''[2031-05-01,2031-05-03)'')'),
	('INSERT INTO room_stays (room_id, ref, stay) VALUES (101, ''order 7'', ''[2031-05-01,2031-05-03)'')'),
	('INSERT INTO room_stays (stay_id, room_id, reservation_id, stay) VALUES (1, 101, 7, ''[2031-05-01,2031-05-03)'')'),
	('INSERT INTO room_stays (tenant, room_id, reservation_id, stay) VALUES (''other'', 101, 7, ''[2031-05-01,2031-05-03)'')'),
	('INSERT INTO room_stays (token, room_id, stay) VALUES (''bob'', 101, ''[2031-05-01,2031-05-03)'')'),
	('SELECT hold_get(''ann'')'),
	('SELECT hold_history(''ann'')'),
	('SELECT hold_pool_history(''seats'')'),
	('SELECT hold_available(''seats'')'),
	('SELECT hold_available_many(''{seats}'')'),
	('SELECT hold_count(''seats'')'),
	('SELECT * FROM hold_pool_status'),
	('SELECT * FROM live_holds'),
	('SELECT * FROM hold_entries'),
	('SELECT * FROM hold_stays'),
	('SELECT hold_verify()'),
	('SELECT hold_stats()'),
	('SELECT hold_hoarding()'),
	('SELECT hold_pool_set(''seats'', 11)'),
	('SELECT hold_pool_add(''seats'', 1)'),
	('SELECT hold_pool_close(''seats'')'),
	('SELECT hold_pool_open(''seats'')'),
	('SELECT hold_pool_renew(''seats'', 10, now() + interval ''1 day'')'),
	('SELECT hold_pool_drop(''empty'')'),
	('SELECT hold_class_set(''class'', 1)'),
	('SELECT hold_sweep()'),
	('CALL hold_sweep_all(0)'),
	('SELECT hold_schedule()'),
	('SELECT hold_unschedule()'),
	('SELECT hold_trim()'),
	('SELECT hold_repair()'),
	('SELECT hold_see_tokens()'),
	('SELECT hold_grant_access(''regress_nobody'', ''app'')'),
	('SELECT FROM hold_pools'),
	('SELECT FROM holds'),
	('SELECT FROM hold_classes'),
	('SELECT FROM hold_ledger'),
	('SELECT FROM room_stays'),
	('SELECT FROM hold_ids'),
	('SELECT nextval(''hold_ids'')'),
	('UPDATE hold_pools SET held = 0'),
	('UPDATE hold_classes SET ttl = 0'),
	('UPDATE room_stays SET room_id = 102'),
	('DELETE FROM room_stays'),
	('TRUNCATE room_stays'),
	('UPDATE hold_pool_status SET held = 0'),
	('INSERT INTO holds DEFAULT VALUES'),
	('DELETE FROM holds'),
	('DELETE FROM live_holds'),
	('INSERT INTO hold_ledger DEFAULT VALUES'),
	('DELETE FROM hold_ledger'),
	('TRUNCATE hold_ledger'),
	('LOCK hold_ledger'),
	('ALTER TABLE hold_ledger DISABLE TRIGGER append_only'),
	('CREATE INDEX ON holds (token)'),
	('CREATE TRIGGER t AFTER INSERT ON regress_orders EXECUTE FUNCTION hold_require_consumed()'),
	('CREATE TRIGGER t AFTER INSERT ON holds EXECUTE FUNCTION hold_refuse_change()'),
	('CREATE TRIGGER t BEFORE INSERT ON regress_orders EXECUTE FUNCTION hold_insert_stay()'),
	('DROP EXTENSION hold_ledger'),
	('SET hold_ledger.tenant = ''other'''),
	('SET hold_ledger.clock_offset = 1'),
	('SET hold_ledger.max_ttl = 1'),
	('SET hold_ledger.default_ttl = 1');
SELECT hold_pool_set('empty', 1) IS NOT NULL AS made;
CREATE TABLE regress_orders (token text);
GRANT TRIGGER ON regress_orders TO PUBLIC;

SELECT call, pg_temp.may('regress_nobody', call) AS nobody, pg_temp.may('regress_app', call) AS app,
	pg_temp.may('regress_monitor', call) AS monitor, pg_temp.may('regress_operator', call) AS operator
FROM calls ORDER BY number;

DROP TABLE regress_orders;

-- no function, table or view was forgotten
SELECT name FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND d.deptype = 'e'
	JOIN (SELECT oid, proname FROM pg_proc
		UNION ALL SELECT oid, relname FROM pg_class WHERE relkind IN ('r', 'v', 'S')) o (oid, name)
		ON o.oid = d.objid
WHERE e.extname = 'hold_ledger'
	AND NOT EXISTS (SELECT FROM calls WHERE call ~ ('\m' || name || '\M'))
ORDER BY name;

--
-- Tokens, refs and payloads
--

SET ROLE regress_monitor;
SELECT token, pool, qty, payload FROM live_holds;
SELECT pool, seq, event, token, ref, payload, qty FROM hold_entries WHERE pool = 'seats' ORDER BY seq;
SELECT count(*) FROM live_holds WHERE token = 'ann';
SELECT count(*) FROM hold_entries WHERE token = 'ann' OR ref = 'order 5' OR payload IS NOT NULL;
SELECT pool, token_prefix, holds, unconsumed FROM hold_hoarding(separator => 'n');

SET ROLE regress_operator;
SELECT token, pool, qty, payload FROM live_holds;
SELECT pool, seq, event, token, ref, payload, qty FROM hold_entries WHERE pool = 'seats' ORDER BY seq;
SELECT seq, event, token, ref, payload FROM hold_pool_history('seats');
SELECT pool, token_prefix, holds, unconsumed FROM hold_hoarding(separator => 'n');

-- an app sees those of the tokens that it knows, and of a pool only what happened
SET ROLE regress_app;
SELECT seq, event, token, ref, payload, qty FROM hold_history('ann');
SELECT seq, event, token, ref, payload, qty FROM hold_pool_history('seats');

-- a monitor that may also call the verbs still sees none
RESET ROLE;
GRANT regress_app TO regress_monitor;
SET ROLE regress_monitor;
SELECT token, pool, qty, payload FROM live_holds;
SELECT seq, event, token, qty FROM hold_pool_history('seats');
RESET ROLE;
REVOKE regress_app FROM regress_monitor;

-- a function in the query is not shown more than the rows that are
CREATE FUNCTION regress_leak(anyelement) RETURNS boolean
LANGUAGE plpgsql COST 0.0000001 AS $$
BEGIN
	RAISE NOTICE 'leaked %', $1;
	RETURN true;
END
$$;
SET ROLE regress_monitor;
SELECT count(*) FROM live_holds WHERE regress_leak(token);
SELECT count(*) FROM live_holds WHERE regress_leak(payload);
SET hold_ledger.tenant = 'privileges of others';
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
SET hold_ledger.tenant = 'privileges of others';
SELECT hold_pool_set('seats', 1) IS NOT NULL AS made;
SET ROLE regress_monitor;
SELECT count(*) FROM hold_pool_status WHERE regress_leak(pool);
SELECT count(*) FROM live_holds WHERE regress_leak(pool);
SELECT count(*) FROM hold_entries WHERE regress_leak(pool);
RESET ROLE;
SET hold_ledger.tenant = 'privileges';
DROP FUNCTION regress_leak;

-- verify names pools of the current tenant alone
BEGIN;
ALTER TABLE hold_pools DISABLE TRIGGER USER;
UPDATE hold_pools SET held = held + 1 WHERE pool = 'seats' AND tenant LIKE 'privileges%';
SET ROLE regress_monitor;
SELECT DISTINCT pool FROM hold_verify() ORDER BY pool;
ROLLBACK;

-- no message tells a token that the caller did not give
SET ROLE regress_operator;
SELECT hold_pool_drop('seats');
RESET ROLE;

--
-- Who acted
--

-- the role of SET ROLE
SET ROLE regress_app;
SELECT outcome FROM hold_try('cid', 'seats');
RESET ROLE;
SELECT actor FROM hold_history('cid');

-- else the login
SELECT outcome FROM hold_release('cid');
SELECT actor = session_user AS login FROM hold_history('cid') WHERE event = 'released';

-- never the owner of a function on the way
CREATE FUNCTION regress_book(token text) RETURNS hold_outcome
LANGUAGE sql SECURITY DEFINER AS 'SELECT outcome FROM hold_try(token, ''seats'')';
ALTER FUNCTION regress_book OWNER TO regress_operator;
SET ROLE regress_nobody;
SELECT regress_book('dan');
SELECT outcome FROM hold_release('dan');
\echo :LAST_ERROR_SQLSTATE
SET ROLE regress_app;
SELECT outcome FROM hold_release('dan');
RESET ROLE;
SELECT event, actor FROM hold_history('dan');
DROP FUNCTION regress_book;

-- but what such a function sees is what its owner may see
CREATE FUNCTION regress_past() RETURNS bigint
LANGUAGE sql SECURITY DEFINER
AS 'SELECT (SELECT count(token) FROM hold_pool_history(''seats''))';
ALTER FUNCTION regress_past OWNER TO regress_app;
SELECT regress_past() > 0 AS sees_tokens;
ALTER FUNCTION regress_past OWNER TO regress_operator;
SELECT regress_past() > 0 AS sees_tokens;
DROP FUNCTION regress_past;

-- a superuser who refreshes an app's view lends it no eyes
CREATE SCHEMA regress_privileges AUTHORIZATION regress_app;
SET ROLE regress_app;
CREATE MATERIALIZED VIEW regress_privileges.stolen AS
	SELECT * FROM hold_pool_history('seats') WITH NO DATA;
RESET ROLE;
REFRESH MATERIALIZED VIEW regress_privileges.stolen;
SELECT count(*) > 0 AS filled, count(token) AS tokens, count(payload) AS payloads FROM regress_privileges.stolen;

--
-- Giving and taking away
--

-- levels add up; role names may be odd
CREATE ROLE "regress Odd-1";
SELECT hold_grant_access('"regress Odd-1"', 'app');
SELECT hold_grant_access('"regress Odd-1"', 'app');
SELECT hold_grant_access('"regress Odd-1"', 'monitor');
SET ROLE "regress Odd-1";
SELECT outcome FROM hold_try('eve', 'seats');
SELECT count(*), count(token) FROM live_holds;
RESET ROLE;
SELECT actor FROM hold_history('eve');

SELECT hold_grant_access('regress_missing', 'app');
\echo :LAST_ERROR_SQLSTATE

DROP OWNED BY regress_nobody, regress_app, regress_monitor, regress_operator, "regress Odd-1";
SET ROLE regress_operator;
SELECT outcome FROM hold_try('fay', 'seats');
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
DROP ROLE regress_nobody, regress_app, regress_monitor, regress_operator, "regress Odd-1";
SELECT actor FROM hold_history('eve');

SELECT regress_ok();
