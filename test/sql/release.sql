-- hold_release: gives back what is live, and tells how the rest has ended.

SET hold_ledger.tenant = 'release';

SELECT hold_pool_set('p', 5) IS NOT NULL AS made;
SELECT hold_pool_set('q', 5) IS NOT NULL AS made;

SELECT outcome FROM hold_try('ann', 'p', 2, payload => '{"cart": 1}');
SELECT outcome, line, pool, qty, consumed, refunded, held, regress_minutes(at) AS at_in, payload,
	room_id, stay, reservation_id
FROM hold_release('ann');
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'p';

-- a second time is told apart, and changes nothing
SELECT outcome, line, pool, qty, consumed, refunded, held, payload FROM hold_release('ann');
SELECT seq, event, token, qty, held FROM hold_entries WHERE pool = 'p' ORDER BY seq;

-- never seen
SELECT * FROM hold_release('nobody');
SELECT * FROM hold_release('ann', 'q');
SELECT * FROM hold_release('ann', 'nowhere');
\echo :LAST_ERROR_SQLSTATE

-- consumed: the capacity stays taken; the figures are those of the consumption
SELECT outcome FROM hold_try('bob', 'p', 2);
SELECT outcome FROM hold_consume('bob', qty => 1.5, reservation_id => 7);
SELECT outcome, qty, consumed, refunded, held, reservation_id FROM hold_release('bob');
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'p';

-- expired: what is no longer held is not given back
SELECT outcome FROM hold_try('cid', 'p', 3, '5 minutes');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome, qty, consumed, refunded, held, regress_minutes(at) AS at_in FROM hold_release('cid');
SELECT available, held, expired FROM hold_pool_status WHERE pool = 'p';
SELECT outcome FROM hold_try('dan', 'p', 3);
SELECT outcome, qty, consumed, refunded, held FROM hold_release('cid');
SELECT token, qty FROM live_holds;
RESET hold_ledger.clock_offset;

-- all holds of a token at once: each says what became of it
SELECT hold_pool_set('r', 5) IS NOT NULL AS made;
SELECT hold_pool_set('s', 5) IS NOT NULL AS made;
SELECT pool, outcome FROM hold_try_lines('eve', hold_lines('{q,r}'));
SELECT outcome FROM hold_try('eve', 's', 1, '1 minute');
SELECT outcome FROM hold_consume('eve', 'r');
SET hold_ledger.clock_offset = '1 min';
SELECT line, pool, outcome, qty, consumed, refunded, held FROM hold_release('eve') ORDER BY line;
SELECT line, pool, outcome, qty, consumed, refunded, held FROM hold_release('eve') ORDER BY line;
RESET hold_ledger.clock_offset;

-- one of them, by its pool
SELECT pool, outcome FROM hold_try_lines('fay', hold_lines('{q,r}'));
SELECT pool, outcome FROM hold_release('fay', 'r');
SELECT pool, qty, state FROM hold_get('fay') ORDER BY pool;

-- closed, past its lease, lowered: it can always be given back
SELECT hold_pool_close('q');
SELECT hold_pool_set('q', 0, now()) IS NOT NULL AS set;
SELECT pool, outcome, refunded FROM hold_release('fay') ORDER BY pool;
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'q';

-- what was given back can be had at once, also in the same transaction
SELECT hold_pool_set('t', 5) IS NOT NULL AS made;
BEGIN;
SELECT outcome FROM hold_try('gus', 't', 5);
SELECT outcome FROM hold_release('gus');
SELECT outcome FROM hold_try('hal', 't', 5);
SELECT outcome FROM hold_release('hal');
COMMIT;

SELECT regress_ok();
