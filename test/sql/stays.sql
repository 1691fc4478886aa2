-- Stays: rooms by name, held night by night for a time, confirmed, moved and
-- given up.  No night of a room is ever somebody else's as well.

SET hold_ledger.tenant = 'stays';
SET DateStyle = ISO;

-- nothing of other tests is left to be swept
SET hold_ledger.clock_offset = '30 d';
SELECT hold_sweep(1000000) >= 0 AS swept;
RESET hold_ledger.clock_offset;

CREATE TEMP VIEW rooms AS
SELECT room_id, stay, token, regress_minutes(expires_at) AS minutes, version,
	reservation_id, ref
FROM room_stays WHERE tenant = hold_tenant() ORDER BY room_id, stay;
CREATE TEMP VIEW ledger AS
SELECT room_id, seq, event, token, qty, held, consumed, capacity, stay,
	regress_minutes(expires_at) AS minutes, reservation_id, ref
FROM hold_entries WHERE pool IS NULL ORDER BY room_id, seq;

-- the stay of a token or a ref, for the calls that want its id
CREATE FUNCTION stay_of(name text) RETURNS bigint LANGUAGE sql AS $$
	SELECT stay_id FROM room_stays
	WHERE tenant = hold_tenant() AND (token = name OR ref = name)
	ORDER BY stay LIMIT 1
$$;

--
-- Holding
--

SELECT granted, outcome, room_id, stay, taken, regress_minutes(expires_at) AS minutes,
	version, retry_at
FROM hold_try_stay('ann', 101, '[2031-05-01,2031-05-04)');
SELECT granted, outcome, room_id, stay, taken, regress_minutes(expires_at) AS minutes,
	version, retry_at
FROM hold_try_stay('bob', 101, '[2031-05-04,2031-05-06]', '20 min', '{"cart": 2}');
SELECT * FROM rooms;
SELECT kind, pool, qty, consumed, state, regress_minutes(expires_at) AS minutes, version,
	payload, ref, room_id, stay, reservation_id
FROM hold_get('bob');
SELECT * FROM ledger;

-- a refusal names the nights that are taken, in order, tells when the last of
-- them can come free, and leaves nothing behind
SELECT granted, outcome, room_id, stay, taken, expires_at, version,
	regress_minutes(retry_at) AS retry_in
FROM hold_try_stay('cid', 101, '[2031-04-29,2031-05-03)');
SELECT outcome, taken, regress_minutes(retry_at) AS retry_in
FROM hold_try_stay('cid', 101, '[2031-05-03,2031-05-08)');
SELECT outcome, taken, regress_minutes(retry_at) AS retry_in
FROM hold_try_stay('cid', 101, '[2031-05-02,2031-05-03)');
SELECT outcome, taken FROM hold_try_stay('cid', 102, '[2031-05-02,2031-05-03)');
SELECT * FROM hold_release('cid') \gset it_
SELECT :'it_outcome' AS outcome, :'it_room_id' AS room_id;
SELECT outcome, taken FROM hold_try_stay('cid', 101, '[2031-04-29,2031-05-01)');
SELECT outcome, taken FROM hold_try_stay('dan', 101, '[2031-05-07,2031-05-08)');
SELECT outcome, qty, stay FROM hold_release('dan');
SELECT * FROM rooms;
SELECT count(*) FROM ledger WHERE token = 'cid';
SELECT regress_ok();

-- one that is confirmed will not come free by itself, whatever else is held
SELECT outcome, consumed FROM hold_consume('cid', reservation_id => 7);
SELECT outcome, taken, retry_at
FROM hold_try_stay('dan', 101, '[2031-04-30,2031-05-06)');
SELECT outcome, taken, retry_at
FROM hold_try_stay('dan', 101, '[2031-04-30,2031-05-01)');
SELECT regress_ok();

-- renewal: the same nights, never in their own way, never shortened
SET hold_ledger.clock_offset = '5 min';
SELECT granted, outcome, taken, regress_minutes(expires_at) AS minutes, version
FROM hold_try_stay('ann', 101, '[2031-05-01,2031-05-04)', '3 min', '{"cart": 1}');
SELECT granted, outcome, taken, regress_minutes(expires_at) AS minutes, version
FROM hold_try_stay('ann', 101, '[2031-05-01,2031-05-03]', '30 min');
SELECT granted, outcome, line, pool, qty, available, regress_minutes(expires_at) AS minutes,
	version
FROM hold_renew('ann', '40 min');
SELECT payload, version FROM hold_get('ann');
SELECT * FROM ledger WHERE token = 'ann';
SELECT regress_ok();

--
-- Moving what is held
--

-- over its own nights, longer, shorter, elsewhere
SELECT outcome, stay, taken, regress_minutes(expires_at) AS minutes, version
FROM hold_try_stay('ann', 101, '[2031-05-02,2031-05-04)', '1 min');
SELECT outcome, stay, taken, version FROM hold_try_stay('ann', 101, '[2031-05-01,2031-05-03)');
SELECT outcome, stay, taken, version FROM hold_try_stay('ann', 101, '[2031-06-01,2031-06-03)');
SELECT outcome, taken FROM hold_try_stay('eve', 101, '[2031-05-01,2031-05-03)');
SELECT outcome, refunded FROM hold_release('eve');

-- all or nothing: its own nights are kept, and told
SELECT granted, outcome, stay, taken, regress_minutes(expires_at) AS minutes, version,
	regress_minutes(retry_at) AS retry_in
FROM hold_try_stay('ann', 101, '[2031-05-03,2031-06-10)');
SELECT outcome, stay, taken, version FROM hold_try_stay('ann', 101, '[2031-05-02,2031-05-04)');
SELECT * FROM rooms WHERE token = 'ann';
SELECT * FROM ledger WHERE token = 'ann' AND seq > 12;
SELECT outcome, room_id, stay, qty, consumed, refunded, held FROM hold_release('ann');
SELECT outcome, room_id, stay, qty, consumed, refunded, held FROM hold_release('ann');
RESET hold_ledger.clock_offset;
SELECT regress_ok();

--
-- Several rooms
--

SELECT granted, outcome, room_id, stay, taken, regress_minutes(expires_at) AS minutes, version
FROM hold_try_stays('fam', ARRAY[203, 201, 202], '[2031-07-01,2031-07-03)', '15 min', '{"beds": 6}')
ORDER BY room_id;
SELECT outcome, room_id, taken, expires_at IS NULL AS no_expiry, version,
	regress_minutes(retry_at) AS retry_in
FROM hold_try_stays('gus', ARRAY[204, 203, 200], '[2031-07-02,2031-07-04)')
ORDER BY room_id;
SELECT outcome FROM hold_release('gus');
SELECT outcome, room_id, taken, version
FROM hold_try_stays('fam', ARRAY[201, 202], '[2031-07-01,2031-07-03)')
ORDER BY room_id;
SELECT outcome, room_id, taken, version
FROM hold_try_stays('fam', ARRAY[201, 202, 204], '[2031-07-02,2031-07-05)')
ORDER BY room_id;
SELECT outcome, room_id, taken FROM hold_try_stay('gus', 203, '[2031-07-03,2031-07-08)');

-- one cannot move, so none does
SELECT outcome, room_id, stay, taken, version
FROM hold_try_stays('fam', ARRAY[203, 202, 205], '[2031-07-02,2031-07-05)')
ORDER BY room_id;
SELECT * FROM rooms WHERE room_id BETWEEN 200 AND 299;
SELECT kind, room_id, stay, qty, state, version, payload FROM hold_get('fam') ORDER BY room_id;
SELECT outcome, room_id, stay, qty, consumed, refunded, held, payload
FROM hold_consume('fam', reservation_id => 77) ORDER BY room_id;
SELECT outcome, room_id, taken, expires_at, retry_at
FROM hold_try_stays('fam', ARRAY[206, 201], '[2031-07-02,2031-07-05)')
ORDER BY room_id;
SELECT outcome, refunded FROM hold_release('gus');
SELECT * FROM ledger WHERE room_id BETWEEN 200 AND 299;
SELECT regress_ok();

--
-- Giving nights back
--

SELECT outcome FROM hold_try_stay('hal', 301, '[2031-08-01,2031-08-11)');
-- the front, the back, what is not held, what was given back before
SELECT hold_release_stay('hal', 301, '[2031-07-20,2031-08-02)');
SELECT hold_release_stay('hal', 301, '[2031-08-10,2031-08-20)');
SELECT hold_release_stay('hal', 301, '[2031-08-10,2031-08-20)');
SELECT hold_release_stay('hal', 302, '[2031-08-01,2031-08-11)');
SELECT hold_release_stay('nobody', 301);
SELECT * FROM rooms WHERE token = 'hal';

-- the middle: it falls in two, others can have the gap, and it is one hold yet
SELECT hold_release_stay('hal', 301, '[2031-08-05,2031-08-07)');
SELECT * FROM rooms WHERE token = 'hal';
SELECT outcome, taken FROM hold_try_stay('ivo', 301, '[2031-08-04,2031-08-08)');
SELECT outcome, taken FROM hold_try_stay('ivo', 301, '[2031-08-05,2031-08-07)');
SELECT outcome, regress_minutes(expires_at) AS minutes FROM hold_renew('hal', '25 min');
SELECT * FROM rooms WHERE token = 'hal';
SELECT kind, room_id, stay, qty, state FROM hold_get('hal');
SELECT outcome, taken FROM hold_try_stay('hal', 301, '[2031-08-02,2031-08-10)');
SELECT regress_ok();

-- confirmed as one
SELECT outcome, room_id, qty, consumed, refunded, held, reservation_id
FROM hold_consume('hal', reservation_id => 5);
SELECT * FROM rooms WHERE token = 'hal';
SELECT outcome, room_id, qty, consumed, refunded, held, reservation_id
FROM hold_consume('hal', reservation_id => 5);
SELECT * FROM ledger WHERE token = 'hal';
SELECT hold_release_stay('hal', 301);
SELECT outcome, qty, consumed, refunded FROM hold_return('hal');
SELECT * FROM rooms WHERE room_id = 301;
SELECT regress_ok();

-- released as one, moved as one, expired as one
SELECT outcome FROM hold_try_stay('jim', 302, '[2031-08-01,2031-08-11)');
SELECT hold_release_stay('jim', 302, '[2031-08-05,2031-08-07)');
SELECT hold_release_stay('jim', 302, '[2031-08-02,2031-08-03)');
SELECT outcome, qty, refunded, held FROM hold_release('jim');
SELECT * FROM rooms WHERE room_id = 302;
SELECT outcome FROM hold_try_stay('jim', 302, '[2031-08-01,2031-08-11)');
SELECT hold_release_stay('jim', 302, '[2031-08-05,2031-08-07)');
SELECT outcome, stay, taken FROM hold_try_stay('jim', 302, '[2031-08-01,2031-08-11)');
SELECT stay FROM rooms WHERE room_id = 302;
SELECT hold_release_stay('jim', 302, '[2031-08-05,2031-08-07)');
SET hold_ledger.clock_offset = '10 min';
SELECT outcome FROM hold_consume('jim', reservation_id => 1);
SELECT hold_release_stay('jim', 302);
SELECT hold_sweep();
SELECT outcome FROM hold_consume('jim', reservation_id => 1);
RESET hold_ledger.clock_offset;
SELECT * FROM ledger WHERE token = 'jim';
SELECT regress_ok();

-- all of the nights that are left
SELECT outcome FROM hold_try_stay('kim', 302, '[2031-08-01,2031-08-11)');
SELECT hold_release_stay('kim', 302, '[2031-08-05,2031-08-07)');
SELECT hold_release_stay('kim', 302);
SELECT hold_release_stay('kim', 302);
SELECT outcome FROM hold_release('kim');
SELECT state FROM hold_get('kim');
SELECT outcome, version FROM hold_try_stay('kim', 302, '[2031-08-01,2031-08-03)');
SELECT outcome, refunded FROM hold_release('kim');
SELECT regress_ok();

--
-- Consuming
--

-- needs a reservation_id or a ref, and changes nothing without
SELECT hold_pool_set('breakfast', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('lea', 'breakfast', 4);
SELECT outcome FROM hold_try_stay('lea', 401, '[2031-09-01,2031-09-03)', '20 min', '{"cart": 9}');
SELECT outcome FROM hold_consume('lea');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_consume('lea', qty => 1, reservation_id => 9);
\echo :LAST_ERROR_SQLSTATE
SELECT kind, pool, room_id, state FROM hold_get('lea') ORDER BY kind;

-- together with the pools, and every retry is told the first figures
SELECT outcome, line, pool, qty, consumed, refunded, held, regress_minutes(at) AS at_in,
	payload, room_id, stay, reservation_id
FROM hold_consume('lea', reservation_id => 9);
SELECT outcome, line, pool, qty, consumed, refunded, held, regress_minutes(at) AS at_in,
	payload, room_id, stay, reservation_id
FROM hold_consume('lea', reservation_id => 10);
SELECT outcome, pool, consumed, room_id, stay, reservation_id
FROM hold_release('lea');
SELECT granted, outcome, stay, taken, expires_at, version, retry_at
FROM hold_try_stay('lea', 401, '[2031-10-01,2031-10-03)');
SELECT kind, pool, qty, consumed, state, expires_at IS NULL AS no_expiry, payload, ref,
	room_id, stay, reservation_id
FROM hold_get('lea') ORDER BY kind;
SELECT * FROM rooms WHERE room_id = 401;
SELECT * FROM ledger WHERE room_id = 401;
SELECT consumed, held FROM hold_pool_status;
SELECT regress_ok();

-- the same with a ref
SELECT outcome FROM hold_try_stay('moe', 401, '[2031-09-03,2031-09-04)');
SELECT outcome, consumed, stay, reservation_id FROM hold_consume('moe', ref => 'R-1');
SELECT outcome, consumed, stay, reservation_id FROM hold_consume('moe', ref => 'R-1');
SELECT ref, state FROM hold_get('moe');
SELECT * FROM rooms WHERE room_id = 401;

-- a pool alone, while the stay stays held
SELECT outcome FROM hold_try('ned', 'breakfast', 1);
SELECT outcome FROM hold_try_stay('ned', 401, '[2031-09-10,2031-09-12)');
SELECT outcome, pool, room_id FROM hold_consume('ned', 'breakfast');
SELECT kind, state FROM hold_get('ned') ORDER BY kind;
SELECT outcome, pool, room_id FROM hold_consume('ned', reservation_id => 2) ORDER BY pool;

-- an expired one blocks the others, in both directions
SELECT outcome FROM hold_try('oda', 'breakfast', 1, '5 min');
SELECT outcome FROM hold_try_stay('oda', 402, '[2031-09-10,2031-09-12)', '10 min');
SELECT outcome FROM hold_try('pia', 'breakfast', 1, '10 min');
SELECT outcome FROM hold_try_stay('pia', 402, '[2031-09-12,2031-09-14)', '5 min');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome, pool, qty, held, room_id FROM hold_consume('oda', reservation_id => 3) ORDER BY pool;
SELECT outcome, pool, qty, held, room_id FROM hold_consume('pia', reservation_id => 4) ORDER BY pool;
SELECT outcome, room_id FROM hold_renew('pia') LEFT JOIN rooms ON false ORDER BY outcome;
SELECT kind, state FROM hold_get('pia') ORDER BY kind;
SELECT regress_ok();

-- late: nights as units, all or none
SELECT outcome, pool, qty, consumed, room_id FROM hold_consume('oda', reservation_id => 3, late => true) ORDER BY pool;
SELECT outcome, pool, qty, consumed, room_id, stay
FROM hold_consume('pia', reservation_id => 4, late => true) ORDER BY pool;
SELECT outcome, pool, qty, consumed, room_id FROM hold_consume('pia', reservation_id => 4, late => true) ORDER BY pool;
RESET hold_ledger.clock_offset;
SELECT * FROM ledger WHERE room_id = 402;
SELECT regress_ok();

-- late, when the nights are somebody's: none of it
SELECT outcome FROM hold_try('quy', 'breakfast', 1, '5 min');
SELECT outcome FROM hold_try_stays('quy', ARRAY[403, 404], '[2031-09-10,2031-09-13)', '5 min');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome, taken FROM hold_try_stay('rex', 404, '[2031-09-12,2031-09-13)');
SELECT outcome, pool, consumed, room_id, stay
FROM hold_consume('quy', reservation_id => 6, late => true) ORDER BY pool, room_id;
SELECT outcome, refunded FROM hold_release('rex');
-- nor without saying what for
SELECT outcome FROM hold_consume('quy', late => true);
\echo :LAST_ERROR_SQLSTATE
-- free again, also after a sweep
SELECT hold_sweep();
SELECT outcome, pool, consumed, room_id, stay
FROM hold_consume('quy', reservation_id => 6, late => true) ORDER BY pool, room_id;
RESET hold_ledger.clock_offset;
SELECT * FROM rooms WHERE token = 'quy';
SELECT regress_ok();

-- late, of a stay in two pieces, when somebody lives in the gap
SELECT outcome FROM hold_try_stay('sue', 405, '[2031-09-01,2031-09-08)', '5 min');
SELECT hold_release_stay('sue', 405, '[2031-09-03,2031-09-05)');
SELECT outcome FROM hold_try_stay('tom', 405, '[2031-09-03,2031-09-05)', '1 hour');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome, consumed FROM hold_consume('sue', ref => 'R-2', late => true);
RESET hold_ledger.clock_offset;
SELECT stay, token, ref FROM rooms WHERE room_id = 405;
SELECT outcome, refunded FROM hold_release('tom');
SELECT regress_ok();

--
-- Expiry
--

SELECT outcome FROM hold_try_stay('uma', 501, '[2031-10-01,2031-10-05)', '5 min');
SET hold_ledger.clock_offset = '299 s';
SELECT outcome, taken FROM hold_try_stay('vic', 501, '[2031-10-04,2031-10-06)');
SET hold_ledger.clock_offset = '5 min';
-- from then on it stands in nobody's way, swept or not
SELECT kind, qty, state FROM hold_get('uma');
SELECT outcome FROM hold_release('uma');
SELECT outcome FROM hold_renew('uma');
SELECT hold_release_stay('uma', 501);
SELECT outcome, taken FROM hold_try_stay('vic', 501, '[2031-10-04,2031-10-06)');
SELECT * FROM rooms WHERE room_id = 501;
SELECT kind, qty, state FROM hold_get('uma');
SELECT outcome, qty FROM hold_consume('uma', reservation_id => 1);
SELECT outcome, taken FROM hold_try_stay('uma', 501, '[2031-10-01,2031-10-05)');
SELECT outcome, taken, version FROM hold_try_stay('uma', 501, '[2031-10-01,2031-10-04)');
-- its own expired stay is a fresh claim
SET hold_ledger.clock_offset = '20 min';
SELECT outcome, version FROM hold_try_stay('uma', 501, '[2031-10-03,2031-10-05)');
RESET hold_ledger.clock_offset;
SELECT * FROM ledger WHERE room_id = 501;
SELECT outcome, refunded FROM hold_release('uma');
SELECT regress_ok();

-- the sweep: stays and holds together, no more than it is told
SELECT hold_sweep();
SELECT count(outcome) FROM generate_series(1, 5) n,
	hold_try_stay('w' || n, 502, daterange('2031-10-01'::date + n, '2031-10-02'::date + n), '5 min');
SELECT count(outcome) FROM generate_series(1, 2) n, hold_try('w' || n, 'breakfast', 1, '5 min');
SELECT outcome FROM hold_try_stay('w6', 502, '[2031-10-07,2031-10-08)', '6 min');
SELECT hold_sweep();
SET hold_ledger.clock_offset = '5 min';
SELECT hold_sweep(3);
SELECT hold_sweep(0);
SELECT hold_sweep(3);
SELECT hold_sweep(3);
SELECT hold_sweep(3);
SELECT token FROM rooms WHERE room_id = 502;
RESET hold_ledger.clock_offset;
SELECT count(*) FROM ledger WHERE room_id = 502 AND event = 'expired';
SELECT regress_ok();

--
-- hold_return, and a fresh claim afterwards
--

SELECT outcome FROM hold_try('xen', 'breakfast', 2);
SELECT outcome FROM hold_try_stays('xen', ARRAY[601, 602], '[2031-11-01,2031-11-03)')
ORDER BY room_id;
SELECT outcome FROM hold_consume('xen', reservation_id => 8);
SELECT outcome, pool, qty, consumed, refunded, held, room_id, stay, reservation_id
FROM hold_return('xen') ORDER BY pool, room_id;
SELECT outcome, pool, refunded, room_id FROM hold_return('xen') ORDER BY pool, room_id;
SELECT kind, room_id, state FROM hold_get('xen') ORDER BY kind, room_id;
SELECT * FROM rooms WHERE room_id IN (601, 602);
SELECT * FROM ledger WHERE room_id IN (601, 602);
SELECT outcome, room_id, taken, version
FROM hold_try_stays('xen', ARRAY[602, 601], '[2031-11-02,2031-11-04)')
ORDER BY room_id;
SELECT outcome FROM hold_consume('xen', reservation_id => 9);
SELECT outcome, refunded FROM hold_return('xen') ORDER BY refunded;
SELECT regress_ok();

--
-- Confirmed stays: moved and given up by their ids
--

SELECT outcome FROM hold_try_stay('yan', 701, '[2031-12-01,2031-12-04)');
SELECT outcome FROM hold_consume('yan', reservation_id => 11);
SELECT outcome FROM hold_try_stay('zoe', 701, '[2031-12-06,2031-12-08)', '30 min');
SELECT outcome FROM hold_try_stay('zak', 702, '[2031-12-01,2031-12-02)', '5 min');
SELECT stay_of('yan') AS id \gset

-- the nights, over its own
SELECT granted, outcome, room_id, stay, taken, expires_at, retry_at
FROM hold_move_stay(:id, stay => '[2031-12-02,2031-12-06)');
-- onto taken nights
SELECT granted, outcome, room_id, stay, taken, expires_at, regress_minutes(retry_at) AS retry_in
FROM hold_move_stay(:id, stay => '[2031-12-02,2031-12-08)');
-- the room: a held stay is in the way until it expires
SELECT outcome, room_id, stay, taken FROM hold_move_stay(:id, 702, '[2031-11-30,2031-12-03)');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome, room_id, stay, taken FROM hold_move_stay(:id, 702, '[2031-11-30,2031-12-03)');
RESET hold_ledger.clock_offset;
SELECT outcome, room_id, stay, taken FROM hold_move_stay(:id, room_id => 703);
SELECT outcome, room_id, stay, taken FROM hold_move_stay(:id, room_id => 701);
SELECT stay_of('yan') = :id AS same_id;
SELECT room_id, stay, token, reservation_id FROM rooms WHERE room_id BETWEEN 701 AND 703;
SELECT DISTINCT ON (room_id) room_id, held, consumed FROM ledger
WHERE room_id BETWEEN 701 AND 703 ORDER BY room_id, seq DESC;
SELECT kind, consumed, state, room_id, stay, reservation_id FROM hold_get('yan') WHERE room_id = 701;
SELECT regress_ok();

-- nothing new
SELECT granted, room_id, stay, taken FROM hold_move_stay(:id);
SELECT granted, room_id, stay, taken FROM hold_move_stay(:id, 701, '[2031-11-30,2031-12-03)');
SELECT room_id, stay FROM rooms WHERE token = 'yan';
SELECT regress_ok();

-- each move is another version
SELECT version FROM hold_move_stay(:id, 703) \gset before_
SELECT version > :before_version AS grows FROM hold_move_stay(:id, 701);

-- the token may neither claim the room again nor lose its retry
SELECT outcome, taken FROM hold_try_stay('yan', 701, '[2032-01-01,2032-01-02)');
SELECT outcome, room_id FROM hold_consume('yan', reservation_id => 11) WHERE room_id = 701;

-- given up
SELECT hold_cancel_stay(:id);
SELECT hold_cancel_stay(:id);
SELECT outcome, granted FROM hold_move_stay(:id, 703);
SELECT * FROM rooms WHERE room_id BETWEEN 701 AND 703;
SELECT event, qty, held, consumed, stay, reservation_id FROM ledger
WHERE room_id = 701 ORDER BY seq DESC LIMIT 1;
SELECT refunded FROM hold_return('yan') WHERE refunded > 0;
SELECT outcome, taken FROM hold_try_stay('yan', 701, '[2031-12-01,2031-12-03)');
SELECT outcome, refunded FROM hold_release('yan') WHERE refunded > 0;
SELECT regress_ok();

-- what was moved to another room is returned there
SELECT outcome FROM hold_try_stay('yul', 704, '[2031-12-01,2031-12-03)');
SELECT outcome FROM hold_consume('yul', ref => 'R-4');
SELECT outcome FROM hold_move_stay(stay_of('yul'), 705);
SELECT room_id, stay, ref FROM rooms WHERE token = 'yul';
SELECT room_id, refunded FROM hold_return('yul') WHERE refunded > 0;
SELECT room_id, refunded FROM hold_return('yul') WHERE refunded > 0;
SELECT count(*) FROM rooms WHERE token = 'yul';
SELECT outcome, version FROM hold_try_stays('yul', ARRAY[704, 705], '[2031-12-01,2031-12-03)');
SELECT outcome, refunded FROM hold_release('yul') WHERE refunded > 0;
SELECT regress_ok();

-- a stay that is only held is none of theirs
SELECT outcome, granted FROM hold_move_stay(stay_of('zoe'), 703);
SELECT hold_cancel_stay(stay_of('zoe'));
SELECT outcome, taken FROM hold_try_stay('yan', 701, '[2031-12-07,2031-12-08)');
SELECT hold_cancel_stay(-1);
SELECT hold_cancel_stay(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_move_stay(NULL, 1);
\echo :LAST_ERROR_SQLSTATE

--
-- Rollback leaves nothing
--

BEGIN;
SELECT outcome FROM hold_try_stay('abe', 801, '[2031-12-01,2031-12-04)');
SAVEPOINT a;
SELECT outcome FROM hold_try_stay('abe', 801, '[2031-12-02,2031-12-05)');
SELECT hold_release_stay('abe', 801, '[2031-12-03,2031-12-04)');
ROLLBACK TO a;
SELECT outcome, taken FROM hold_try_stay('bea', 801, '[2031-12-01,2031-12-07)');
SELECT * FROM rooms WHERE room_id = 801;
SELECT outcome FROM hold_consume('abe', ref => 'R-3');
ROLLBACK;
SELECT outcome FROM hold_release('abe');
SELECT outcome, taken FROM hold_try_stay('bea', 801, '[2031-12-01,2031-12-07)');
SELECT seq, event, token FROM ledger WHERE room_id = 801;
SELECT regress_ok();

--
-- Tenants side by side
--

SET hold_ledger.tenant = 'stays of another';
SELECT outcome, taken, version FROM hold_try_stay('bea', 801, '[2031-12-01,2031-12-07)');
SELECT outcome, consumed FROM hold_consume('bea', reservation_id => 1);
SELECT * FROM rooms;
SELECT * FROM ledger;
SET hold_ledger.tenant = 'stays';
SELECT kind, state, stay FROM hold_get('bea');
SELECT stay_id AS id FROM room_stays WHERE tenant = 'stays of another' \gset
SELECT hold_cancel_stay(:id);
SELECT granted, outcome FROM hold_move_stay(:id, 802);
SELECT outcome, refunded FROM hold_release('bea');
SET hold_ledger.tenant = 'stays of another';
SELECT hold_cancel_stay(:id);
SELECT regress_ok();
SET hold_ledger.tenant = 'stays';
SELECT regress_ok();

-- rooms are no pools
SELECT pool FROM hold_pool_status;
SELECT count(*) FROM live_holds WHERE pool IS NULL;
DROP FUNCTION stay_of;
