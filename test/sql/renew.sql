-- hold_renew: extends every live hold of a token, or none.

SET hold_ledger.tenant = 'renew';

SELECT pool, hold_pool_set(pool, 3) IS NOT NULL AS made
FROM (VALUES ('p'), ('q'), ('r')) AS v (pool);

SELECT pool, outcome FROM hold_try_lines('ann', hold_lines('{p,q}', '{3,2}'), '5 minutes', payload => '1');
SELECT granted, outcome, line, pool, qty, available, regress_minutes(expires_at) AS expires_in,
	version, retry_at
FROM hold_renew('ann', '20 minutes') ORDER BY line;

-- all until the same moment; a payload stays
SELECT count(*), count(DISTINCT expires_at) AS moments, max(payload::text) AS payload FROM hold_get('ann');

-- the default ttl; never shorter than before
SELECT pool, outcome, regress_minutes(expires_at) AS expires_in, version FROM hold_renew('ann') ORDER BY line;
SELECT pool, outcome, regress_minutes(expires_at) AS expires_in, version
FROM hold_renew('ann', '1 hour') ORDER BY line;

-- what is renewed needs no room, also where capacity was lowered
SELECT hold_pool_set('p', 1) IS NOT NULL AS set;
SELECT pool, outcome, qty, available FROM hold_renew('ann') ORDER BY line;
SELECT hold_pool_set('p', 3) IS NOT NULL AS set;

-- the ledger tells
SELECT event, qty, held, regress_minutes(expires_at) AS expires_in
FROM hold_entries WHERE token = 'ann' AND pool = 'p' ORDER BY seq;

-- never seen; nothing to renew
SELECT * FROM hold_renew('nobody');

--
-- One that has expired stands in the way of all
--

SELECT outcome FROM hold_try('bob', 'q', 1, '1 hour');
SELECT outcome FROM hold_try('bob', 'r', 1, '1 minute');
SET hold_ledger.clock_offset = '1 min';
SELECT granted, outcome, pool, qty, regress_minutes(expires_at) AS expires_in, version
FROM hold_renew('bob', '2 hours') ORDER BY line;
SELECT pool, state, version FROM hold_get('bob') ORDER BY pool;

-- swept or not
SELECT hold_sweep() > 0 AS swept;
SELECT granted, outcome, pool FROM hold_renew('bob', '2 hours') ORDER BY line;

-- it revives nothing, even if all is free
SELECT outcome FROM hold_release('bob', 'q');
SELECT granted, outcome, pool FROM hold_renew('bob', '2 hours') ORDER BY line;
SELECT hold_available('r');

-- one that lapsed before the others were made is history
SELECT outcome FROM hold_try('bob', 'q', 1, '1 hour');
SELECT granted, outcome, pool FROM hold_renew('bob', '2 hours') ORDER BY line;

-- all of them expired: none is renewed
SELECT outcome FROM hold_try('cid', 'r', 1, '1 minute');
SET hold_ledger.clock_offset = '2 min';
SELECT granted, outcome, pool, version FROM hold_renew('cid', '2 hours');
RESET hold_ledger.clock_offset;

--
-- What has been consumed or released does not
--

SELECT outcome FROM hold_release('ann');
SELECT pool, outcome FROM hold_try_lines('dan', hold_lines('{p,q,r}'));
SELECT outcome FROM hold_consume('dan', 'p');
SELECT outcome FROM hold_release('dan', 'q');
SELECT granted, outcome, pool, qty, version FROM hold_renew('dan') ORDER BY line;

-- a live one is a hold also after a capture
SELECT outcome, held FROM hold_consume('dan', 'r', 0.25, final => false, ref => 'a');
SELECT granted, outcome, pool, qty, version FROM hold_renew('dan') ORDER BY line;

--
-- Closed, or past its lease: refused, and the others blocked
--

SELECT pool, outcome FROM hold_try_lines('eve', hold_lines('{p,q}'));
SELECT hold_pool_close('p');
SELECT granted, outcome, pool, qty, available, version FROM hold_renew('eve') ORDER BY line;
SELECT hold_pool_set('q', 3, now()) IS NOT NULL AS set;
SELECT granted, outcome, pool, qty, available, version FROM hold_renew('eve') ORDER BY line;
SELECT hold_pool_open('p');
SELECT granted, outcome, pool, qty, available, version FROM hold_renew('eve') ORDER BY line;
SELECT hold_pool_set('q', 3, 'infinity') IS NOT NULL AS set;
SELECT granted, outcome, pool, qty, available, version FROM hold_renew('eve') ORDER BY line;

-- a lease that ends later does not shorten a hold, nor is it a limit to it
SELECT hold_pool_set('p', 3, now() + interval '1 minute') IS NOT NULL AS set;
SELECT outcome, pool, regress_minutes(expires_at) AS expires_in FROM hold_renew('eve', '1 hour') ORDER BY line;

SELECT regress_ok();
