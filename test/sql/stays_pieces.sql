-- A stay that fell in pieces is told as one: quantities count all of them, and
-- its nights go from the first to the last, whoever has cleared a piece away.

SET hold_ledger.tenant = 'stays pieces';
SET DateStyle = ISO;

CREATE TEMP VIEW rooms AS
SELECT room_id, stay, token, expires_at IS NULL AS confirmed
FROM room_stays WHERE tenant = hold_tenant() ORDER BY room_id, stay;

--
-- Expired: unswept, one piece evicted, all swept
--

SELECT outcome FROM hold_try_stay('ann', 11, '[2031-05-01,2031-05-05)', '1 h');
SELECT hold_release_stay('ann', 11, '[2031-05-02,2031-05-03)');
SET hold_ledger.clock_offset = '2 h';
SELECT state, stay FROM hold_get('ann');
SELECT outcome, qty, stay FROM hold_release('ann');
SELECT outcome, qty, stay FROM hold_consume('ann', reservation_id => 1);
-- the second piece makes way
SELECT outcome FROM hold_try_stay('bob', 11, '[2031-05-04,2031-05-06)');
SELECT outcome, qty, refunded FROM hold_release('bob');
SELECT * FROM rooms WHERE room_id = 11;
SELECT state, stay FROM hold_get('ann');
SELECT outcome, qty, stay FROM hold_release('ann');
SELECT outcome, qty, stay FROM hold_consume('ann', reservation_id => 1);
-- and the first is swept
SELECT hold_sweep() > 0 AS swept;
SELECT * FROM rooms WHERE room_id = 11;
SELECT outcome, qty, stay FROM hold_release('ann');
SELECT state, stay FROM hold_get('ann');
-- a late payment gets both, and so do its retry and its return
SELECT outcome, qty, consumed, stay FROM hold_consume('ann', reservation_id => 1, late => true);
SELECT outcome, qty, consumed, stay FROM hold_consume('ann', reservation_id => 1, late => true);
SELECT outcome, qty, stay FROM hold_release('ann');
SELECT * FROM rooms WHERE room_id = 11;
SELECT outcome, refunded, stay FROM hold_return('ann');
SELECT outcome, refunded, stay FROM hold_return('ann');
SELECT outcome, stay FROM hold_release('ann');
RESET hold_ledger.clock_offset;
SELECT regress_ok();

-- the first piece evicted, late at once
SELECT outcome FROM hold_try_stay('cid', 12, '[2031-05-01,2031-05-05)', '1 h');
SELECT hold_release_stay('cid', 12, '[2031-05-02,2031-05-03)');
SET hold_ledger.clock_offset = '2 h';
SELECT outcome FROM hold_try_stay('bob', 12, '[2031-05-01,2031-05-02)');
SELECT outcome, qty, stay FROM hold_release('cid');
SELECT outcome, room_id, refunded FROM hold_release('bob') WHERE room_id = 12;
SELECT outcome, qty, consumed, stay FROM hold_consume('cid', ref => 'R-2', late => true);
SELECT outcome, qty, consumed, stay FROM hold_consume('cid', ref => 'R-2', late => true);
RESET hold_ledger.clock_offset;
SELECT regress_ok();

-- a stay that is inserted clears a piece away
SELECT outcome FROM hold_try_stay('hal', 16, '[2031-05-01,2031-05-05)', '1 h');
SELECT hold_release_stay('hal', 16, '[2031-05-02,2031-05-03)');
SET hold_ledger.clock_offset = '2 h';
INSERT INTO room_stays (room_id, stay, ref) VALUES (16, '[2031-05-03,2031-05-04)', 'walk-in');
SELECT * FROM rooms WHERE room_id = 16;
SELECT outcome, qty, stay FROM hold_release('hal');
RESET hold_ledger.clock_offset;
SELECT regress_ok();

-- blocked by another room, with a piece already swept
SELECT outcome FROM hold_try_stays('dan', ARRAY[13, 14], '[2031-05-01,2031-05-05)', '1 h');
SELECT hold_release_stay('dan', 13, '[2031-05-02,2031-05-03)');
SET hold_ledger.clock_offset = '2 h';
SELECT outcome FROM hold_try_stay('eve', 13, '[2031-05-01,2031-05-02)');
SELECT outcome, refunded FROM hold_release('eve');
SELECT outcome FROM hold_try_stay('eve', 14, '[2031-05-01,2031-05-02)');
SELECT outcome, room_id, qty, stay FROM hold_consume('dan', ref => 'R-3', late => true) ORDER BY room_id;
SELECT hold_sweep() > 0 AS swept;
SELECT outcome, room_id, qty, stay FROM hold_consume('dan', ref => 'R-3', late => true) ORDER BY room_id;
RESET hold_ledger.clock_offset;
SELECT regress_ok();

-- what expired before is another stay
SELECT outcome, version FROM hold_try_stay('dan', 13, '[2031-06-01,2031-06-02)', '1 h');
SELECT outcome, qty, stay FROM hold_release('dan') WHERE room_id = 13;
SELECT outcome, stay FROM hold_release('dan') WHERE room_id = 13;
SELECT regress_ok();

--
-- Released, confirmed and returned: a second call is told of the same nights
--

SELECT outcome FROM hold_try_stay('fay', 15, '[2031-05-01,2031-05-08)');
SELECT hold_release_stay('fay', 15, '[2031-05-01,2031-05-02)');
SELECT hold_release_stay('fay', 15, '[2031-05-04,2031-05-05)');
SELECT outcome, qty, refunded, stay FROM hold_release('fay');
SELECT outcome, qty, refunded, stay FROM hold_release('fay');
SELECT outcome, stay FROM hold_consume('fay', reservation_id => 3);
SELECT state, stay FROM hold_get('fay');

SELECT outcome FROM hold_try_stay('gus', 15, '[2031-05-01,2031-05-08)');
SELECT hold_release_stay('gus', 15, '[2031-05-04,2031-05-05)');
SELECT outcome, qty, consumed, stay FROM hold_consume('gus', reservation_id => 4);
SELECT outcome, qty, consumed, stay FROM hold_consume('gus', reservation_id => 4);
SELECT outcome, qty, refunded, stay FROM hold_return('gus');
SELECT outcome, qty, refunded, stay FROM hold_return('gus');
SELECT outcome, stay FROM hold_consume('gus', reservation_id => 4);
SELECT regress_ok();

-- a clock that is set back after one of two pieces was swept
SELECT outcome FROM hold_try_stay('set back', 331, '[2031-01-01,2031-01-06)', ttl => '1 min');
SELECT hold_release_stay('set back', 331, '[2031-01-03,2031-01-04)');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome FROM hold_try_stay('in the way', 331, '[2031-01-01,2031-01-02)', ttl => '1 min');
SET hold_ledger.clock_offset = 0;
SELECT outcome, qty, consumed FROM hold_consume('set back', ref => 'x');
SELECT regress_ok();
