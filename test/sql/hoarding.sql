-- hold_hoarding: what was held for how long and never consumed.  Times are made
-- with the clock; what the test itself takes is rounded away.

SET hold_ledger.tenant = 'hoarding';
CREATE FUNCTION regress_hoarding(since interval DEFAULT '1 day', separator text DEFAULT ':')
RETURNS TABLE (pool text, token_prefix text, holds bigint, unconsumed bigint, hours numeric, in_vain numeric)
LANGUAGE sql AS $$
	SELECT pool, token_prefix, holds, unconsumed, round(unit_hours, 1), round(unconsumed_unit_hours, 1)
	FROM hold_hoarding(since, separator) ORDER BY pool, token_prefix
$$;
SELECT * FROM regress_hoarding();

SELECT count(hold_pool_set(p, 100)) AS made FROM unnest('{p,q,r}'::text[]) p;
SELECT hold_pool_set('spread', 800, stripes => 8) IS NOT NULL AS made;

--
-- Consumed in full, in part and not at all; what became less; what expired
--

SELECT outcome FROM hold_try('ann:1', 'p', 4, '30 min');
SELECT outcome FROM hold_try('ann:2', 'p', 6, '1 h');
SELECT outcome FROM hold_try('bob:1', 'p', 10, '1 h');
SELECT outcome FROM hold_try('solo', 'p', 2, '1 h');
SELECT outcome FROM hold_try('a:b:c', 'p', 1, '1 h');
SET hold_ledger.clock_offset = '15 min';
SELECT outcome FROM hold_consume('ann:1');
SELECT outcome, refunded FROM hold_consume('bob:1', qty => 4);
SELECT outcome FROM hold_release('solo');
-- what is held still is in vain so far
SELECT * FROM regress_hoarding();
SET hold_ledger.clock_offset = '45 min';
SELECT outcome FROM hold_try('ann:2', 'p', 2, '1 h');
SET hold_ledger.clock_offset = '75 min';
SELECT outcome FROM hold_consume('ann:2');
SELECT * FROM regress_hoarding();

-- swept or not makes no difference
SELECT hold_sweep(1000000) > 0 AS swept;
SELECT * FROM regress_hoarding();

-- other separators
SELECT * FROM regress_hoarding(separator => 'b:');
SELECT * FROM regress_hoarding(separator => ' ');

-- the worst first
SELECT pool, token_prefix FROM hold_hoarding();

-- a token that comes again makes several claims; more of it is not in vain
SELECT outcome FROM hold_try('cid:1', 'p', 1, '1 h');
SET hold_ledger.clock_offset = '135 min';
SELECT outcome FROM hold_release('cid:1');
SELECT outcome FROM hold_try('cid:1', 'p', 2, '1 h');
SET hold_ledger.clock_offset = '165 min';
SELECT outcome FROM hold_try('cid:1', 'p', 4, '1 h');
SET hold_ledger.clock_offset = '195 min';
SELECT outcome FROM hold_consume('cid:1');
SELECT * FROM regress_hoarding() WHERE token_prefix = 'cid';

-- captures; late payment takes no time
SELECT outcome FROM hold_try('dan:1', 'q', 10, '2 h');
SELECT outcome FROM hold_try('dan:2', 'q', 10, '30 min');
SET hold_ledger.clock_offset = '225 min';
SELECT outcome FROM hold_consume('dan:1', qty => 4, final => false, ref => 'one');
SET hold_ledger.clock_offset = '255 min';
SELECT outcome FROM hold_consume('dan:1', qty => 6, final => false, ref => 'two');
SELECT outcome FROM hold_consume('dan:2', late => true);
SELECT * FROM regress_hoarding() WHERE pool = 'q';

-- a spread pool is one
SELECT count(*) FROM generate_series(1, 20) i, hold_try('eve:' || i, 'spread', 1, '1 h') WHERE granted;
SET hold_ledger.clock_offset = '285 min';
SELECT * FROM regress_hoarding() WHERE pool = 'spread';

--
-- What began before the time that is asked about
--

-- renewed again and again
SELECT outcome FROM hold_try('bot:1', 'r', 10, '30 min');
SET hold_ledger.clock_offset = '305 min';
SELECT outcome FROM hold_renew('bot:1', '30 min');
SET hold_ledger.clock_offset = '325 min';
SELECT outcome FROM hold_try('bot:1', 'r', 10, '30 min');
SET hold_ledger.clock_offset = '345 min';
SELECT * FROM regress_hoarding('2 h') WHERE pool = 'r';
SELECT * FROM regress_hoarding('30 min') WHERE pool = 'r';
-- no entry since
SELECT * FROM regress_hoarding('12 min') WHERE pool = 'r';
SELECT * FROM regress_hoarding('-1 h') WHERE pool = 'r';
-- it expired at 355 minutes, and is swept later
SET hold_ledger.clock_offset = '375 min';
SELECT * FROM regress_hoarding('15 min') WHERE pool = 'r';
SELECT * FROM regress_hoarding('32 min') WHERE pool = 'r';
SELECT hold_sweep(1000000) > 0 AS swept;
SELECT * FROM regress_hoarding('15 min') WHERE pool = 'r';
SELECT * FROM regress_hoarding('32 min') WHERE pool = 'r';
SELECT * FROM regress_hoarding('1000000 years') WHERE pool = 'r';

-- consumed in part after that time: what was taken was not in vain
SELECT outcome FROM hold_try('fay:1', 'r', 10, '2 h');
SET hold_ledger.clock_offset = '435 min';
SELECT outcome FROM hold_consume('fay:1', qty => 7);
SELECT outcome FROM hold_return('fay:1', qty => 1, ref => 'back');
SELECT * FROM regress_hoarding('30 min') WHERE pool = 'r';

-- trimmed entries are not made up for
SET hold_ledger.retention = '1 min';
SELECT hold_trim() > 0 AS trimmed;
RESET hold_ledger.retention;
SELECT count(*) > 0 AS left, bool_and(hours <= 20) AS sane FROM regress_hoarding('1000000 years');

-- rooms are left out, other tenants are not seen
SELECT outcome FROM hold_try_stay('gil:1', 900, '[2031-05-01,2031-05-03)', '1 h');
SET hold_ledger.clock_offset = '465 min';
SELECT * FROM regress_hoarding() WHERE token_prefix = 'gil';
SET hold_ledger.tenant = 'hoarding elsewhere';
SELECT * FROM regress_hoarding();
SET hold_ledger.tenant = 'hoarding';

-- mistakes
SELECT hold_hoarding(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_hoarding(separator => NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_hoarding(separator => '');
\echo :LAST_ERROR_SQLSTATE

DROP FUNCTION regress_hoarding;
SELECT regress_ok();
