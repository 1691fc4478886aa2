-- Confirmed stays that an application inserts into room_stays itself.

SET hold_ledger.tenant = 'stays direct';
SET DateStyle = ISO;
CREATE ROLE regress_stays_app;
SELECT hold_grant_access('regress_stays_app', 'app');

CREATE TEMP VIEW rooms AS
SELECT room_id, stay, token, regress_minutes(expires_at) AS minutes, version,
	reservation_id, ref
FROM room_stays WHERE tenant = hold_tenant() ORDER BY room_id, stay;
CREATE TEMP VIEW by_app AS
SELECT room_id, seq, event, token, qty, held, consumed, stay,
	reservation_id, ref, actor = 'regress_stays_app' AS by_app
FROM hold_entries WHERE pool IS NULL ORDER BY room_id, seq;
GRANT SELECT ON by_app TO regress_stays_app;

--
-- As an application
--

SET ROLE regress_stays_app;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (1, 11, '[2031-05-01,2031-05-03)');
INSERT INTO room_stays (room_id, ref, stay) VALUES (1, 'R-12', '[2031-05-03,2031-05-04]');
INSERT INTO room_stays (room_id, reservation_id, stay, ref)
VALUES (1, 13, '[2031-05-07,2031-05-08)', 'R-13');

-- half-open nights: the cases of old
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (1, 14, '[2031-04-30,2031-05-05)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (1, 14, '(2031-05-03,2031-05-05)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (1, 15, '[2031-05-05,2031-05-07)');

-- neither a reservation nor a ref
INSERT INTO room_stays (room_id, stay) VALUES (2, '[2031-05-01,2031-05-03)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (reservation_id, stay) VALUES (2, '[2031-05-01,2031-05-03)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id) VALUES (2, 2);
\echo :LAST_ERROR_SQLSTATE

-- nothing else is an application's to give
INSERT INTO room_stays (stay_id, room_id, reservation_id, stay) VALUES (1, 2, 2, '[2031-05-01,2031-05-03)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (tenant, room_id, reservation_id, stay) VALUES ('a', 2, 2, '[2031-05-01,2031-05-03)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay, token) VALUES (2, 2, '[2031-05-01,2031-05-03)', 'a');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay, expires_at) VALUES (2, 2, '[2031-05-01,2031-05-03)', now());
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay, version) VALUES (2, 2, '[2031-05-01,2031-05-03)', 7);
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay, payload) VALUES (2, 2, '[2031-05-01,2031-05-03)', '{}');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (2, 2, '[2031-05-01,2031-05-03)') RETURNING stay_id;
\echo :LAST_ERROR_SQLSTATE
SELECT stay FROM room_stays;
\echo :LAST_ERROR_SQLSTATE
UPDATE room_stays SET room_id = 2;
\echo :LAST_ERROR_SQLSTATE
DELETE FROM room_stays;
\echo :LAST_ERROR_SQLSTATE
TRUNCATE room_stays;
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

SELECT * FROM rooms;
SELECT * FROM by_app;
SELECT count(DISTINCT stay_id), bool_and(tenant = hold_tenant()) AS own_tenant,
	bool_and(held_since <= hold_clock()) AS since
FROM room_stays WHERE room_id = 1 AND tenant = hold_tenant();
SELECT regress_ok();

--
-- What is held
--

SELECT outcome FROM hold_try_stay('ann', 3, '[2031-06-01,2031-06-03)', '5 min');
SELECT outcome FROM hold_try_stay('bob', 3, '[2031-06-03,2031-06-05)', '5 min');
SELECT outcome FROM hold_try_stay('cid', 3, '[2031-06-05,2031-06-07)', '30 min');
SET ROLE regress_stays_app;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 21, '[2031-06-02,2031-06-04)');
\echo :LAST_ERROR_SQLSTATE

-- an expired one never stands in the way, unswept; a live one does, and then
-- the insert leaves nothing behind
RESET ROLE;
SET hold_ledger.clock_offset = '5 min';
SET ROLE regress_stays_app;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 21, '[2031-06-02,2031-06-06)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 22, '[2031-06-02,2031-06-04)');
RESET ROLE;
SELECT * FROM rooms WHERE room_id = 3;
SELECT * FROM by_app WHERE room_id = 3;
SELECT kind, state FROM hold_get('ann');
SELECT outcome, taken, retry_at FROM hold_try_stay('ann', 3, '[2031-06-01,2031-06-03)');
RESET hold_ledger.clock_offset;
SELECT regress_ok();

--
-- ON CONFLICT DO NOTHING: no row, no ledger row
--

INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 23, '[2031-06-03,2031-06-05)')
ON CONFLICT DO NOTHING;
SET ROLE regress_stays_app;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 23, '[2031-06-05,2031-06-06)')
ON CONFLICT DO NOTHING;
INSERT INTO room_stays (room_id, reservation_id, stay)
VALUES (3, 24, '[2031-06-10,2031-06-12)'), (3, 25, '[2031-06-11,2031-06-13)'), (3, 26, '[2031-06-12,2031-06-13)')
ON CONFLICT DO NOTHING;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 27, '[2031-06-12,2031-06-13)')
ON CONFLICT (stay_id) DO NOTHING;
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 27, '[2031-06-12,2031-06-13)')
ON CONFLICT ON CONSTRAINT room_stays_no_overlap DO NOTHING;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 27, '[2031-06-12,2031-06-13)')
ON CONFLICT ON CONSTRAINT room_stays_no_overlap DO UPDATE SET reservation_id = 27;
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 27, '[2031-06-12,2031-06-13)')
ON CONFLICT (stay_id) DO UPDATE SET reservation_id = 27;
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM rooms WHERE room_id = 3;
SELECT * FROM by_app WHERE room_id = 3 AND reservation_id > 22;
-- in a room that nobody knew
SELECT outcome FROM hold_try_stay('dan', 4, '[2031-06-01,2031-06-03)');
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (4, 31, '[2031-06-01,2031-06-02)')
ON CONFLICT DO NOTHING;
SELECT * FROM by_app WHERE room_id = 4;
SELECT regress_ok();

--
-- Many rows
--

SET ROLE regress_stays_app;
-- all or none
INSERT INTO room_stays (room_id, reservation_id, stay)
SELECT 9 - n, 40 + n, '[2031-06-01,2031-06-03)' FROM generate_series(0, 3) n;
INSERT INTO room_stays (room_id, reservation_id, stay)
VALUES (10, 50, '[2031-06-01,2031-06-03)'), (10, 51, '[2031-06-02,2031-06-03)');
\echo :LAST_ERROR_SQLSTATE
COPY room_stays (room_id, reservation_id, stay, ref) FROM stdin;
11	60	[2031-06-01,2031-06-03)	\N
11	\N	[2031-06-03,2031-06-05)	R-61
12	62	[2031-06-03,2031-06-05)	R-62
\.
COPY room_stays (room_id, reservation_id, stay) FROM stdin;
11	63	[2031-06-10,2031-06-13)
11	64	[2031-06-12,2031-06-13)
\.
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
SELECT * FROM rooms WHERE room_id >= 6;
SELECT * FROM by_app WHERE room_id >= 6;
SELECT regress_ok();

-- in a transaction, a savepoint, a prepared transaction
BEGIN;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (13, 70, '[2031-06-01,2031-06-03)');
SAVEPOINT a;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (13, 71, '[2031-06-02,2031-06-03)');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO a;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (13, 72, '[2031-06-04,2031-06-05)');
ROLLBACK TO a;
SELECT outcome, taken FROM hold_try_stay('eve', 13, '[2031-06-01,2031-06-05)');
SELECT outcome, taken FROM hold_try_stay('eve', 13, '[2031-06-03,2031-06-05)');
COMMIT;
BEGIN;
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (14, 73, '[2031-06-01,2031-06-03)');
PREPARE TRANSACTION 'regress_stays';
COMMIT PREPARED 'regress_stays';
SELECT * FROM by_app WHERE room_id IN (13, 14);
SELECT regress_ok();

--
-- As the owner, who can name more columns
--

INSERT INTO room_stays (tenant, room_id, reservation_id, stay)
VALUES ('stays direct', 20, 80, '[2031-06-01,2031-06-03)');
INSERT INTO room_stays (tenant, room_id, reservation_id, stay)
VALUES ('another', 20, 81, '[2031-06-05,2031-06-06)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (tenant, room_id, reservation_id, stay)
VALUES ('', 20, 81, '[2031-06-05,2031-06-06)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, stay, token, expires_at)
VALUES (20, '[2031-06-05,2031-06-06)', 'ann', now() + '1 hour');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay, token_key)
VALUES (20, 81, '[2031-06-05,2031-06-06)', hold_token_key('stays direct', 'ann'));
\echo :LAST_ERROR_SQLSTATE
-- a row from a dump brings all of it
BEGIN;
INSERT INTO room_stays (stay_id, tenant, room_id, reservation_id, stay, token, token_key, held_since, version)
VALUES (-1, 'stays direct', 20, 81, '[2031-06-05,2031-06-06)', 'ann', hold_token_key('stays direct', 'ann'), now(), 3);
SELECT token, token_key = hold_token_key(tenant, token) AS same_key, version
FROM room_stays WHERE stay_id = -1;
ROLLBACK;
SELECT * FROM rooms WHERE room_id = 20;

UPDATE room_stays SET stay = '[2031-06-05,2031-06-06)' WHERE room_id = 20;
\echo :LAST_ERROR_SQLSTATE
UPDATE room_stays SET payload = '{}' WHERE false;
\echo :LAST_ERROR_SQLSTATE
DELETE FROM room_stays WHERE room_id = 20;
\echo :LAST_ERROR_SQLSTATE
TRUNCATE room_stays;
\echo :LAST_ERROR_SQLSTATE
MERGE INTO room_stays r USING (VALUES (20)) v (room_id) ON r.room_id = v.room_id
WHEN MATCHED THEN DELETE;
\echo :LAST_ERROR_SQLSTATE
SET session_replication_role = replica;
DELETE FROM room_stays WHERE room_id = 20;
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (20, 82, '[2031-06-03,2031-06-04)');
RESET session_replication_role;
SELECT * FROM by_app WHERE room_id = 20;
SELECT regress_ok();

--
-- Moved, cancelled, met by holds
--

SELECT stay_id AS id FROM room_stays WHERE tenant = hold_tenant() AND reservation_id = 80 \gset
SELECT outcome, room_id, stay, taken FROM hold_move_stay(:id, stay => '[2031-06-02,2031-06-04)');
SELECT outcome, room_id, stay, taken FROM hold_move_stay(:id, 21, '[2031-06-02,2031-06-04)');
SELECT outcome, room_id, stay, taken FROM hold_move_stay(:id, stay => '[2031-06-03,2031-06-09)');
SELECT outcome, taken, retry_at FROM hold_try_stay('fay', 21, '[2031-06-08,2031-06-10)');
SELECT outcome FROM hold_try_stay('fay', 21, '[2031-06-09,2031-06-10)');
SELECT hold_cancel_stay(:id);
SELECT hold_cancel_stay(:id);
SELECT outcome FROM hold_try_stay('fay', 21, '[2031-06-08,2031-06-10)');
SELECT * FROM rooms WHERE room_id IN (20, 21);
SELECT DISTINCT ON (room_id) room_id, held, consumed FROM by_app
WHERE room_id IN (20, 21) ORDER BY room_id, seq DESC;
SELECT regress_ok();

-- the same nights may be inserted again after that
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (20, 80, '[2031-06-01,2031-06-03)');
SELECT regress_ok();

--
-- Rows that come from a dump, with their ids, are left alone
--

CREATE TEMP TABLE dumped AS SELECT * FROM room_stays WHERE tenant = hold_tenant();
CREATE TEMP TABLE entries AS SELECT count(*) FROM hold_entries;
BEGIN;
SET LOCAL session_replication_role = replica;
ALTER TABLE room_stays DISABLE TRIGGER by_functions_only;
DELETE FROM room_stays WHERE tenant = hold_tenant();
ALTER TABLE room_stays ENABLE ALWAYS TRIGGER by_functions_only;
SET LOCAL session_replication_role = origin;
SET LOCAL hold_ledger.tenant = 'whoever restores';
INSERT INTO room_stays SELECT * FROM dumped;
SET LOCAL hold_ledger.tenant = 'stays direct';
SELECT count(*) > 10 AS restored FROM (TABLE dumped INTERSECT SELECT * FROM room_stays) same;
SELECT count(*) FROM (TABLE dumped EXCEPT SELECT * FROM room_stays) lost;
SELECT count(*) = (TABLE entries) AS no_new_entries FROM hold_entries;
SELECT regress_ok();
COMMIT;

--
-- The guard: only stays that were confirmed in the transaction
--

CREATE TABLE regress_bookings (id int PRIMARY KEY, token text);
CREATE CONSTRAINT TRIGGER paid AFTER INSERT OR UPDATE ON regress_bookings
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_require_consumed('token');
SELECT outcome FROM hold_try_stay('gil', 30, '[2031-06-01,2031-06-03)');
INSERT INTO regress_bookings VALUES (1, 'gil');
\echo :LAST_ERROR_SQLSTATE
BEGIN;
SELECT outcome FROM hold_consume('gil', reservation_id => 1);
INSERT INTO regress_bookings VALUES (1, 'gil');
COMMIT;
-- a retry confirms nothing, nor does what was given up or rolled back
BEGIN;
SELECT outcome FROM hold_consume('gil', reservation_id => 1);
INSERT INTO regress_bookings VALUES (2, 'gil');
COMMIT;
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_try_stay('hob', 30, '[2031-06-03,2031-06-05)');
BEGIN;
SELECT outcome FROM hold_consume('hob', reservation_id => 2);
SELECT outcome, refunded FROM hold_return('hob');
INSERT INTO regress_bookings VALUES (2, 'hob');
COMMIT;
\echo :LAST_ERROR_SQLSTATE
BEGIN;
SELECT outcome FROM hold_consume('hob', reservation_id => 2);
SELECT hold_cancel_stay(stay_id) FROM room_stays WHERE token = 'hob' AND tenant = hold_tenant();
INSERT INTO regress_bookings VALUES (2, 'hob');
COMMIT;
\echo :LAST_ERROR_SQLSTATE
BEGIN;
SAVEPOINT a;
SELECT outcome FROM hold_consume('hob', reservation_id => 2);
ROLLBACK TO a;
INSERT INTO regress_bookings VALUES (2, 'hob');
COMMIT;
\echo :LAST_ERROR_SQLSTATE
BEGIN;
SELECT outcome FROM hold_consume('hob', reservation_id => 2);
SELECT outcome, taken FROM hold_move_stay((SELECT stay_id FROM room_stays
	WHERE token = 'hob' AND tenant = hold_tenant()), 31);
INSERT INTO regress_bookings VALUES (2, 'hob');
COMMIT;
TABLE regress_bookings;
-- to move an old one is not to confirm it
BEGIN;
SELECT outcome, taken FROM hold_move_stay((SELECT stay_id FROM room_stays
	WHERE token = 'hob' AND tenant = hold_tenant()), 32);
INSERT INTO regress_bookings VALUES (3, 'hob');
COMMIT;
\echo :LAST_ERROR_SQLSTATE
-- moved to fewer nights and then given up: nothing is left
SELECT outcome FROM hold_try_stay('ira', 33, '[2031-06-03,2031-06-09)');
BEGIN;
SELECT outcome FROM hold_consume('ira', reservation_id => 3);
SELECT outcome FROM hold_move_stay((SELECT stay_id FROM room_stays
	WHERE token = 'ira' AND tenant = hold_tenant()), stay => '[2031-06-03,2031-06-05)');
SELECT hold_cancel_stay(stay_id) FROM room_stays WHERE token = 'ira' AND tenant = hold_tenant();
INSERT INTO regress_bookings VALUES (3, 'ira');
COMMIT;
\echo :LAST_ERROR_SQLSTATE
-- what is given up before is an older one
SELECT outcome FROM hold_consume('ira', reservation_id => 3);
BEGIN;
SELECT outcome FROM hold_return('ira');
SELECT outcome FROM hold_try_stay('ira', 33, '[2031-06-03,2031-06-05)');
SELECT outcome FROM hold_consume('ira', reservation_id => 4);
INSERT INTO regress_bookings VALUES (4, 'ira');
COMMIT;
TABLE regress_bookings;
SELECT regress_ok();

DROP TABLE regress_bookings;
DROP VIEW by_app;
DROP OWNED BY regress_stays_app;
DROP ROLE regress_stays_app;
