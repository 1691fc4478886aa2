-- hold_consume(late => true): a payment that arrives after the hold has expired
-- is taken if, and only if, the capacity is still to be had.

SET hold_ledger.tenant = 'late';

SELECT hold_pool_set('seats', 2) IS NOT NULL AS made;

--
-- While it is live, late makes no difference
--

SELECT outcome FROM hold_try('ann', 'seats', 1);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('ann', late => true);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('ann', late => true);

--
-- Expired, and still where it was
--

SELECT outcome FROM hold_try('bob', 'seats', 1, '1 minute', payload => '{"cart": 1}');
SET hold_ledger.clock_offset = '1 min';
SELECT outcome, consumed FROM hold_consume('bob');
SELECT outcome, qty, consumed, refunded, held, payload, reservation_id
FROM hold_consume('bob', late => true, reservation_id => 9);
SELECT outcome, qty, consumed, refunded, held, payload, reservation_id
FROM hold_consume('bob', late => true, reservation_id => 10);
SELECT outcome, consumed FROM hold_consume('bob');
SELECT capacity, consumed, held, available FROM hold_pool_status;
SELECT seq, event, token, qty, held, consumed FROM hold_entries WHERE token = 'bob' ORDER BY seq;
SELECT regress_ok();

--
-- Expired, and swept away or evicted by another
--

SELECT hold_pool_set('boxes', 2) IS NOT NULL AS made;
SELECT outcome FROM hold_try('cid', 'boxes', 1.5, '1 minute', payload => '{"cart": 2}');
SET hold_ledger.clock_offset = '2 min';
SELECT hold_sweep() > 0 AS swept;
SELECT outcome, qty, consumed, refunded, held, payload FROM hold_consume('cid', late => true);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('cid', late => true);

SELECT outcome FROM hold_try('dan', 'boxes', 0.5, '1 minute');
SET hold_ledger.clock_offset = '3 min';
SELECT outcome FROM hold_try('eve', 'boxes', 0.25, '1 minute');
SELECT outcome, qty, consumed FROM hold_consume('dan', late => true);

-- what is asked for decides whether it fits
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('dan', qty => 0.250001, late => true);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('dan', qty => 0.25, late => true);
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'boxes';

-- it may push out what has expired, like any claim
SET hold_ledger.clock_offset = '4 min';
SELECT hold_pool_add('boxes', 0.25);
SELECT outcome FROM hold_try('fay', 'boxes', 0.5, '1 minute');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome, consumed FROM hold_consume('eve', late => true);
SELECT outcome, consumed FROM hold_consume('fay', late => true);
SELECT outcome, consumed FROM hold_consume('fay', qty => 0.25, late => true);
SELECT regress_ok();

--
-- It does not fit
--

SELECT hold_pool_set('last', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('gus', 'last', 1, '1 minute');
SET hold_ledger.clock_offset = '6 min';
SELECT outcome FROM hold_try('hal', 'last', 1, '1 hour');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('gus', late => true);
SELECT outcome FROM hold_consume('hal');
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('gus', late => true);

-- lowered, closed, or past its lease: as for a new claim
SELECT hold_pool_set('shut', 2) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ivy', 'shut', 2, '1 minute');
SET hold_ledger.clock_offset = '7 min';
SELECT hold_pool_set('shut', 1) IS NOT NULL AS set;
SELECT outcome FROM hold_consume('ivy', late => true);
SELECT hold_pool_set('shut', 2) IS NOT NULL AS set;
SELECT hold_pool_close('shut');
SELECT outcome FROM hold_consume('ivy', late => true);
SELECT hold_pool_open('shut');
SELECT hold_pool_set('shut', 2, hold_clock()) IS NOT NULL AS set;
SELECT outcome FROM hold_consume('ivy', late => true);
SELECT hold_pool_set('shut', 2, 'infinity') IS NOT NULL AS set;
SELECT outcome, consumed FROM hold_consume('ivy', late => true);

-- an external pool has no capacity against which it could be judged
SELECT outcome FROM hold_try('jim', 'elsewhere', 1, '1 minute', budget => 5);
SET hold_ledger.clock_offset = '8 min';
SELECT outcome, consumed FROM hold_consume('jim', late => true);
SELECT regress_ok();

--
-- Released, consumed or never seen: late changes nothing
--

SELECT hold_pool_set('more', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('kim', 'more', 1);
SELECT outcome FROM hold_release('kim');
SELECT outcome, consumed FROM hold_consume('kim', late => true);
SELECT outcome, consumed FROM hold_consume('lea', late => true);

-- 0 of it: there is nothing to return
SELECT outcome FROM hold_try('max', 'more', 1, '1 minute');
SET hold_ledger.clock_offset = '9 min';
SELECT outcome, consumed, refunded FROM hold_consume('max', qty => 0, late => true);

--
-- Several holds: all or none
--

SELECT hold_pool_set('few', 1) IS NOT NULL AS made;
SELECT outcome, pool FROM hold_try_lines('ned', hold_lines('{more,few}'), '1 minute');
SET hold_ledger.clock_offset = '10 min';

-- a quantity could mean either
BEGIN;
SELECT pool, outcome, consumed FROM hold_consume('ned', qty => 0.5, late => true) ORDER BY line;
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- one that does not fit blocks the other
SELECT outcome FROM hold_try('pam', 'few', 1, '1 minute');
SELECT pool, outcome, qty, consumed, held FROM hold_consume('ned', late => true) ORDER BY line;
SELECT hold_available('more');

-- both fit again
SET hold_ledger.clock_offset = '11 min';
SELECT pool, outcome, qty, consumed, held FROM hold_consume('ned', late => true) ORDER BY line;
SELECT pool, outcome, qty, consumed, held FROM hold_consume('ned', late => true) ORDER BY line;

-- a live one and one that has lapsed beside it are consumed together
SELECT hold_pool_set('hall', 3) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ray', 'hall', 1, '1 hour');
SELECT outcome FROM hold_try('ray', 'more', 1, '1 minute');
SET hold_ledger.clock_offset = '13 min';
SELECT pool, outcome, qty, consumed, held FROM hold_consume('ray') ORDER BY line;
SELECT pool, outcome, qty, consumed, held FROM hold_consume('ray', late => true) ORDER BY line;

-- a lapsed one that does not fit blocks the live one, which stays
SELECT outcome FROM hold_try('sam', 'hall', 1, '1 hour');
SELECT hold_pool_set('tiny', 1) IS NOT NULL AS made;
SELECT outcome FROM hold_try('sam', 'tiny', 1, '1 minute');
SET hold_ledger.clock_offset = '15 min';
SELECT outcome FROM hold_try('tom', 'tiny', 1, '1 hour');
SELECT pool, outcome, qty, consumed, held FROM hold_consume('sam', late => true) ORDER BY line;
SELECT pool, qty, state FROM hold_get('sam') ORDER BY pool;

-- one that lapsed long before is history: late does not bring it back
SELECT outcome FROM hold_try('una', 'more', 1, '1 minute');
SET hold_ledger.clock_offset = '17 min';
SELECT outcome FROM hold_try('una', 'hall', 1, '1 hour');
SELECT pool, outcome, qty, consumed, held FROM hold_consume('una', late => true) ORDER BY line;

-- named, it is settled alone
SELECT pool, outcome, qty, consumed, held FROM hold_consume('una', 'more', late => true);

--
-- With captures
--

SELECT outcome FROM hold_try('vic', 'more', 2, '1 minute');
SELECT outcome, consumed, held FROM hold_consume('vic', qty => 0.5, final => false, ref => 'a');
SET hold_ledger.clock_offset = '19 min';
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('vic', qty => 1, ref => 'b', late => true);
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('vic', qty => 1, ref => 'b', late => true);
SELECT outcome, qty, consumed, refunded, held
FROM hold_consume('vic', qty => 0.5, final => false, ref => 'a', late => true);
SELECT consumed, state FROM hold_get('vic');

SELECT pool, capacity, consumed, held, available FROM hold_pool_status ORDER BY pool;

-- a capture that comes late answers what is true after it
SELECT outcome FROM hold_try('wim', 'more', 2, '1 minute');
SET hold_ledger.clock_offset = '21 min';
SELECT c.outcome, c.qty, c.consumed, c.qty - c.consumed = c.refunded + c.held AS all_told,
	c.held = COALESCE((SELECT sum(g.qty) FROM hold_get('wim') g WHERE g.state = 'granted'), 0) AS held_as_told
FROM hold_consume('wim', qty => 0.5, final => false, ref => 'a', late => true) c;

-- a retry takes nothing of what had lapsed before the holds that were paid
RESET hold_ledger.clock_offset;
SELECT hold_pool_set('left', 5) IS NOT NULL AND hold_pool_set('paid', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('xia', 'left', ttl => '1 min');
SET hold_ledger.clock_offset = '2 min';
SELECT outcome FROM hold_try('xia', 'paid', ttl => '1 h');
SELECT pool, outcome, consumed FROM hold_consume('xia', late => true) ORDER BY pool;
SELECT pool, outcome, consumed FROM hold_consume('xia', late => true) ORDER BY pool;
SELECT outcome FROM hold_return('xia', 'paid');
SELECT pool, outcome, consumed FROM hold_consume('xia', late => true) ORDER BY pool;
SELECT hold_available('left');
-- the same where both lapsed, one after the other
SELECT outcome FROM hold_try('yan', 'left', ttl => '1 min');
SET hold_ledger.clock_offset = '4 min';
SELECT outcome FROM hold_try('yan', 'paid', ttl => '1 min');
SET hold_ledger.clock_offset = '6 min';
SELECT pool, outcome, consumed FROM hold_consume('yan', late => true, final => false, ref => 'c') ORDER BY pool;
SELECT pool, outcome, consumed FROM hold_consume('yan', late => true, final => false, ref => 'd') ORDER BY pool;
SELECT pool, outcome, consumed FROM hold_consume('yan', late => true) ORDER BY pool;
-- named, it can be had alone
SELECT pool, outcome, consumed FROM hold_consume('yan', 'left', late => true);
-- what was live together with what is paid first is not left behind
SELECT count(*) FROM hold_try_lines('zoe', hold_lines('{left,paid}'), '1 min');
SELECT outcome FROM hold_consume('zoe', 'left');
SET hold_ledger.clock_offset = '8 min';
SELECT pool, outcome, consumed FROM hold_consume('zoe', late => true) ORDER BY pool;

SELECT regress_ok();
