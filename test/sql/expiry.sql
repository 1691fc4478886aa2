-- Expiry: a hold is over the moment its time is, for whoever asks, whether it
-- was swept away or not.  Nothing is swept in this file.

SET hold_ledger.tenant = 'expiry';

SELECT hold_pool_set('p', 1) IS NOT NULL AS made;
SELECT hold_pool_set('q', 1) IS NOT NULL AS made;

-- what everyone says of pool p and token ann
CREATE FUNCTION pg_temp.seen() RETURNS TABLE (who text, says text)
LANGUAGE sql AS $$
	SELECT 'hold_available', hold_available('p')::text
	UNION ALL SELECT 'hold_available_many', concat_ws(' free, held ', available, held) FROM hold_available_many('{p}')
	UNION ALL SELECT 'hold_count', hold_count('p')::text
	UNION ALL SELECT 'hold_pool_status', format('%s free, held %s by %s, expired %s', available, held, holds, expired)
		FROM hold_pool_status WHERE pool = 'p'
	UNION ALL SELECT 'live_holds', count(*)::text FROM live_holds WHERE token = 'ann' AND pool = 'p'
	UNION ALL SELECT 'hold_get', state::text FROM hold_get('ann') WHERE pool = 'p'
$$;

SELECT outcome FROM hold_try('ann', 'p', 1, '10 seconds');
SELECT * FROM pg_temp.seen();
SET hold_ledger.clock_offset = '10 s';
SELECT * FROM pg_temp.seen();

-- as long as the clock says so
SET hold_ledger.clock_offset = '1 s';
SELECT * FROM pg_temp.seen();
SET hold_ledger.clock_offset = '10 s';

-- every verb: its own token cannot use it, and whoever comes gets the unit
BEGIN;
SELECT outcome FROM hold_renew('ann');
SELECT outcome FROM hold_consume('ann');
SELECT outcome FROM hold_consume('ann', 'p');
SELECT outcome FROM hold_release('ann');
SELECT outcome, available FROM hold_try('bob', 'p', 1);
SELECT outcome, available FROM hold_try('ann', 'p', 1);
ROLLBACK;
BEGIN;
SELECT outcome, pool FROM hold_try_lines('bob', hold_lines('{p,q}'));
ROLLBACK;
BEGIN;
SELECT outcome, version FROM hold_try('ann', 'p', 1);
ROLLBACK;
BEGIN;
SELECT outcome FROM hold_consume('ann', late => true);
ROLLBACK;
BEGIN;
SELECT hold_pool_drop('p');
ROLLBACK;

-- whoever takes its place writes how it ended, with the time until which it was held
SELECT outcome, available FROM hold_try('bob', 'p', 1, '1 hour');
SELECT seq, event, token, qty, held, regress_minutes(expires_at) AS expires_in FROM hold_entries WHERE pool = 'p' ORDER BY seq;
SELECT outcome FROM hold_consume('ann');
SELECT state, qty FROM hold_get('ann');

-- of several lines, some expired: the live ones stand
RESET hold_ledger.clock_offset;
SELECT hold_pool_set('r', 2) IS NOT NULL AS made;
SELECT outcome FROM hold_try('cid', 'q', 1, '1 minute');
SELECT outcome FROM hold_try('cid', 'r', 2, '1 hour');
SET hold_ledger.clock_offset = '1 min';
SELECT hold_available('q'), hold_available('r');
SELECT pool, state FROM hold_get('cid') ORDER BY pool;

--
-- A claim clears away as much as it needs
--

SELECT hold_pool_set('many', 20) IS NOT NULL AS made;
SELECT count(*) AS granted FROM generate_series(1, 20) i, hold_try('many-' || i, 'many', 1, '1 minute')
WHERE granted;
SELECT outcome, available FROM hold_try('dan', 'many');
SET hold_ledger.clock_offset = '2 min';
SELECT hold_available('many'), hold_count('many');
SELECT outcome, available FROM hold_try('dan', 'many', 0.5, '1 hour');
SELECT capacity, consumed, held, holds, available FROM hold_pool_status WHERE pool = 'many';

-- each with its entry
SELECT expired > 0 AS some_wait, expired + (SELECT count(*) FROM hold_entries
	WHERE pool = 'many' AND event = 'expired') AS all_told
FROM hold_pool_status WHERE pool = 'many';

-- more than could be had tells exactly what could, and clears nothing that it does not need
SELECT outcome, available FROM hold_try('eve', 'many', 20);
SELECT outcome, available FROM hold_try('eve', 'many', 19.5, '1 hour');
SELECT capacity, consumed, held, expired, holds, available FROM hold_pool_status WHERE pool = 'many';
SELECT event, count(*) FROM hold_entries WHERE pool = 'many' AND event = 'expired' GROUP BY event;
SELECT regress_ok();

-- a refusal says when a live one expires, not when one has
SELECT hold_pool_set('mixed', 3) IS NOT NULL AS made;
SELECT outcome FROM hold_try('fay', 'mixed', 1, '1 minute');
SELECT outcome FROM hold_try('gus', 'mixed', 1, '10 minutes');
SELECT outcome FROM hold_try('hal', 'mixed', 1, '20 minutes');
SET hold_ledger.clock_offset = '3 min';
SELECT outcome, available, regress_minutes(retry_at) AS retry_in FROM hold_try('ivy', 'mixed', 2);
SELECT outcome, available FROM hold_try('ivy', 'mixed', 1);

-- a token waits for the holds of others, not for its own
SELECT outcome, regress_minutes(retry_at) AS retry_in FROM hold_try('gus', 'mixed', 2);

-- the same in an external pool
SELECT outcome FROM hold_try('jim', 'outside', 2, '1 minute', budget => 2);
SET hold_ledger.clock_offset = '4 min';
SELECT outcome, available FROM hold_try('kim', 'outside', 2, budget => 2);
SELECT held, expired, holds FROM hold_pool_status WHERE pool = 'outside';

-- a hold that was changed or renewed lives as long as it was told last
SELECT hold_pool_set('long', 2) IS NOT NULL AS made;
SELECT outcome FROM hold_try('lea', 'long', 2, '1 minute');
SELECT outcome FROM hold_try('lea', 'long', 1, '10 minutes');
SET hold_ledger.clock_offset = '10 min';
SELECT outcome, available FROM hold_try('max', 'long', 2);
SELECT outcome FROM hold_consume('lea');
SELECT regress_ok();
