-- hold_try: who gets a hold, what a refusal says, and what the same token gets
-- when it asks again.

SET hold_ledger.tenant = 'try';

--
-- Grant and refusal
--

SELECT hold_pool_set('seats', 5) IS NOT NULL AS made;

SELECT granted, outcome, line, pool, qty, available, regress_minutes(expires_at) AS expires_in,
	version, retry_at
FROM hold_try('ann', 'seats', 3, '5 minutes');

-- a refusal tells what could have been had, and when asking again may help
SELECT granted, outcome, line, pool, qty, available, expires_at,
	version, regress_minutes(retry_at) AS retry_in
FROM hold_try('bob', 'seats', 3);

-- it leaves nothing behind
SELECT pool, capacity, consumed, held, expired, available, holds FROM hold_pool_status;
SELECT seq, event, token, qty, held FROM hold_entries ORDER BY seq;

-- exactly what is left can be had; qty is 1, ttl the default unless said
SELECT outcome, qty, available, regress_minutes(expires_at) AS expires_in
FROM hold_try('bob', 'seats');
SELECT outcome, qty, available FROM hold_try('cid', 'seats', 1, '1 hour');
SELECT outcome, qty, available FROM hold_try('dan', 'seats', 0.000001);

-- when several hold, the first to expire is what can be waited for
SELECT outcome, regress_minutes(retry_at) AS retry_in FROM hold_try('dan', 'seats');
SELECT outcome, regress_minutes(retry_at) AS retry_in FROM hold_try('dan', 'seats', 100);

-- nothing to wait for
SELECT hold_pool_set('none', 0) IS NOT NULL AS made;
SELECT outcome, available, retry_at FROM hold_try('dan', 'none');

SELECT regress_ok();

--
-- The same token again
--

SELECT hold_pool_set('desk', 4) IS NOT NULL AS made;
SELECT outcome, qty, available, version, regress_minutes(expires_at) AS expires_in
FROM hold_try('eve', 'desk', 4, '10 minutes');

-- same quantity: renewed, though the pool is full; scale makes no difference
SELECT granted, outcome, qty, available, version, regress_minutes(expires_at) AS expires_in
FROM hold_try('eve', 'desk', 4.000, '20 minutes');

-- a renewal never shortens
SELECT outcome, version, regress_minutes(expires_at) AS expires_in
FROM hold_try('eve', 'desk', 4, '1 second');

-- less always fits, and keeps the later expiry
SELECT granted, outcome, qty, available, version, regress_minutes(expires_at) AS expires_in
FROM hold_try('eve', 'desk', 1, '1 minute');

-- only the difference competes
SELECT outcome, qty, available FROM hold_try('fay', 'desk', 1);
SELECT outcome, qty, available, version FROM hold_try('eve', 'desk', 3);

-- more than could be had: refused, and what is held stays; available is what
-- the token could hold in all
SELECT granted, outcome, qty, available, version, regress_minutes(expires_at) AS expires_in,
	regress_minutes(retry_at) AS retry_in
FROM hold_try('eve', 'desk', 4);
SELECT token, qty, version FROM live_holds WHERE pool = 'desk' ORDER BY token;

-- another token of the same customer is another's
SELECT outcome, available FROM hold_try('eve-2', 'desk', 1);

-- a token holds in several pools independently
SELECT hold_pool_set('lamp', 1) IS NOT NULL AS made;
SELECT outcome, qty, available, version FROM hold_try('eve', 'lamp');
SELECT pool, qty, state, version FROM hold_get('eve') ORDER BY pool;

SELECT regress_ok();

--
-- After it has ended
--

-- released: a fresh claim, which counts from 1 again
SELECT outcome FROM hold_release('eve', 'desk');
SELECT outcome, qty, available, version FROM hold_try('eve', 'desk', 2);

-- a fresh claim competes like any other
SELECT outcome FROM hold_release('eve', 'desk');
SELECT outcome, available FROM hold_try('gus', 'desk', 2);
SELECT outcome, qty, available, version, expires_at FROM hold_try('eve', 'desk', 2);

-- expired: a fresh claim too, also while nobody has swept it away
SELECT hold_pool_set('dusk', 2) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ott', 'dusk', 2, '5 minutes', payload => '"old"');
SET hold_ledger.clock_offset = '5 min';
SELECT outcome, qty, available, version, regress_minutes(expires_at) AS expires_in
FROM hold_try('ott', 'dusk', 1);
SELECT state, qty, version, payload FROM hold_get('ott');
SET hold_ledger.clock_offset = '15 min';
SELECT outcome FROM hold_try('pia', 'dusk', 2);
SELECT outcome, version, expires_at FROM hold_try('ott', 'dusk', 1);
RESET hold_ledger.clock_offset;

-- consumed: that is told for good, and nothing changes
SELECT outcome FROM hold_consume('gus', 'desk');
SELECT granted, outcome, qty, available, version, expires_at, retry_at
FROM hold_try('gus', 'desk', 2);
SELECT outcome FROM hold_try('gus', 'desk', 1);

-- consumed in part counts as consumed, also after the rest has gone
SELECT outcome FROM hold_consume('fay', 'desk', 0.5);
SELECT outcome FROM hold_try('fay', 'desk', 0.5);
SELECT outcome FROM hold_try('hal', 'desk', 1);
SELECT outcome, held FROM hold_consume('hal', 'desk', 0.25, final => false, ref => 'first');
SELECT outcome FROM hold_release('hal', 'desk');
SELECT outcome FROM hold_try('hal', 'desk', 0.25);

SELECT regress_ok();

--
-- While some of it is captured: what is still held decides
--

SELECT hold_pool_set('rope', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ivy', 'rope', 10);
SELECT outcome, held FROM hold_consume('ivy', 'rope', 4, final => false, ref => 'first');
SELECT outcome, qty, available, version FROM hold_try('ivy', 'rope', 6);
SELECT outcome, qty, available FROM hold_try('ivy', 'rope', 7);
SELECT outcome, qty, available FROM hold_try('ivy', 'rope', 5);

-- the rest expires: the token has consumed here
SET hold_ledger.clock_offset = '1 h';
SELECT outcome, available FROM hold_try('ivy', 'rope', 5);
RESET hold_ledger.clock_offset;
SELECT regress_ok();

--
-- Which refusal is told
--

SELECT hold_pool_set('gate', 2) IS NOT NULL AS made;
SELECT outcome FROM hold_try('jim', 'gate', 1);
SELECT outcome FROM hold_try('kim', 'gate', 1);
SELECT outcome FROM hold_consume('kim', 'gate');

-- past its lease
SELECT hold_pool_set('gate', 2, expires_at => now() - interval '1 second') IS NOT NULL AS set;
SELECT outcome, available FROM hold_try('lea', 'gate', 5);
SELECT outcome, available, retry_at, version, regress_minutes(expires_at) AS expires_in
FROM hold_try('jim', 'gate', 1);
SELECT outcome, available FROM hold_try('kim', 'gate');

-- closed too
SELECT hold_pool_close('gate');
SELECT outcome, available FROM hold_try('lea', 'gate', 5);
SELECT outcome, available, retry_at, version, regress_minutes(expires_at) AS expires_in
FROM hold_try('jim', 'gate', 1);
SELECT outcome, available FROM hold_try('kim', 'gate');

-- open again, with a lease that lasts
SELECT hold_pool_open('gate');
SELECT hold_pool_set('gate', 2, expires_at => 'infinity') IS NOT NULL AS set;
SELECT outcome FROM hold_try('lea', 'gate', 5);
SELECT outcome FROM hold_try('jim', 'gate', 1);

SELECT regress_ok();

--
-- Lowered capacity: less always fits, the same is renewed, more does not
--

SELECT hold_pool_set('pier', 6) IS NOT NULL AS made;
SELECT outcome FROM hold_try('max', 'pier', 5);
SELECT hold_pool_set('pier', 2) IS NOT NULL AS set;
SELECT outcome, qty, available FROM hold_try('max', 'pier', 5);
SELECT outcome, qty, available FROM hold_try('max', 'pier', 4);
SELECT outcome, qty, available FROM hold_try('max', 'pier', 4.5);
SELECT outcome, available FROM hold_try('ned', 'pier', 1);
SELECT regress_ok();

--
-- Payload
--

SELECT outcome FROM hold_try('oda', 'seats', 0.25, payload => '{"cart": 7}');
SELECT hold_pool_add('seats', 1);
SELECT outcome FROM hold_try('oda', 'seats', 0.25, payload => '{"cart": 7}');
SELECT payload FROM hold_get('oda');

-- NULL keeps it, also in a change; a new one replaces it
SELECT outcome FROM hold_try('oda', 'seats', 0.25);
SELECT outcome FROM hold_try('oda', 'seats', 0.5);
SELECT payload FROM hold_get('oda');
SELECT outcome FROM hold_try('oda', 'seats', 0.5, payload => '[]');
SELECT payload, version FROM hold_get('oda');

-- a refusal does not
SELECT outcome FROM hold_try('oda', 'seats', 50, payload => '"no"');
SELECT payload, version FROM hold_get('oda');

-- a fresh claim starts without
SELECT outcome, payload FROM hold_release('oda');
SELECT outcome FROM hold_try('oda', 'seats', 0.5);
SELECT payload, version FROM hold_get('oda');

--
-- Time to live
--

SELECT hold_pool_set('time', 100) IS NOT NULL AS made;

-- from the moment of the call, to the microsecond
SELECT hold_clock() AS before \gset
SELECT expires_at BETWEEN :'before'::timestamptz + interval '90.000001 seconds'
	AND hold_clock() + interval '90.000001 seconds' AS counted_from_the_call
FROM hold_try('ttl-1', 'time', ttl => '90.000001 seconds');
SELECT regress_minutes(expires_at) FROM hold_try('ttl-2', 'time', ttl => '7 days');
SELECT granted, expires_at > hold_clock() AS still_live
FROM hold_try('ttl-3', 'time', ttl => '1 microsecond');

-- elapsed time: a day is 24 hours, and parts that cancel out are summed
SELECT regress_minutes(expires_at) FROM hold_try('ttl-4', 'time', ttl => '-1 day 25 hours');
SELECT regress_minutes(expires_at) FROM hold_try('ttl-5', 'time', ttl => '2 days -47 hours');

SET hold_ledger.default_ttl = '3 min';
SELECT regress_minutes(expires_at) FROM hold_try('ttl-6', 'time');
RESET hold_ledger.default_ttl;

--
-- A pool that is not there
--

SELECT outcome FROM hold_try('pam', 'nowhere');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_drop('none');
SELECT outcome FROM hold_try('pam', 'none');
\echo :LAST_ERROR_SQLSTATE

SELECT regress_ok();
