-- Tables of the application that refer to hold_pools (pool_id), and what else
-- others may put on the extension's tables.

SET hold_ledger.tenant = 'foreign_keys';

SELECT hold_pool_set('show', 2) AS pool_id \gset

CREATE TABLE regress_shows (
	show_id integer PRIMARY KEY,
	pool_id bigint NOT NULL UNIQUE REFERENCES hold_pools (pool_id)
);
CREATE TABLE regress_seats (
	pool_id bigint REFERENCES hold_pools (pool_id) ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED
);
INSERT INTO regress_shows VALUES (1, :pool_id);
INSERT INTO regress_seats VALUES (:pool_id);

-- what is not there cannot be referred to
\set VERBOSITY sqlstate
INSERT INTO regress_shows VALUES (2, -1);
\set VERBOSITY default

-- verbs work on a pool that is referred to
SELECT outcome FROM hold_try('ann', 'show', 2);
SELECT outcome FROM hold_consume('ann', qty => 1);
SELECT hold_pool_set('show', 5) = :pool_id AS same;
SELECT hold_pool_close('show');
SELECT hold_pool_open('show');

-- in one transaction, in either order
BEGIN;
INSERT INTO regress_seats VALUES (:pool_id);
SELECT outcome FROM hold_try('bob', 'show', 1);
INSERT INTO regress_seats VALUES (:pool_id);
SELECT outcome FROM hold_consume('bob');
COMMIT;

-- a pool made in the same transaction
BEGIN;
INSERT INTO regress_shows SELECT 3, hold_pool_set('new show', 1);
SELECT outcome FROM hold_try('cid', 'new show', 1);
COMMIT;
BEGIN;
SELECT outcome FROM hold_try('dan', 'outside', 1, budget => 1);
INSERT INTO regress_shows SELECT 4, pool_id FROM hold_get('dan');
COMMIT;
SELECT s.show_id, p.pool, p.available FROM regress_shows s JOIN hold_pool_status p USING (pool_id) ORDER BY show_id;

-- a dropped pool keeps its pool_id, so what refers to it stays right
SELECT outcome FROM hold_release('cid');
SELECT hold_pool_drop('new show');
SELECT count(*) FROM regress_shows;
SELECT hold_pool_set('new show', 1) = (SELECT pool_id FROM regress_shows WHERE show_id = 3) AS same;

-- nobody takes the pool away from them
DELETE FROM hold_pools WHERE pool_id = :pool_id;
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM regress_seats;

-- an app that may refer to pools needs no right to read them
CREATE ROLE regress_app;
SELECT hold_grant_access('regress_app', 'app');
GRANT INSERT ON regress_seats TO regress_app;
SET ROLE regress_app;
INSERT INTO regress_seats SELECT pool_id FROM hold_get('dan');
RESET ROLE;
DROP OWNED BY regress_app;
DROP ROLE regress_app;

DROP TABLE regress_shows, regress_seats;

--
-- Triggers and row security of others are passed over by the functions
--

CREATE FUNCTION regress_trap() RETURNS trigger
LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a trigger of others'; END $$;
CREATE TRIGGER regress_row BEFORE INSERT OR UPDATE OR DELETE ON holds
	FOR EACH ROW EXECUTE FUNCTION regress_trap();
CREATE TRIGGER regress_statement AFTER INSERT OR UPDATE ON hold_pools
	FOR EACH STATEMENT EXECUTE FUNCTION regress_trap();
CREATE TRIGGER regress_row BEFORE INSERT ON hold_ledger
	FOR EACH ROW EXECUTE FUNCTION regress_trap();
ALTER TABLE holds ENABLE ROW LEVEL SECURITY;
ALTER TABLE holds FORCE ROW LEVEL SECURITY;
SELECT outcome FROM hold_try('eve', 'show', 1);
SELECT outcome FROM hold_try('eve', 'show', 2);
SELECT outcome FROM hold_consume('eve', qty => 1);
SELECT hold_pool_add('show', 1);
SELECT hold_pool_set('another', 1) IS NOT NULL AS made;
DROP TRIGGER regress_row ON holds;
DROP TRIGGER regress_statement ON hold_pools;
DROP TRIGGER regress_row ON hold_ledger;
ALTER TABLE holds NO FORCE ROW LEVEL SECURITY;
ALTER TABLE holds DISABLE ROW LEVEL SECURITY;
DROP FUNCTION regress_trap;

SELECT regress_ok();

--
-- Foreign keys to and from room_stays
--
CREATE TABLE regress_rooms (room_id bigint PRIMARY KEY);
INSERT INTO regress_rooms VALUES (801), (802);
ALTER TABLE room_stays ADD CONSTRAINT regress_room FOREIGN KEY (room_id) REFERENCES regress_rooms NOT VALID;
CREATE TABLE regress_desk (stay_id bigint REFERENCES room_stays (stay_id));
SELECT outcome FROM hold_try_stay('keys', 801, '[2031-08-01,2031-08-03)');
SELECT outcome FROM hold_consume('keys', reservation_id => 1);
INSERT INTO regress_desk SELECT stay_id FROM hold_stays WHERE room_id = 801;
SELECT stay_id FROM regress_desk \gset
\set VERBOSITY sqlstate
SELECT outcome FROM hold_try_stay('keys2', 899, '[2031-08-01,2031-08-03)');
SELECT outcome FROM hold_move_stay(:stay_id, 899);
SELECT hold_cancel_stay(:stay_id);
\set VERBOSITY default
SELECT outcome, room_id FROM hold_move_stay(:stay_id, 802);
DELETE FROM regress_desk;
SELECT hold_cancel_stay(:stay_id);
ALTER TABLE room_stays DROP CONSTRAINT regress_room;
DROP TABLE regress_desk, regress_rooms;
SELECT regress_ok();
