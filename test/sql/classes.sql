-- Classes: pools that need not be made one by one, and capacity_from, a
-- function of the application that tells how much holds may take.

SET hold_ledger.tenant = 'classes';

CREATE TEMP VIEW state AS
SELECT pool, capacity, consumed, held, available FROM hold_pool_status ORDER BY pool;

--
-- The first hold makes the pool
--

SELECT hold_class_set('slot', 2, '5 minutes');

-- questions are answered as if it were made, and make nothing
SELECT hold_available('slot:9'), hold_count('slot:9');
SELECT * FROM hold_available_many('{slot:9,slot,slots:9,slot:9}');
SELECT hold_available('slots:9');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_consume('ann', 'slot:9');
SELECT * FROM state;

SELECT granted, outcome, qty, available, version, regress_minutes(expires_at) AS expires_in
FROM hold_try('ann', 'slot:9');
SELECT outcome, available, regress_minutes(expires_at) AS expires_in
FROM hold_try('bob', 'slot:9', ttl => '7 minutes');
SELECT outcome, available FROM hold_try('cid', 'slot:9');
SELECT seq, event, token, qty, held, capacity FROM hold_entries ORDER BY seq;
SELECT hold_available('slot:9'), hold_count('slot:9');

-- a request that is refused, fails or is rolled back leaves none
SELECT outcome, available FROM hold_try('cid', 'slot:10', 3);
SELECT pool, outcome FROM hold_try_lines('cid', hold_lines('{slot:11,slot:9}'));
SELECT outcome FROM hold_try_lines('cid', hold_lines('{slot:11,nowhere}'));
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_try('cid', 'slot:11', 1, budget => 0);
BEGIN;
SELECT outcome FROM hold_try('cid', 'slot:11');
ROLLBACK;
SELECT * FROM state;

-- many at once
SELECT pool, outcome, available, regress_minutes(expires_at) AS expires_in
FROM hold_try_lines('dan', hold_lines('{slot:12,slot:11,slot:12}'));

-- the longest prefix counts, up to a colon
SELECT hold_class_set('slot:vip', 7);
SELECT hold_available('slot:vip:1'), hold_available('slot:vip'), hold_available('slot:vipers:1');
SELECT outcome, available, regress_minutes(expires_at) AS expires_in FROM hold_try('eve', 'slot:vip:1');

-- a class that is changed makes other pools than before; those that are there stay
SELECT hold_class_set('slot', 3, '6 minutes');
SELECT hold_available('slot:13'), hold_available('slot:11');
SELECT outcome, available, regress_minutes(expires_at) AS expires_in FROM hold_try('fay', 'slot:13');

-- what an operator made is what the operator said
SELECT hold_pool_set('slot:14', 9) IS NOT NULL AS made;
SELECT outcome, available FROM hold_try('fay', 'slot:14');

-- it is the tenant's
SET hold_ledger.tenant = 'classes 2';
SELECT outcome FROM hold_try('fay', 'slot:9');
\echo :LAST_ERROR_SQLSTATE
SET hold_ledger.tenant = 'classes';

-- nothing to be had is allowed
SELECT hold_class_set('none', 0);
SELECT outcome, available FROM hold_try('gus', 'none:1');
SELECT regress_ok();

--
-- No more than two seats of a show a customer
--

SELECT hold_pool_set('seats', 10) IS NOT NULL AS made;
SELECT hold_class_set('cap:show9', 2);
SELECT pool, outcome, available FROM hold_try_lines('cart 1', hold_lines('{seats,cap:show9:ann}'));
SELECT pool, outcome, available FROM hold_try_lines('cart 2', hold_lines('{seats,cap:show9:ann}', '{2,2}'));
SELECT pool, outcome, available FROM hold_try_lines('cart 3', hold_lines('{seats,cap:show9:bob}', '{2,2}'));
SELECT pool, outcome FROM hold_consume('cart 1') ORDER BY line;
SELECT pool, outcome, available FROM hold_try_lines('cart 4', hold_lines('{seats,cap:show9:ann}', '{2,2}'));
SELECT pool, outcome, available FROM hold_try_lines('cart 5', hold_lines('{seats,cap:show9:ann}'));
SELECT * FROM state WHERE pool ~ '^(seats|cap)';

--
-- A class without a capacity: its holds bring a budget
--

SELECT hold_class_set('room');
SELECT hold_available('room:1') IS NULL AS is_null, hold_count('room:1');
SELECT * FROM hold_available_many('{room:1}');
SELECT outcome FROM hold_try('hal', 'room:1');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome, available FROM hold_try('hal', 'room:1', 3, budget => 2);
SELECT * FROM state WHERE pool ~ '^room';
SELECT outcome, available FROM hold_try('hal', 'room:1', 1, budget => 2);
SELECT outcome, available FROM hold_try('ivy', 'room:1', 2, budget => 2);
SELECT outcome FROM hold_try('ivy', 'room:1');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM state WHERE pool ~ '^room';

--
-- A function tells the capacity
--

CREATE ROLE regress_classes_app;
CREATE ROLE regress_classes_owner;
CREATE SCHEMA regress_classes AUTHORIZATION regress_classes_owner;
SELECT hold_grant_access('regress_classes_app', 'operator');
SET ROLE regress_classes_owner;
CREATE TABLE regress_classes.shows (pool text, seats numeric);
CREATE TABLE regress_classes.bookings (pool text, seats numeric);
CREATE FUNCTION regress_classes.free(pool text) RETURNS numeric LANGUAGE sql STABLE AS $$
	SELECT s.seats - COALESCE((SELECT sum(b.seats) FROM regress_classes.bookings b WHERE b.pool = s.pool), 0)
	FROM regress_classes.shows s WHERE s.pool = free.pool
$$;
INSERT INTO regress_classes.shows VALUES ('show:1', 4), ('show:2', 4);
RESET ROLE;
SELECT hold_class_set('show', capacity_from => 'regress_classes.free(text)');

-- it runs as its owner: the caller may not even use the schema
GRANT SELECT ON state TO regress_classes_app;
SET ROLE regress_classes_app;
SELECT hold_available('show:1'), hold_count('show:1');
RESET ROLE;
GRANT USAGE ON SCHEMA regress_classes TO regress_classes_app;
SET ROLE regress_classes_app;
SELECT * FROM hold_available_many('{show:1,show:3}');
SELECT outcome, available FROM hold_try('kim', 'show:1', 5);
SELECT * FROM state WHERE pool ~ '^show';
SELECT outcome, available FROM hold_try('kim', 'show:1', 3);
SELECT outcome, available FROM hold_try('lea', 'show:1', 2);
SELECT hold_available('show:1');
SELECT * FROM hold_available_many('{show:1}');

-- NULL: there is no such pool
SELECT outcome FROM hold_try('kim', 'show:3');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_available('show:3');
\echo :LAST_ERROR_SQLSTATE
SELECT pool, held FROM state WHERE pool ~ '^show';
RESET ROLE;

-- consumed units are the application's to count, and are not counted twice
BEGIN;
SELECT outcome, consumed, refunded FROM hold_consume('kim', qty => 2);
INSERT INTO regress_classes.bookings VALUES ('show:1', 2);
SELECT hold_available('show:1');
COMMIT;
SELECT hold_available('show:1');
SELECT outcome, available FROM hold_try('lea', 'show:1', 2);
SELECT pool, capacity, consumed, held FROM state WHERE pool ~ '^show';

-- a budget beside it: the smaller of the two
SELECT outcome, available FROM hold_try('max', 'show:2', 3, budget => 2);
SELECT outcome, available FROM hold_try('max', 'show:2', 5, budget => 9);

-- nothing left, or less than that: a renewal does not ask, nor does less
INSERT INTO regress_classes.bookings VALUES ('show:1', 2);
SELECT hold_available('show:1');
SELECT outcome, available FROM hold_try('max', 'show:1');
INSERT INTO regress_classes.bookings VALUES ('show:1', 1);
SELECT hold_available('show:1');
SELECT outcome, available FROM hold_try('max', 'show:1');
SELECT outcome, version FROM hold_try('lea', 'show:1', 2);
SELECT outcome, version FROM hold_renew('lea');
SELECT outcome, version FROM hold_try('lea', 'show:1', 1);
SELECT outcome, version FROM hold_try('lea', 'show:1', 1.5);
SELECT outcome, consumed FROM hold_consume('lea');
SELECT hold_available('show:1');

-- closed
SELECT outcome FROM hold_try('max', 'show:2', 1);
SELECT hold_pool_close('show:2');
SELECT hold_available('show:2');
SELECT outcome FROM hold_try('ned', 'show:2', 1);
SELECT hold_pool_open('show:2');

-- a late payment is taken if it fits by then
SELECT outcome FROM hold_try('ned', 'show:2', 3, '1 minute');
SET hold_ledger.clock_offset = '2 min';
SELECT outcome FROM hold_try('oda', 'show:2', 1);
SELECT outcome, consumed FROM hold_consume('ned', late => true);
SELECT outcome FROM hold_release('oda');
UPDATE regress_classes.shows SET seats = 3 WHERE pool = 'show:2';
SELECT outcome, consumed FROM hold_consume('ned', late => true);
SELECT outcome FROM hold_release('max', 'show:2');
SELECT outcome, consumed FROM hold_consume('ned', late => true);
INSERT INTO regress_classes.bookings VALUES ('show:2', 3);
SELECT outcome, consumed FROM hold_consume('ned', late => true);
RESET hold_ledger.clock_offset;

-- at the stricter levels
INSERT INTO regress_classes.shows VALUES ('show:4', 4);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT hold_available('show:4');
SELECT outcome, available FROM hold_try('pia', 'show:4', 1);
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT outcome FROM hold_try('ray', 'show:4', 1);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
SELECT hold_available('show:4');
SELECT * FROM hold_verify();

--
-- What the function may do
--

SELECT hold_grant_access('regress_classes_owner', 'operator');
SET ROLE regress_classes_owner;
CREATE FUNCTION regress_classes.who(pool text) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
	RAISE '% asks for % with search_path %', current_user, pool, current_setting('search_path');
END
$$;
CREATE FUNCTION regress_classes.call(pool text) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
	EXECUTE 'SELECT ' || substr(pool, 6);
	RETURN 1;
END
$$;
CREATE FUNCTION regress_classes.catch(pool text) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN public.hold_available('seats');
EXCEPTION WHEN object_not_in_prerequisite_state THEN
	RETURN 2;
END
$$;
RESET ROLE;
SELECT hold_class_set('who', capacity_from => 'regress_classes.who(text)');
SELECT hold_class_set('call', capacity_from => 'regress_classes.call(text)');
SELECT hold_class_set('catch', capacity_from => 'regress_classes.catch(text)');

-- as its owner, with nothing of the caller's
SET ROLE regress_classes_app;
SET search_path = public, regress_classes;
SELECT outcome FROM hold_try('ann', 'who:1');
SHOW search_path;
SELECT current_user;
RESET search_path;

-- not the extension's verbs
SELECT outcome FROM hold_try('ann', $$call:public.hold_try('ann', 'seats')$$);
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_try('ann', $$call:public.hold_consume('ann', 'seats')$$);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_available($$call:public.hold_available('seats')$$);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_available($$call:public.hold_sweep()$$);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_available('seats');
SELECT hold_available('catch:1'), hold_available('seats');

-- nor become somebody else
SELECT hold_available($$call:set_config('role', 'none', false)$$);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_available($$call:1/0$$);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_available($$call:1$$), current_user;
RESET ROLE;
SELECT pool FROM state WHERE pool ~ '^(who|call|catch)';

--
-- Which functions are taken
--

SET ROLE regress_classes_owner;
CREATE FUNCTION regress_classes.wide(pool text, more int DEFAULT 1) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT 1.0';
CREATE FUNCTION regress_classes.int4(pool text) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION regress_classes.varchar(pool varchar) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT 1.0';
CREATE FUNCTION regress_classes.many(pool text) RETURNS SETOF numeric LANGUAGE sql STABLE AS 'SELECT 1.0';
CREATE FUNCTION regress_classes.volatile(pool text) RETURNS numeric LANGUAGE sql AS 'SELECT 1.0';
CREATE FUNCTION regress_classes.plain(pool text) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT 1.0';
RESET ROLE;
SELECT hold_class_set('bad', capacity_from => 'regress_classes.wide(text, int)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', capacity_from => 'regress_classes.int4(text)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', capacity_from => 'regress_classes.varchar(varchar)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', capacity_from => 'regress_classes.many(text)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', capacity_from => 'regress_classes.volatile(text)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', capacity_from => 'regress_classes.nowhere(text)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', 1, capacity_from => 'regress_classes.free(text)');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_try('ann', 'bad:1');
\echo :LAST_ERROR_SQLSTATE

-- only a member of the owner may lend its rights
SET ROLE regress_classes_app;
SELECT hold_class_set('bad', capacity_from => 'regress_classes.free(text)');
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
GRANT regress_classes_owner TO regress_classes_app;
SET ROLE regress_classes_app;
SELECT hold_class_set('good', capacity_from => 'regress_classes.plain(text)');
SELECT hold_available('good:1');

-- it is kept as a name, and checked at each call
SET ROLE regress_classes_owner;
CREATE OR REPLACE FUNCTION regress_classes.plain(pool text) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT 2.0';
SELECT hold_available('good:1');
SELECT outcome, available FROM hold_try('sam', 'good:1');
ALTER FUNCTION regress_classes.plain VOLATILE;
SELECT outcome FROM hold_try('tom', 'good:1');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_release('tom');
DROP FUNCTION regress_classes.plain;
SELECT outcome FROM hold_try('tom', 'good:1');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_available('good:1');
\echo :LAST_ERROR_SQLSTATE
CREATE FUNCTION regress_classes.plain(pool text) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
SELECT outcome FROM hold_try('tom', 'good:1');
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA regress_classes CASCADE;
RESET client_min_messages;
SELECT outcome FROM hold_try('tom', 'good:1');
\echo :LAST_ERROR_SQLSTATE

-- what was promised is kept without it
SELECT outcome FROM hold_renew('sam');
SELECT outcome, consumed FROM hold_consume('sam');

--
-- Mistakes
--

SELECT hold_class_set(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set(repeat('x', 256));
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', -1);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', 1, '0');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', 1, '1 month');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_class_set('bad', 1, '8 days');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_try('ann', 'bad:1');

SELECT pool, capacity, consumed, held FROM state;
SELECT * FROM hold_verify();

DROP VIEW state;
DROP OWNED BY regress_classes_app, regress_classes_owner;
DROP ROLE regress_classes_app, regress_classes_owner;

--
-- A pool of a class that was dropped is as if the class had yet to make it
--

SELECT hold_class_set('back', 3);
SELECT outcome, available FROM hold_try('one', 'back:1', 2);
SELECT outcome FROM hold_consume('one', qty => 1);
SELECT outcome FROM hold_try('two', 'back:1');
SELECT outcome FROM hold_release('two');
SELECT hold_pool_drop('back:1');
SELECT hold_available('back:1'), hold_count('back:1');
SELECT outcome FROM hold_consume('one', 'back:1');
-- neither without a budget nor with a large one is there more than the class says
SELECT outcome, available FROM hold_try('six', 'back:1', 3);
SELECT outcome, available FROM hold_try('six', 'back:1', 50, budget => 100);
SELECT outcome FROM hold_try('one', 'back:1');
SELECT pool FROM hold_pool_status WHERE pool ~ '^back';
SELECT outcome, available FROM hold_try('six', 'back:1', 1, budget => 100);
SELECT pool, capacity, consumed, held, available FROM hold_pool_status WHERE pool ~ '^back';
SELECT event, qty, held, consumed, capacity FROM hold_entries WHERE pool = 'back:1' ORDER BY seq;
SELECT outcome FROM hold_consume('one', 'back:1');
SELECT * FROM hold_verify();

-- a function is asked for its line whatever becomes of the others
CREATE FUNCTION public.regress_two(pool text) RETURNS numeric STABLE LANGUAGE sql
	AS $$ SELECT CASE WHEN pool = 'two:1' THEN 2 END $$;
SELECT hold_class_set('two', capacity_from => 'public.regress_two(text)');
SELECT hold_pool_set('ten', 10) IS NOT NULL AS made;
SELECT pool, outcome, available FROM hold_try_lines('u', hold_lines('{two:1,ten}', '{1,100}'));
SELECT pool, outcome, available FROM hold_try_lines('u', hold_lines('{two:1,ten}', '{5,100}'));
SELECT pool, outcome, available FROM hold_try_lines('u', hold_lines('{two:1,ten}', '{5,100}', '{8,NULL}'));
SELECT outcome FROM hold_try_lines('u', hold_lines('{two:2,ten}', '{1,100}'));
\echo :LAST_ERROR_SQLSTATE
-- and whatever a budget says
SELECT outcome, available FROM hold_try('u', 'two:1', 4, budget => 3);
SELECT outcome, available FROM hold_try('u', 'two:1', 4, budget => 1);
SELECT outcome FROM hold_try('u', 'two:2', 1, budget => 0);
\echo :LAST_ERROR_SQLSTATE
SELECT pool FROM hold_pool_status WHERE pool ~ '^two';
DROP FUNCTION regress_two;
