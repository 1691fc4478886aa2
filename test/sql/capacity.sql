-- Pools: setting, adding, closing, opening, dropping, and their leases.

SET hold_ledger.tenant = 'capacity';

--
-- hold_pool_set: creates, changes, and changes nothing
--

SELECT hold_pool_set('p', 5) AS pool_id \gset
SELECT pool, pool_id = :pool_id AS same, capacity, consumed, held, expired, available, holds,
	next_expiry, expires_at, closed, generation, stripes
FROM hold_pool_status;

SELECT hold_pool_set('p', 7.5) = :pool_id AS same;
SELECT hold_pool_set('p', 7.50) = :pool_id AS same;
SELECT seq, event, qty, capacity, expires_at FROM hold_entries ORDER BY seq;

-- 0 is a capacity
SELECT hold_pool_set('p', 0) = :pool_id AS same;
SELECT outcome, available FROM hold_try('ann', 'p');
SELECT hold_pool_set('p', -0.000001);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_set('p', NULL);
\echo :LAST_ERROR_SQLSTATE

-- what was consumed stays in it
SELECT hold_pool_set('p', 5) = :pool_id AS same;
SELECT outcome FROM hold_try('ann', 'p', 2);
SELECT outcome FROM hold_consume('ann');
SELECT hold_pool_set('p', 3) = :pool_id AS same;
SELECT capacity, consumed, held, available FROM hold_pool_status;

-- below what is promised: no new holds until it drains
SELECT outcome FROM hold_try('bob', 'p', 1);
SELECT hold_pool_set('p', 1) = :pool_id AS same;
SELECT capacity, consumed, held, available FROM hold_pool_status;
SELECT outcome FROM hold_try('cid', 'p', 0.5);
SELECT outcome FROM hold_release('bob');
SELECT capacity, consumed, held, available FROM hold_pool_status;
SELECT outcome FROM hold_try('cid', 'p', 0.5);
SELECT hold_pool_set('p', 2.5) = :pool_id AS same;
SELECT outcome, available FROM hold_try('cid', 'p', 0.5);
SELECT regress_ok();

--
-- hold_pool_add
--

SELECT hold_pool_set('q', 10) IS NOT NULL AS made;
SELECT hold_pool_add('q', 2.5);
SELECT hold_pool_add('q', -0.5);

-- the same ref again changes nothing, and tells the capacity of now
SELECT hold_pool_add('q', 5, 'delivery 1');
SELECT hold_pool_add('q', 1);
SELECT hold_pool_add('q', 5, 'delivery 1');
SELECT hold_pool_add('q', 99, 'delivery 1');
SELECT hold_pool_add('q', 5, 'delivery 2');

-- a ref belongs to a pool
SELECT hold_pool_set('r', 1) IS NOT NULL AS made;
SELECT hold_pool_add('r', 5, 'delivery 1');
SELECT seq, event, qty, capacity, ref FROM hold_entries WHERE pool = 'q' ORDER BY seq;

-- down to 0, and below what is held, but not below 0
SELECT outcome FROM hold_try('dan', 'r', 4);
SELECT hold_pool_add('r', -5, 'loss');
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'r';
SELECT hold_pool_add('r', -1.000001, 'loss 2');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_add('r', -1, 'loss 2');
SELECT hold_pool_add('r', 4, 'gain');
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'r';
SELECT regress_ok();

--
-- hold_pool_close, hold_pool_open
--

SELECT hold_pool_set('s', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('eve', 's', 1);
SELECT outcome FROM hold_try('fay', 's', 1);
SELECT outcome FROM hold_try('gus', 's', 1, '1 minute');
SELECT hold_pool_close('s');
SELECT hold_pool_close('s');
SELECT capacity, held, available, closed FROM hold_pool_status WHERE pool = 's';
SELECT hold_available('s');
SELECT pool, available, held, closed FROM hold_available_many('{s}');

-- no new holds, no renewals, no changes
SELECT outcome FROM hold_try('hal', 's');
SELECT outcome FROM hold_try('eve', 's', 1);
SELECT outcome FROM hold_try('eve', 's', 0.5);
SELECT outcome FROM hold_renew('eve');

-- consume, release and expiry still work
SELECT outcome FROM hold_consume('eve');
SELECT outcome FROM hold_release('fay');
SET hold_ledger.clock_offset = '1 min';
SELECT held, expired, holds FROM hold_pool_status WHERE pool = 's';
SELECT hold_sweep() > 0 AS swept;
SELECT event FROM hold_history('gus');
RESET hold_ledger.clock_offset;

-- capacity can be changed, which does not open it
SELECT hold_pool_set('s', 6) IS NOT NULL AS set;
SELECT hold_pool_add('s', 1);
SELECT capacity, consumed, available, closed FROM hold_pool_status WHERE pool = 's';

SELECT hold_pool_open('s');
SELECT hold_pool_open('s');
SELECT outcome FROM hold_try('hal', 's');
SELECT seq, event, qty FROM hold_entries WHERE pool = 's' AND event IN ('capacity', 'opened', 'closed') ORDER BY seq;
SELECT regress_ok();

--
-- Leases
--

SELECT hold_pool_set('t', 5, now() + interval '1 hour') IS NOT NULL AS made;
SELECT regress_minutes(expires_at) AS ends_in, available FROM hold_pool_status WHERE pool = 't';

-- NULL leaves the end as it is; the same again changes nothing
SELECT hold_pool_set('t', 6) IS NOT NULL AS set;
SELECT hold_pool_set('t', 6, expires_at) IS NOT NULL AS set FROM hold_pool_status WHERE pool = 't';
SELECT hold_pool_set('t', 6, now() + interval '2 hours') IS NOT NULL AS set;
SELECT seq, event, qty, capacity, regress_minutes(expires_at) AS ends_in
FROM hold_entries WHERE pool = 't' ORDER BY seq;

-- from its end on, no holds
SELECT outcome FROM hold_try('ivy', 't', 1, '1 day');
SET hold_ledger.clock_offset = '119 min';
SELECT outcome, available FROM hold_try('jim', 't');
SET hold_ledger.clock_offset = '2 h';
SELECT outcome, available FROM hold_try('kim', 't');
SELECT hold_available('t');
SELECT capacity, held, available FROM hold_pool_status WHERE pool = 't';
SELECT outcome FROM hold_renew('ivy');

-- what was promised before it can be consumed and released
SELECT outcome FROM hold_consume('ivy');
SELECT outcome FROM hold_release('jim');

-- a later end brings it back, 'infinity' takes the end away
SELECT hold_pool_set('t', 6, now() + interval '3 hours') IS NOT NULL AS set;
SELECT hold_available('t');
SELECT hold_pool_set('t', 6, 'infinity') IS NOT NULL AS set;
SELECT expires_at FROM hold_pool_status WHERE pool = 't';
SET hold_ledger.clock_offset = '100 d';
SELECT hold_available('t');
RESET hold_ledger.clock_offset;
SELECT regress_ok();

--
-- hold_pool_drop: retired, not deleted
--

SELECT hold_pool_set('u', 2) AS pool_id \gset
SELECT outcome FROM hold_try('lea', 'u');
SELECT hold_pool_drop('u');
\echo :LAST_ERROR_SQLSTATE
SELECT outcome FROM hold_consume('lea');
SELECT outcome FROM hold_try('max', 'u', 1, '1 minute');
SELECT hold_pool_drop('u');
\echo :LAST_ERROR_SQLSTATE

-- expired holds do not keep it
SET hold_ledger.clock_offset = '1 min';
SELECT hold_pool_drop('u');

-- no verb knows it any more
\set VERBOSITY sqlstate
SELECT hold_pool_drop('u');
SELECT hold_pool_add('u', 1);
SELECT hold_pool_close('u');
SELECT hold_pool_open('u');
SELECT hold_try('ned', 'u');
SELECT hold_try_lines('ned', hold_lines('{u}'));
SELECT hold_consume('lea', 'u');
SELECT hold_release('lea', 'u');
SELECT hold_available('u');
SELECT hold_count('u');
\set VERBOSITY default
SELECT outcome FROM hold_consume('lea');
SELECT outcome FROM hold_release('max');
SELECT outcome FROM hold_renew('max');
SELECT count(*) FROM hold_get('lea');
SELECT count(*) FROM hold_pool_status WHERE pool = 'u';
SELECT count(*) FROM live_holds WHERE pool = 'u';
SELECT pool, available, held, closed FROM hold_available_many('{u}');

-- its ledger stays
SELECT seq, event, token, qty, held, consumed FROM hold_entries WHERE pool = 'u' ORDER BY seq;
SELECT count(*) FROM hold_history('lea');

-- the same name revives it, with its pool_id, numbering and memory
SELECT hold_pool_set('u', 3) = :pool_id AS same;
SELECT capacity, consumed, held, expired, available, closed, generation FROM hold_pool_status WHERE pool = 'u';
SELECT outcome FROM hold_try('lea', 'u');
SELECT outcome FROM hold_consume('max', late => true);
SELECT seq, event, token, qty, held, consumed FROM hold_entries WHERE pool = 'u' ORDER BY seq;
RESET hold_ledger.clock_offset;

-- a closed one comes back open, a lease without end
SELECT hold_pool_set('v', 2, now()) IS NOT NULL AS made;
SELECT hold_pool_close('v');
SELECT hold_pool_drop('v');
SELECT hold_pool_set('v', 2) IS NOT NULL AS made;
SELECT capacity, available, closed, expires_at FROM hold_pool_status WHERE pool = 'v';

-- unknown pools
SELECT hold_pool_drop('nowhere');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_add('nowhere', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_close('nowhere');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_pool_open('nowhere');
\echo :LAST_ERROR_SQLSTATE

SELECT regress_ok();
