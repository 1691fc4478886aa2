-- Ways that no other file takes, found by the coverage of src/.

SET hold_ledger.tenant = 'corners';

-- a lease that is over before it begins
SELECT hold_pool_set('lease', 5) IS NOT NULL AS made;
SELECT hold_pool_renew('lease', 5, '2001-01-01');
\echo :LAST_ERROR_SQLSTATE

-- a stay moved to other nights with another payload
SELECT outcome FROM hold_try_stay('ann', 81, '[2031-05-01,2031-05-03)', payload => '{"n": 1}');
SELECT outcome FROM hold_try_stay('ann', 81, '[2031-05-02,2031-05-04)', payload => '{"n": 2}');
SELECT stay, payload FROM hold_get('ann');

-- a stay is confirmed as a whole, in a batch too
SELECT outcome FROM hold_consume_batch('{ann}', '{1}', '{r}');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_consume_batch('{ann}');
\echo :LAST_ERROR_SQLSTATE

-- a capacity function that is nobody else's
CREATE FUNCTION pg_temp.mine(pool text) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT 1.0';
\set VERBOSITY sqlstate
SELECT hold_class_set('temp', capacity_from => 'pg_temp.mine(text)');
\set VERBOSITY default
SELECT hold_class_set('none', capacity_from => 4294967295::oid::regprocedure);
\echo :LAST_ERROR_SQLSTATE

-- one that says no to what lapsed, and to what was never there
CREATE TABLE regress_left (pool text PRIMARY KEY, n numeric);
INSERT INTO regress_left VALUES ('left:1', 2);
CREATE FUNCTION regress_left_of(pool text) RETURNS numeric LANGUAGE sql STABLE AS
	$$ SELECT n FROM public.regress_left l WHERE l.pool = $1 $$;
SELECT hold_class_set('left', capacity_from => 'regress_left_of(text)');
SELECT outcome FROM hold_try('bob', 'left:1', 2, '1 min');
SET hold_ledger.clock_offset = '2 min';
DELETE FROM regress_left;
SELECT outcome FROM hold_consume('bob', late => true);
INSERT INTO regress_left VALUES ('left:1', 2);
SELECT outcome FROM hold_consume('bob', late => true);
RESET hold_ledger.clock_offset;

-- a dropped pool of several rows comes back as its class makes it
SELECT hold_pool_set('ext', NULL, stripes => 4) IS NOT NULL AS made;
SELECT outcome FROM hold_try('cid', 'ext', 1, budget => 5);
SELECT outcome FROM hold_release('cid');
SELECT hold_pool_drop('ext');
SELECT outcome, available FROM hold_try('cid', 'ext', 1, budget => 5);
SELECT pool, stripes, held FROM hold_pool_status WHERE pool = 'ext';
-- and a token that is asked for by one of them
SELECT outcome FROM hold_consume('cid', 'ext');
SELECT pool, outcome FROM hold_consume('nobody', 'ext');

-- a confirmed stay whose memory was trimmed answers for itself
SET hold_ledger.clock_offset = '-1500 d';
SELECT outcome FROM hold_try_stay('dan', 82, '[2031-05-01,2031-05-04)', payload => '{"n": 3}');
SELECT outcome FROM hold_consume('dan', reservation_id => 9);
RESET hold_ledger.clock_offset;
SELECT outcome FROM hold_try_stay('eva', 82, '[2031-06-01,2031-06-04)');
SELECT hold_trim(hold_clock() - interval '1000 days') > 0 AS trimmed;
SELECT count(*) FROM hold_history('dan', '4000 days');
SELECT outcome, qty, consumed, payload, room_id, stay, reservation_id FROM hold_consume('dan', reservation_id => 10);
SELECT state, consumed, room_id, stay, reservation_id FROM hold_get('dan');
SELECT outcome FROM hold_try_stay('dan', 82, '[2031-07-01,2031-07-04)');
SELECT outcome, refunded FROM hold_return('dan');
SELECT * FROM hold_verify();

-- the trigger function of room_stays by hand
SELECT hold_insert_stay();
\echo :LAST_ERROR_SQLSTATE

SELECT * FROM hold_verify();
DROP FUNCTION regress_left_of;
DROP TABLE regress_left;
