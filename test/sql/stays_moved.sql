-- Confirmed stays that move, and what their token is told afterwards: by the
-- room that they came from, the one that they went to, and the ledger.

SET hold_ledger.tenant = 'stays moved';
SET DateStyle = ISO;

CREATE TEMP VIEW rooms AS
SELECT room_id, stay, token, expires_at IS NULL AS confirmed, reservation_id, ref
FROM room_stays WHERE tenant = hold_tenant() ORDER BY room_id, stay;
CREATE TEMP VIEW ledger AS
SELECT room_id, seq, event, token, qty, held, consumed, stay, reservation_id, ref
FROM hold_entries WHERE room_id IS NOT NULL ORDER BY room_id, seq;

-- the first confirmed stay of a token, for the calls that want its id
CREATE FUNCTION stay_of(name text) RETURNS bigint LANGUAGE sql AS $$
	SELECT stay_id FROM room_stays
	WHERE tenant = hold_tenant() AND token = name AND expires_at IS NULL
	ORDER BY stay, room_id LIMIT 1
$$;

--
-- Into a room where its token has, or had, a hold
--

-- one that expired, on other nights and not swept: it is settled
SELECT outcome FROM hold_try_stay('ann', 101, '[2031-05-11,2031-05-13)');
SELECT outcome FROM hold_consume('ann', reservation_id => 5);
SELECT outcome FROM hold_try_stay('ann', 102, '[2031-05-05,2031-05-10)', '1 h');
SET hold_ledger.clock_offset = '2 h';
SELECT outcome, room_id, stay FROM hold_move_stay(stay_of('ann'), room_id => 102);
SELECT * FROM rooms WHERE token = 'ann';
SELECT * FROM ledger WHERE room_id = 102;
SELECT regress_ok();
SELECT outcome FROM hold_try_stay('ann', 102, '[2031-06-05,2031-06-10)');
-- no late payment brings it back
SELECT outcome FROM hold_consume('ann', reservation_id => 6, late => true) WHERE room_id = 101;
SELECT * FROM rooms WHERE token = 'ann';
SELECT regress_ok();

-- the same on the very nights, in two pieces of which one is in its way
RESET hold_ledger.clock_offset;
SELECT outcome FROM hold_try_stay('bob', 103, '[2031-05-11,2031-05-13)');
SELECT outcome FROM hold_consume('bob', reservation_id => 7);
SELECT outcome FROM hold_try_stay('bob', 104, '[2031-05-05,2031-05-12)', '1 h');
SELECT hold_release_stay('bob', 104, '[2031-05-07,2031-05-09)');
-- while it is live the stay cannot come
SELECT outcome, taken FROM hold_move_stay(stay_of('bob'), room_id => 104);
SELECT outcome, taken FROM hold_move_stay(stay_of('bob'), room_id => 104, stay => '[2031-06-01,2031-06-02)');
SELECT regress_ok();
SET hold_ledger.clock_offset = '2 h';
SELECT outcome, taken FROM hold_move_stay(stay_of('bob'), room_id => 104);
SELECT * FROM rooms WHERE token = 'bob';
SELECT * FROM ledger WHERE room_id = 104;
SELECT regress_ok();
RESET hold_ledger.clock_offset;

-- one that ended: released, swept, confirmed and returned
SELECT outcome FROM hold_try_stay('cid', 105, '[2031-05-11,2031-05-13)');
SELECT outcome FROM hold_consume('cid', reservation_id => 8);
SELECT outcome FROM hold_try_stay('cid', 106, '[2031-05-01,2031-05-03)');
SELECT hold_release_stay('cid', 106);
SELECT outcome FROM hold_move_stay(stay_of('cid'), 106);
SELECT outcome FROM hold_try_stay('cid', 107, '[2031-05-01,2031-05-03)', '1 h');
SET hold_ledger.clock_offset = '2 h';
SELECT hold_sweep() > 0 AS swept;
RESET hold_ledger.clock_offset;
SELECT outcome FROM hold_move_stay(stay_of('cid'), 107);
SELECT outcome FROM hold_try_stay('dan', 108, '[2031-05-11,2031-05-13)');
SELECT outcome FROM hold_consume('dan', reservation_id => 9);
SELECT outcome, refunded FROM hold_return('dan');
SELECT outcome FROM hold_try_stay('dan', 109, '[2031-05-11,2031-05-13)');
SELECT outcome FROM hold_consume('dan', reservation_id => 10) ORDER BY room_id;
SELECT outcome FROM hold_move_stay(stay_of('dan'), 108);
SELECT * FROM rooms WHERE room_id BETWEEN 105 AND 109;
SELECT regress_ok();

--
-- hold_return with the ref that hold_consume had: a move and a cancel are none
--

-- moved within its room
SELECT outcome FROM hold_try_stay('eve', 201, '[2031-05-01,2031-05-09)');
SELECT outcome FROM hold_consume('eve', reservation_id => 1, ref => 'order 1');
SELECT outcome FROM hold_move_stay(stay_of('eve'), stay => '[2031-05-01,2031-05-08)');
SELECT outcome, refunded, stay FROM hold_return('eve', ref => 'order 1');
SELECT outcome, refunded, stay FROM hold_return('eve', ref => 'order 1');
SELECT * FROM rooms WHERE token = 'eve';
SELECT * FROM ledger WHERE room_id = 201;
SELECT regress_ok();

-- to another room and back
SELECT outcome FROM hold_try_stay('fay', 202, '[2031-05-01,2031-05-09)');
SELECT outcome FROM hold_consume('fay', ref => 'order 2');
SELECT outcome FROM hold_move_stay(stay_of('fay'), 203);
SELECT outcome FROM hold_move_stay(stay_of('fay'), 202);
SELECT outcome, room_id, refunded FROM hold_return('fay', ref => 'order 2') ORDER BY room_id;
SELECT outcome, room_id, refunded FROM hold_return('fay', ref => 'order 2') ORDER BY room_id;
SELECT * FROM rooms WHERE token = 'fay';
SELECT regress_ok();

-- to another room only
SELECT outcome FROM hold_try_stay('gus', 204, '[2031-05-01,2031-05-09)');
SELECT outcome FROM hold_consume('gus', ref => 'order 3');
SELECT outcome FROM hold_move_stay(stay_of('gus'), 205);
SELECT outcome, room_id, refunded FROM hold_return('gus', ref => 'order 3') ORDER BY room_id;
SELECT outcome, room_id, refunded FROM hold_return('gus', ref => 'order 3') ORDER BY room_id;
SELECT * FROM rooms WHERE token = 'gus';
SELECT regress_ok();

-- one of two pieces cancelled; of both the retry tells all
SELECT outcome FROM hold_try_stay('hal', 206, '[2031-05-01,2031-05-09)');
SELECT hold_release_stay('hal', 206, '[2031-05-04,2031-05-05)');
SELECT outcome FROM hold_consume('hal', ref => 'order 4');
SELECT hold_cancel_stay(stay_of('hal'));
SELECT outcome, refunded, stay FROM hold_return('hal', ref => 'order 4');
SELECT outcome, refunded, stay FROM hold_return('hal', ref => 'order 4');
SELECT * FROM rooms WHERE token = 'hal';
SELECT outcome FROM hold_try_stay('ivo', 206, '[2031-05-01,2031-05-09)');
SELECT hold_release_stay('ivo', 206, '[2031-05-04,2031-05-05)');
SELECT outcome FROM hold_consume('ivo', ref => 'order 5');
SELECT outcome, refunded, stay FROM hold_return('ivo', ref => 'order 5');
SELECT outcome FROM hold_try_stay('ivo', 206, '[2031-06-01,2031-06-02)');
SELECT outcome, refunded, stay FROM hold_return('ivo', ref => 'order 5');
SELECT outcome, refunded FROM hold_release('ivo');
SELECT regress_ok();

-- cancelled before: this call returns nothing, and a quantity is refused
SELECT outcome FROM hold_try_stay('jim', 207, '[2031-05-01,2031-05-03)');
SELECT outcome FROM hold_consume('jim', ref => 'order 6');
SELECT hold_cancel_stay(stay_of('jim'));
SELECT outcome, refunded FROM hold_return('jim', ref => 'order 6');
SELECT outcome, refunded FROM hold_return('jim', qty => 1, ref => 'part of order 6');
\echo :LAST_ERROR_SQLSTATE
SELECT regress_ok();

--
-- Retries: the first figures, one row a hold of the first call
--

-- moved within its room
SELECT outcome FROM hold_try_stay('kim', 277, '[2031-05-01,2031-05-09)');
SELECT outcome, qty, consumed, stay FROM hold_consume('kim', reservation_id => 1, ref => 'R-1');
SELECT outcome FROM hold_move_stay(stay_of('kim'), stay => '[2031-05-03,2031-05-05)');
SELECT outcome, qty, consumed, stay FROM hold_consume('kim', reservation_id => 1);
SELECT outcome, qty, consumed, stay FROM hold_consume('kim', ref => 'R-1');
SELECT outcome, qty, consumed, stay FROM hold_release('kim');
-- then to another, and on to a third
SELECT outcome FROM hold_move_stay(stay_of('kim'), 377);
SELECT outcome, line, room_id, qty, consumed, stay, reservation_id FROM hold_consume('kim', reservation_id => 1);
SELECT outcome FROM hold_move_stay(stay_of('kim'), 477, '[2031-05-03,2031-05-06)');
SELECT outcome, line, room_id, qty, consumed, stay FROM hold_consume('kim', reservation_id => 1);
SELECT outcome, line, room_id, qty, consumed, stay FROM hold_consume('kim', ref => 'R-1');
SELECT outcome, line, room_id, qty, consumed, stay FROM hold_consume_batch(ARRAY['kim', 'kim'], refs => ARRAY['R-1', NULL]);
SELECT outcome, room_id, qty FROM hold_release('kim');
SELECT outcome, line FROM hold_renew('kim');
SELECT kind, state, consumed, room_id, stay FROM hold_get('kim');
SELECT regress_ok();

-- given up: told once, and every room may be claimed afresh
SELECT hold_cancel_stay(stay_of('kim'));
SELECT outcome, line, room_id, qty, consumed, stay, reservation_id FROM hold_consume('kim', reservation_id => 1);
SELECT outcome, room_id FROM hold_release('kim');
SELECT outcome, line FROM hold_renew('kim');
SELECT outcome, room_id, refunded FROM hold_return('kim') ORDER BY room_id;
SELECT state, room_id, stay FROM hold_get('kim') ORDER BY room_id;
SELECT * FROM ledger WHERE token = 'kim';
SELECT outcome FROM hold_try_stays('kim', ARRAY[277, 377, 477], '[2031-05-01,2031-05-03)');
SELECT outcome, room_id, consumed, stay FROM hold_consume('kim', reservation_id => 2) ORDER BY room_id;
SELECT outcome, room_id, consumed, stay FROM hold_consume('kim', reservation_id => 2) ORDER BY room_id;
SELECT regress_ok();

-- without a move it says the same
SELECT outcome FROM hold_try_stay('leo', 278, '[2031-05-01,2031-05-09)');
SELECT outcome FROM hold_consume('leo', reservation_id => 1);
SELECT hold_cancel_stay(stay_of('leo'));
SELECT outcome, qty, consumed, stay FROM hold_consume('leo', reservation_id => 1);

-- to another room and back, cancelled there
SELECT outcome FROM hold_try_stay('mia', 279, '[2031-05-01,2031-05-09)');
SELECT outcome FROM hold_consume('mia', reservation_id => 1);
SELECT outcome FROM hold_move_stay(stay_of('mia'), 379);
SELECT outcome FROM hold_move_stay(stay_of('mia'), 279, '[2031-05-01,2031-05-04)');
SELECT outcome, room_id, qty, consumed, stay FROM hold_consume('mia', reservation_id => 1);
SELECT outcome, taken FROM hold_try_stay('mia', 379, '[2031-05-01,2031-05-09)');
SELECT outcome FROM hold_move_stay(stay_of('mia'), 379);
SELECT outcome FROM hold_move_stay(stay_of('mia'), 279);
SELECT hold_cancel_stay(stay_of('mia'));
SELECT outcome, room_id FROM hold_consume('mia', reservation_id => 1);
SELECT outcome FROM hold_try_stays('mia', ARRAY[279, 379], '[2031-05-01,2031-05-03)');
SELECT count(*) FROM hold_release('mia') WHERE refunded > 0;
SELECT regress_ok();

--
-- Several stays of one token
--

-- each room remembers its own, also where both have moved at once
SELECT outcome FROM hold_try_stays('nia', ARRAY[501, 502], '[2031-05-01,2031-05-03)');
SELECT outcome FROM hold_consume('nia', reservation_id => 1);
BEGIN;
SELECT outcome FROM hold_move_stay((SELECT stay_id FROM room_stays WHERE tenant = hold_tenant() AND room_id = 501), 503);
SELECT outcome FROM hold_move_stay((SELECT stay_id FROM room_stays WHERE tenant = hold_tenant() AND room_id = 502), 504);
COMMIT;
SELECT outcome, room_id, consumed FROM hold_consume('nia', reservation_id => 1) ORDER BY room_id;
SELECT hold_cancel_stay((SELECT stay_id FROM room_stays WHERE tenant = hold_tenant() AND room_id = 504));
SELECT outcome, room_id, consumed FROM hold_consume('nia', reservation_id => 1) ORDER BY room_id;
SELECT outcome FROM hold_try_stay('nia', 501, '[2031-06-01,2031-06-03)');
SELECT outcome FROM hold_try_stay('nia', 502, '[2031-06-01,2031-06-03)');
SELECT outcome, room_id FROM hold_release('nia') ORDER BY room_id;
-- one passes through a room that the other has left, and ends where that began
SELECT outcome FROM hold_try_stays('ole', ARRAY[511, 512], '[2031-05-01,2031-05-03)');
SELECT outcome FROM hold_consume('ole', reservation_id => 2);
SELECT stay_id AS first FROM room_stays WHERE tenant = hold_tenant() AND room_id = 511 \gset
SELECT stay_id AS second FROM room_stays WHERE tenant = hold_tenant() AND room_id = 512 \gset
SELECT outcome FROM hold_move_stay(:first, 513);
SELECT outcome FROM hold_move_stay(:first, 514);
SELECT outcome FROM hold_move_stay(:second, 513);
SELECT outcome FROM hold_move_stay(:second, 511);
SELECT outcome, room_id, consumed FROM hold_consume('ole', reservation_id => 2) ORDER BY room_id;
SELECT hold_cancel_stay(:second);
SELECT outcome, room_id, consumed FROM hold_consume('ole', reservation_id => 2) ORDER BY room_id;
SELECT outcome, room_id FROM unnest(ARRAY[511, 512, 513, 514]) room, hold_try_stay('ole', room, '[2031-06-01,2031-06-02)');
SELECT hold_cancel_stay(:first);
SELECT outcome, room_id FROM hold_try_stays('ole', ARRAY[511, 512, 513, 514], '[2031-06-01,2031-06-02)') ORDER BY room_id;
SELECT regress_ok();

-- two pieces: the retry tells both, whatever becomes of one
SELECT outcome FROM hold_try_stay('pam', 521, '[2031-05-01,2031-05-09)');
SELECT hold_release_stay('pam', 521, '[2031-05-04,2031-05-05)');
SELECT outcome, qty, consumed, stay FROM hold_consume('pam', reservation_id => 3);
SELECT hold_cancel_stay(stay_of('pam'));
SELECT outcome, qty, consumed, stay FROM hold_consume('pam', reservation_id => 3);
SELECT hold_cancel_stay(stay_of('pam'));
SELECT outcome, qty, consumed FROM hold_consume('pam', reservation_id => 3);
-- one moved away and cancelled there, then the other
SELECT outcome FROM hold_try_stay('quy', 521, '[2031-05-01,2031-05-09)');
SELECT hold_release_stay('quy', 521, '[2031-05-04,2031-05-05)');
SELECT outcome FROM hold_consume('quy', reservation_id => 4);
SELECT outcome FROM hold_move_stay(stay_of('quy'), 522);
SELECT outcome, room_id, qty, consumed, stay FROM hold_consume('quy', reservation_id => 4);
SELECT hold_cancel_stay((SELECT stay_id FROM room_stays WHERE tenant = hold_tenant() AND room_id = 522));
SELECT outcome, room_id, qty, consumed, stay FROM hold_consume('quy', reservation_id => 4);
SELECT hold_cancel_stay(stay_of('quy'));
SELECT outcome, room_id, qty, consumed FROM hold_consume('quy', reservation_id => 4);
-- the other way round
SELECT outcome FROM hold_try_stay('ros', 521, '[2031-05-01,2031-05-09)');
SELECT hold_release_stay('ros', 521, '[2031-05-04,2031-05-05)');
SELECT outcome FROM hold_consume('ros', reservation_id => 5);
SELECT outcome FROM hold_move_stay(stay_of('ros'), 522);
SELECT hold_cancel_stay((SELECT stay_id FROM room_stays WHERE tenant = hold_tenant() AND room_id = 521));
SELECT outcome, room_id, qty, consumed, stay FROM hold_consume('ros', reservation_id => 5);
SELECT hold_cancel_stay(stay_of('ros'));
SELECT outcome, room_id, qty, consumed FROM hold_consume('ros', reservation_id => 5);
-- one cancelled, the other moved and returned
SELECT outcome FROM hold_try_stay('vic', 521, '[2031-05-01,2031-05-09)');
SELECT hold_release_stay('vic', 521, '[2031-05-04,2031-05-05)');
SELECT outcome FROM hold_consume('vic', reservation_id => 8);
SELECT hold_cancel_stay(stay_of('vic'));
SELECT outcome FROM hold_move_stay(stay_of('vic'), 522);
SELECT outcome, room_id, qty, consumed, stay FROM hold_consume('vic', reservation_id => 8);
SELECT outcome, room_id, refunded, stay FROM hold_return('vic') ORDER BY room_id;
SELECT outcome, room_id, qty, consumed FROM hold_consume('vic', reservation_id => 8);
-- both returned at once
SELECT outcome FROM hold_try_stay('sue', 521, '[2031-05-01,2031-05-09)');
SELECT hold_release_stay('sue', 521, '[2031-05-04,2031-05-05)');
SELECT outcome FROM hold_consume('sue', reservation_id => 6);
SELECT outcome FROM hold_move_stay(stay_of('sue'), 522);
SELECT outcome, room_id, refunded, stay FROM hold_return('sue', ref => 'back') ORDER BY room_id;
SELECT outcome, room_id, refunded, stay FROM hold_return('sue', ref => 'back') ORDER BY room_id;
SELECT outcome FROM hold_try_stays('sue', ARRAY[521, 522], '[2031-05-01,2031-05-09)');
SELECT count(*) FROM hold_release('sue') WHERE refunded > 0;
SELECT regress_ok();

-- paid late, in pieces, together with a pool
SELECT hold_pool_set('breakfast', 5) > 0 AS made;
SELECT outcome FROM hold_try_stay('tom', 531, '[2031-05-01,2031-05-09)', '1 h');
SELECT hold_release_stay('tom', 531, '[2031-05-04,2031-05-05)');
SELECT outcome FROM hold_try('tom', 'breakfast', ttl => '1 h');
SET hold_ledger.clock_offset = '2 h';
SELECT outcome, pool, room_id, consumed, stay FROM hold_consume('tom', reservation_id => 7, late => true) ORDER BY room_id;
SELECT outcome FROM hold_move_stay(stay_of('tom'), 532);
SELECT outcome, pool, room_id, consumed, stay FROM hold_consume('tom', reservation_id => 7, late => true) ORDER BY room_id;
-- the clock goes back, the ledger does not: a move is known by its moment
RESET hold_ledger.clock_offset;
SELECT outcome FROM hold_move_stay(stay_of('tom'), 533);
SELECT outcome FROM hold_move_stay((SELECT stay_id FROM room_stays WHERE tenant = hold_tenant() AND room_id = 531), 534);
SELECT outcome, pool, room_id, consumed, stay FROM hold_consume('tom', reservation_id => 7) ORDER BY room_id;
SELECT hold_cancel_stay((SELECT stay_id FROM room_stays WHERE tenant = hold_tenant() AND room_id = 533));
SELECT outcome, pool, room_id, consumed FROM hold_consume('tom', reservation_id => 7) ORDER BY room_id;
SELECT outcome FROM hold_try_stay('tom', 532, '[2031-06-01,2031-06-02)');
SELECT hold_cancel_stay((SELECT stay_id FROM room_stays WHERE tenant = hold_tenant() AND room_id = 534));
SELECT outcome, pool, room_id, consumed FROM hold_consume('tom', 'breakfast');
SELECT outcome, pool, room_id, refunded FROM hold_return('tom') ORDER BY room_id;
SELECT outcome, pool, room_id FROM hold_release('tom') ORDER BY room_id;
SELECT regress_ok();

-- paid late and cancelled: told like any other
SELECT outcome FROM hold_try_stay('wim', 541, '[2031-05-01,2031-05-03)', '1 min');
SET hold_ledger.clock_offset = '2 min';
SELECT outcome FROM hold_consume('wim', reservation_id => 7, ref => 'order 7', late => true);
SELECT hold_cancel_stay(stay_of('wim'));
SELECT state, ref, reservation_id, stay FROM hold_get('wim');
RESET hold_ledger.clock_offset;
SELECT regress_ok();

-- a lapsed hold is history for a late payment, whatever is moved since
SELECT hold_pool_set('moved: z', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try_stay('late guest', 221, '[2031-01-08,2031-01-11)');
SELECT outcome FROM hold_consume('late guest', ref => 'y');
SET hold_ledger.clock_offset = '1 min';
SELECT outcome FROM hold_try_stay('late guest', 222, '[2031-01-08,2031-01-11)', ttl => '1 min');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome FROM hold_try('late guest', 'moved: z', ttl => '1 min');
SET hold_ledger.clock_offset = '15 min';
SELECT outcome FROM hold_move_stay(stay_of('late guest'), stay => '[2031-01-12,2031-01-13)');
SELECT outcome, pool, room_id FROM hold_consume('late guest', late => true, ref => 'q');
RESET hold_ledger.clock_offset;
SELECT regress_ok();

-- a ref is known where it consumed, also when another stay has come there
SELECT outcome FROM hold_try_stay('known ref', 223, '[2031-01-01,2031-01-03)');
SELECT outcome FROM hold_consume('known ref', ref => 'x', final => false);
SELECT outcome FROM hold_return('known ref');
SELECT outcome FROM hold_try_stay('known ref', 224, '[2031-01-01,2031-01-03)');
SELECT outcome FROM hold_consume('known ref', ref => 'y');
SELECT outcome FROM hold_move_stay(stay_of('known ref'), 223);
SELECT outcome, consumed, room_id FROM hold_consume('known ref', ref => 'x', final => false);
SELECT hold_cancel_stay(stay_of('known ref'));
SELECT outcome, consumed, room_id FROM hold_consume('known ref', ref => 'x', final => false);
SELECT outcome FROM hold_try_stay('known ref', 223, '[2031-02-01,2031-02-03)');
SELECT outcome, consumed, room_id FROM hold_consume('known ref', ref => 'x');
SELECT regress_ok();

DROP FUNCTION stay_of;
