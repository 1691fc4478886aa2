-- A retry never has a second effect: every call again from another session,
-- while the hold is live, after it has expired, and after it was swept away.

SET hold_ledger.tenant = 'retries';

SELECT hold_pool_set('seats', 100) IS NOT NULL AS made;
SELECT hold_pool_set('beds', 100) IS NOT NULL AS made;

-- all that a retry must not change
CREATE VIEW regress_state AS
SELECT pool, capacity, consumed, held, available,
	(SELECT count(*) FROM hold_entries e WHERE e.pool = s.pool) AS entries
FROM hold_pool_status s ORDER BY pool;

-- one of each kind
SELECT outcome FROM hold_try('paid', 'seats', 3, '1 minute');
SELECT outcome FROM hold_try('part', 'seats', 5, '1 minute');
SELECT outcome FROM hold_try('freed', 'seats', 2, '1 minute');
SELECT outcome FROM hold_try('back', 'seats', 4, '1 minute');
SELECT outcome FROM hold_try('slices', 'seats', 10, '1 minute');
SELECT outcome FROM hold_try('lapsed', 'seats', 1, '1 minute');
SELECT outcome FROM hold_try('late', 'seats', 1, '1 minute');
SELECT outcome FROM hold_try_lines('both', hold_lines('{seats,beds}', '{1,2}'), '1 minute');

SELECT outcome, qty, consumed, refunded, held, reservation_id FROM hold_consume('paid', reservation_id => 7);
SELECT outcome, qty, consumed, refunded, held FROM hold_consume('part', qty => 2);
SELECT outcome, refunded FROM hold_release('freed');
SELECT outcome FROM hold_consume('back');
SELECT outcome, refunded FROM hold_return('back', qty => 1, ref => 'r1');
SELECT outcome, consumed, held FROM hold_consume('slices', qty => 4, final => false, ref => 'c1');
SELECT outcome, consumed, held FROM hold_consume('slices', qty => 1, final => false, ref => 'c2');
SELECT outcome, refunded, held FROM hold_return('slices', qty => 2, ref => 'r2');
SELECT pool, outcome FROM hold_consume('both') ORDER BY line;
SELECT hold_pool_add('seats', 10, 'd1'), hold_pool_add('seats', -5, 'd2');
SELECT * FROM regress_state;

-- every one of those calls again
CREATE FUNCTION regress_again() RETURNS TABLE (call text, answer text) LANGUAGE sql AS $$
	SELECT 'consume ' || token, format('%s %s: %s -%s +%s =%s %s', c.pool, c.outcome, c.qty, c.consumed,
		c.refunded, c.held, c.reservation_id)
	FROM unnest('{paid,part,freed,back,both}'::text[]) token, hold_consume(token) c
	UNION ALL
	SELECT 'consume ' || token || ' as before', format('%s %s -%s +%s =%s', c.outcome, c.qty, c.consumed, c.refunded, c.held)
	FROM unnest('{paid,part}'::text[]) token, hold_consume(token, 'seats', 2, reservation_id => 8) c
	UNION ALL
	SELECT 'capture ' || ref, format('%s %s -%s +%s =%s', c.outcome, c.qty, c.consumed, c.refunded, c.held)
	FROM unnest('{c1,c2}'::text[], '{4,1}'::numeric[]) x (ref, qty),
		hold_consume('slices', qty => x.qty, final => false, ref => x.ref) c
	UNION ALL
	SELECT 'release ' || token, format('%s %s: +%s', c.pool, c.outcome, c.refunded)
	FROM unnest('{paid,freed,both}'::text[]) token, hold_release(token) c
	UNION ALL
	SELECT 'return ' || token, format('%s +%s =%s', c.outcome, c.refunded, c.held)
	FROM unnest('{back,slices}'::text[], '{1,2}'::numeric[], '{r1,r2}'::text[]) x (token, qty, ref),
		hold_return(x.token, qty => x.qty, ref => x.ref) c
	UNION ALL
	SELECT 'hold ' || token, format('%s: %s', c.pool, c.outcome)
	FROM unnest('{paid,part,back,both}'::text[]) token, hold_try(token, 'seats', 3) c
	UNION ALL
	SELECT 'hold both', format('%s: %s', c.pool, c.outcome)
	FROM hold_try_lines('both', hold_lines('{seats,beds}', '{1,2}')) c
	UNION ALL
	SELECT 'renew ' || token, format('%s: %s', c.pool, c.outcome)
	FROM unnest('{paid,freed,both}'::text[]) token, hold_renew(token) c
	UNION ALL
	SELECT 'add ' || ref, hold_pool_add('seats', delta, ref)::text
	FROM unnest('{d1,d2}'::text[], '{10,-5}'::numeric[]) x (ref, delta)
$$;

-- from another session, while what is left of them is live
\c -
SET hold_ledger.tenant = 'retries';
CREATE TABLE regress_first AS SELECT * FROM regress_again();
SELECT * FROM regress_first;
SELECT * FROM regress_state;

-- after it has expired
\c -
SET hold_ledger.tenant = 'retries';
SET hold_ledger.clock_offset = '2 min';
SELECT * FROM regress_again() EXCEPT SELECT * FROM regress_first;
SELECT outcome, consumed FROM hold_consume('lapsed');
SELECT outcome FROM hold_release('lapsed');

-- after a sweep, and after another
SELECT hold_sweep(100000) > 0 AS swept;
\c -
SET hold_ledger.tenant = 'retries';
SET hold_ledger.clock_offset = '2 min';
SELECT * FROM regress_again() EXCEPT SELECT * FROM regress_first;
SELECT outcome, consumed FROM hold_consume('lapsed');
SELECT outcome FROM hold_release('lapsed');
SELECT outcome, consumed FROM hold_consume('late', late => true);
SELECT outcome, consumed FROM hold_consume('late', late => true);
DO $$ BEGIN PERFORM hold_sweep(100000); END $$;
\c -
SET hold_ledger.tenant = 'retries';
SET hold_ledger.clock_offset = '10 d';
SELECT * FROM regress_first EXCEPT SELECT * FROM regress_again();
SELECT outcome, consumed FROM hold_consume('late', late => true);
SELECT outcome, consumed FROM hold_consume('late');
SELECT outcome FROM hold_release('late');
SELECT * FROM regress_state;

-- another ref is another call
SELECT hold_pool_add('seats', 1, 'd3'), hold_pool_add('seats', 1, 'd3'), hold_pool_add('beds', 1, 'd3');
SELECT hold_pool_add('seats', 99, 'd1'), hold_pool_add('seats', 1), hold_pool_add('seats', 1);

-- a call that was rolled back was none
BEGIN;
SELECT hold_pool_add('seats', 1, 'd4');
SELECT outcome FROM hold_try('undone', 'seats', 1);
SELECT outcome FROM hold_consume('undone', final => false, ref => 'c1');
ROLLBACK;
SELECT hold_pool_add('seats', 1, 'd4');
SELECT outcome FROM hold_consume('undone');
SELECT outcome FROM hold_try('undone', 'seats', 1);
BEGIN;
SAVEPOINT a;
SELECT outcome, consumed FROM hold_consume('undone', qty => 0.5, final => false, ref => 'c1');
ROLLBACK TO a;
SELECT outcome, consumed FROM hold_consume('undone', qty => 0.5, final => false, ref => 'c1');
COMMIT;
SELECT outcome, consumed FROM hold_consume('undone', qty => 0.5, final => false, ref => 'c1');
SELECT * FROM regress_state;
SELECT regress_ok();

DROP FUNCTION regress_again;
DROP VIEW regress_state;
DROP TABLE regress_first;
