-- hold_require_consumed: a row of the application's own table cannot commit
-- unless its token was consumed in the same transaction.

SET hold_ledger.tenant = 'guard';
SELECT hold_pool_set('seats', 1000) IS NOT NULL AS made;

CREATE TABLE bookings (id int PRIMARY KEY, token text, note text);
CREATE CONSTRAINT TRIGGER paid AFTER INSERT OR UPDATE ON bookings
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('token');

-- holds a unit for each token
CREATE PROCEDURE hold_all(VARIADIC tokens text[]) LANGUAGE sql AS $$
	SELECT hold_try(token, 'seats', 2) FROM unnest(tokens) token
$$;

--
-- Accepted and refused
--

CALL hold_all('ann', 'bob');
BEGIN;
SELECT outcome FROM hold_consume('ann');
INSERT INTO bookings VALUES (1, 'ann');
COMMIT;
INSERT INTO bookings VALUES (2, 'bob');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO bookings VALUES (2, 'nobody');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO bookings VALUES (2, '');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO bookings VALUES (2, NULL);

-- the order within the transaction does not matter, and a part is enough
BEGIN;
INSERT INTO bookings VALUES (3, 'bob');
SELECT outcome FROM hold_consume('bob', qty => 0.5, final => false, ref => 'a');
COMMIT;

-- so does one statement
CALL hold_all('zoe');
WITH consumed AS (SELECT outcome FROM hold_consume('zoe'))
INSERT INTO bookings SELECT 0, 'zoe' FROM consumed;

-- a transaction before is not enough, though the retry is told of it
BEGIN;
SELECT outcome FROM hold_consume('ann');
INSERT INTO bookings VALUES (4, 'ann');
COMMIT;
BEGIN;
SELECT outcome FROM hold_consume('bob', qty => 0.5, final => false, ref => 'a');
INSERT INTO bookings VALUES (4, 'bob');
COMMIT;

-- nor is another way to end a hold
CALL hold_all('cid', 'dan');
BEGIN;
SELECT outcome FROM hold_release('cid');
SELECT outcome FROM hold_consume('dan', qty => 0);
INSERT INTO bookings VALUES (4, 'cid'), (5, 'dan');
COMMIT;

-- one row without pulls the others down
CALL hold_all('eve', 'fay');
BEGIN;
SELECT outcome FROM hold_consume('eve');
INSERT INTO bookings VALUES (4, 'eve'), (5, 'fay');
COMMIT;
SELECT state FROM hold_get('eve');
BEGIN;
SELECT outcome FROM hold_consume('eve');
SELECT outcome FROM hold_consume('fay');
INSERT INTO bookings VALUES (4, 'eve'), (5, 'fay'), (6, 'eve');
COMMIT;

-- what was returned again does not count; a part that stays does
CALL hold_all('gus', 'hal');
BEGIN;
SELECT outcome FROM hold_consume('gus');
INSERT INTO bookings VALUES (7, 'gus');
SELECT outcome FROM hold_return('gus');
COMMIT;
BEGIN;
SELECT outcome FROM hold_consume('hal');
SELECT outcome FROM hold_return('hal', qty => 1.5, ref => 'a');
INSERT INTO bookings VALUES (7, 'hal');
COMMIT;

-- consumed late
CALL hold_all('ivy');
SET hold_ledger.clock_offset = '1 h';
BEGIN;
SELECT outcome FROM hold_consume('ivy', late => true);
INSERT INTO bookings VALUES (8, 'ivy');
COMMIT;
RESET hold_ledger.clock_offset;

--
-- Savepoints
--

CALL hold_all('jim', 'kim', 'lea');
BEGIN;
INSERT INTO bookings VALUES (9, 'jim');
SAVEPOINT a;
SELECT outcome FROM hold_consume('jim');
RELEASE a;
COMMIT;
BEGIN;
INSERT INTO bookings VALUES (10, 'kim');
SAVEPOINT a;
SELECT outcome FROM hold_consume('kim');
ROLLBACK TO a;
COMMIT;
BEGIN;
SAVEPOINT a;
INSERT INTO bookings VALUES (10, 'kim');
ROLLBACK TO a;
COMMIT;
BEGIN;
SELECT outcome FROM hold_consume('kim');
SAVEPOINT a;
SELECT outcome FROM hold_return('kim');
ROLLBACK TO a;
INSERT INTO bookings VALUES (10, 'kim');
COMMIT;
DO $$ BEGIN
	INSERT INTO bookings VALUES (11, 'lea');
	BEGIN
		PERFORM hold_consume('lea');
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
	END;
END $$;
DO $$ BEGIN
	INSERT INTO bookings VALUES (11, 'lea');
	BEGIN
		PERFORM hold_consume('lea');
	EXCEPTION WHEN division_by_zero THEN
	END;
END $$;

--
-- Changed rows
--

SELECT id, token FROM bookings ORDER BY id;
UPDATE bookings SET note = 'window', token = token, id = id + 100;
UPDATE bookings SET token = NULL WHERE id = 101;
UPDATE bookings SET token = 'ann' WHERE id = 101;
CALL hold_all('max', 'ned');
UPDATE bookings SET token = 'max' WHERE id = 103;
BEGIN;
SELECT outcome FROM hold_consume('max');
UPDATE bookings SET token = 'max' WHERE id IN (101, 103);
COMMIT;

-- what the row is in the end counts, however often it was touched
BEGIN;
INSERT INTO bookings VALUES (20, 'ned');
UPDATE bookings SET note = 'aisle' WHERE id = 20;
COMMIT;
BEGIN;
UPDATE bookings SET token = 'ned' WHERE id = 103;
UPDATE bookings SET note = 'aisle' WHERE id = 103;
UPDATE bookings SET note = 'window' WHERE id = 103;
COMMIT;
BEGIN;
INSERT INTO bookings VALUES (20, 'nobody');
SELECT outcome FROM hold_consume('ned');
UPDATE bookings SET token = 'ned' WHERE id = 20;
COMMIT;
BEGIN;
INSERT INTO bookings VALUES (21, 'nobody');
UPDATE bookings SET token = NULL WHERE id = 21;
COMMIT;

-- a row that is gone again
BEGIN;
INSERT INTO bookings VALUES (22, 'nobody');
UPDATE bookings SET note = 'aisle' WHERE id = 22;
DELETE FROM bookings WHERE id = 22;
COMMIT;
DELETE FROM bookings WHERE id = 20;
SELECT id, token FROM bookings ORDER BY id;

--
-- When it is checked
--

CALL hold_all('oda', 'pia');
BEGIN;
INSERT INTO bookings VALUES (30, 'oda');
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
BEGIN;
SET CONSTRAINTS paid IMMEDIATE;
SELECT outcome FROM hold_consume('oda');
INSERT INTO bookings VALUES (30, 'oda');
INSERT INTO bookings VALUES (31, 'pia');
ROLLBACK;
BEGIN;
SELECT outcome FROM hold_consume('oda');
INSERT INTO bookings VALUES (30, 'oda');
PREPARE TRANSACTION 'regress_guard';
COMMIT PREPARED 'regress_guard';
BEGIN;
INSERT INTO bookings VALUES (31, 'oda');
PREPARE TRANSACTION 'regress_guard';
\echo :LAST_ERROR_SQLSTATE

-- not where rows are replayed
SET session_replication_role = replica;
INSERT INTO bookings VALUES (32, 'nobody');
RESET session_replication_role;

--
-- The tenant is the current one
--

CALL hold_all('ray');
SET hold_ledger.tenant = 'guard 2';
SELECT hold_pool_set('seats', 10) IS NOT NULL AS made;
CALL hold_all('ray', 'sam');
BEGIN;
SELECT outcome FROM hold_consume('sam');
INSERT INTO bookings VALUES (33, 'sam');
SET LOCAL hold_ledger.tenant = 'guard';
COMMIT;
BEGIN;
SELECT outcome FROM hold_consume('ray');
SET LOCAL hold_ledger.tenant = 'guard';
INSERT INTO bookings VALUES (33, 'ray');
COMMIT;
BEGIN;
SET LOCAL hold_ledger.tenant = 'guard';
SELECT outcome FROM hold_consume('ray');
SET LOCAL hold_ledger.tenant = 'guard 2';
SELECT outcome FROM hold_consume('ray');
INSERT INTO bookings VALUES (33, 'ray');
SELECT outcome FROM hold_return('ray');
SET LOCAL hold_ledger.tenant = 'guard';
COMMIT;
SET hold_ledger.tenant = 'guard';

--
-- Other columns, other tables, other roles
--

CREATE TABLE orders (plain varchar(40), id uuid, number int, code char(8)) PARTITION BY LIST (number);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES IN (1);
CREATE TABLE orders_2 PARTITION OF orders FOR VALUES IN (2);
CREATE CONSTRAINT TRIGGER paid AFTER INSERT OR UPDATE ON orders
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('id');
CREATE CONSTRAINT TRIGGER plain_paid AFTER INSERT ON orders
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('plain');
CREATE CONSTRAINT TRIGGER code_paid AFTER INSERT ON orders
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('code');
CALL hold_all('11111111-2222-3333-4444-555555555555', 'tom', 'una');
BEGIN;
SELECT outcome FROM hold_consume('11111111-2222-3333-4444-555555555555');
SELECT outcome FROM hold_consume('tom');
SELECT outcome FROM hold_consume('una');
INSERT INTO orders VALUES ('tom', '11111111222233334444555555555555', 1, 'una');
COMMIT;
INSERT INTO orders VALUES ('tom', NULL, 1, NULL);
INSERT INTO orders VALUES (NULL, '11111111222233334444555555555555', 1, NULL);
INSERT INTO orders VALUES (NULL, NULL, 2, 'una');
INSERT INTO orders VALUES (repeat('x', 40), NULL, 2, NULL);
UPDATE orders SET number = number, plain = NULL;
SELECT * FROM orders;

CREATE ROLE regress_guard_app;
SELECT hold_grant_access('regress_guard_app', 'app');
CREATE SCHEMA regress_guard AUTHORIZATION regress_guard_app;
CALL hold_all('vic', 'wim');
SET ROLE regress_guard_app;
CREATE TABLE regress_guard.tickets (token text);
CREATE CONSTRAINT TRIGGER paid AFTER INSERT OR UPDATE ON regress_guard.tickets
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('token');
SET search_path = '';
BEGIN;
SELECT outcome FROM public.hold_consume('vic');
INSERT INTO regress_guard.tickets VALUES ('vic');
COMMIT;
INSERT INTO regress_guard.tickets VALUES ('wim');
\echo :LAST_ERROR_SQLSTATE
RESET search_path;
RESET ROLE;

--
-- Mistakes
--

SELECT hold_require_consumed();
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE wrong (token text);
CREATE CONSTRAINT TRIGGER paid AFTER INSERT ON wrong
	FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('tokn');
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER paid ON wrong;
CREATE CONSTRAINT TRIGGER paid AFTER INSERT ON wrong
	FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('ctid');
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER paid ON wrong;
CREATE CONSTRAINT TRIGGER paid AFTER INSERT ON wrong
	FOR EACH ROW EXECUTE FUNCTION hold_require_consumed();
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER paid ON wrong;
CREATE CONSTRAINT TRIGGER paid AFTER INSERT ON wrong
	FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('token', 'token');
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER paid ON wrong;
CREATE TRIGGER paid BEFORE INSERT ON wrong
	FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('token');
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER paid ON wrong;
CREATE TRIGGER paid AFTER INSERT ON wrong
	FOR EACH STATEMENT EXECUTE FUNCTION hold_require_consumed('token');
INSERT INTO wrong VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER paid ON wrong;
INSERT INTO wrong VALUES (NULL);
CREATE CONSTRAINT TRIGGER paid AFTER DELETE ON wrong
	FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('token');
DELETE FROM wrong;
\echo :LAST_ERROR_SQLSTATE

-- what was returned before the consumption was older
SELECT hold_pool_set('again', 9) IS NOT NULL AS made;
SELECT outcome FROM hold_try('old', 'again', 3);
SELECT outcome FROM hold_consume('old');
BEGIN;
SELECT outcome, refunded FROM hold_return('old');
SELECT outcome FROM hold_try('old', 'again', 3);
SELECT outcome FROM hold_consume('old');
INSERT INTO bookings VALUES (900, 'old');
COMMIT;
BEGIN;
SELECT outcome, refunded FROM hold_return('old');
SELECT outcome FROM hold_try('old', 'again', 2);
SELECT outcome FROM hold_consume('old');
SELECT outcome, refunded FROM hold_return('old');
INSERT INTO bookings VALUES (901, 'old');
COMMIT;
\echo :LAST_ERROR_SQLSTATE

SELECT regress_ok();
DROP TABLE bookings, orders, wrong;
DROP PROCEDURE hold_all;
DROP OWNED BY regress_guard_app;
DROP ROLE regress_guard_app;

-- rooms that are exchanged: the old stay is given up, the new one was consumed here
CREATE TABLE exchanges (token text);
CREATE CONSTRAINT TRIGGER consumed AFTER INSERT ON exchanges
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('token');
SELECT outcome FROM hold_try_stay('exchange', 231, '[2031-01-01,2031-01-03)');
SELECT outcome FROM hold_consume('exchange', ref => 'x');
SELECT outcome FROM hold_try_stay('exchange', 232, '[2031-01-01,2031-01-03)');
BEGIN;
INSERT INTO exchanges VALUES ('exchange');
SELECT outcome, room_id FROM hold_consume('exchange', ref => 'y');
SELECT hold_cancel_stay(stay_id) FROM room_stays WHERE room_id = 231 AND ref = 'x';
COMMIT;
-- the other way round nothing is left of what was consumed here
SELECT outcome FROM hold_try_stay('exchange', 231, '[2031-01-01,2031-01-03)');
BEGIN;
INSERT INTO exchanges VALUES ('exchange');
SELECT outcome, room_id FROM hold_consume('exchange', ref => 'z');
SELECT hold_cancel_stay(stay_id) FROM room_stays WHERE room_id = 231 AND ref = 'z';
COMMIT;
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM exchanges;
DROP TABLE exchanges;
