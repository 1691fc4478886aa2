-- hold_verify finds what a superuser broke in the counters, and hold_repair
-- mends it: the holds and the ledger are believed, not the counters.

SET hold_ledger.tenant = 'repair';

CREATE TEMP VIEW state AS
SELECT pool, capacity, consumed, held, expired, available, holds, generation,
	regress_minutes(expires_at) AS ends_in
FROM hold_pool_status ORDER BY pool;

SELECT hold_pool_set('seats', 10, hold_clock() + interval '1 hour') IS NOT NULL AS made;
SELECT hold_pool_renew('seats', 12, hold_clock() + interval '2 hours');
SELECT outcome FROM hold_try('ann', 'seats', 3, '30 minutes');
SELECT outcome FROM hold_try('bob', 'seats', 2, '1 minute');
SELECT outcome FROM hold_try('cid', 'seats', 4);
SELECT outcome FROM hold_consume('cid', qty => 1, final => false, ref => 'a');
SET hold_ledger.clock_offset = '2 min';
SELECT * FROM state;

-- nothing to do, and nothing written
SELECT hold_repair();
SELECT count(*) FROM hold_entries WHERE event = 'repaired';

--
-- One kind of damage after another
--

-- Does the damage, repairs it, tells what came of it, and takes it all back.
CREATE FUNCTION regress_repair(damage text, OUT seen boolean, OUT repaired bigint, OUT again bigint,
	OUT entry text, OUT as_before boolean, OUT ok text)
LANGUAGE plpgsql AS $$
DECLARE
	before CONSTANT state := (SELECT s FROM state s);
BEGIN
	EXECUTE 'UPDATE hold_pools SET ' || damage || ' WHERE tenant = hold_tenant()';
	seen := EXISTS (SELECT FROM hold_verify() WHERE pool = 'seats');
	repaired := hold_repair();
	again := hold_repair();
	entry := (SELECT format('%s: %s held, %s consumed%s', event, held, consumed,
			CASE WHEN at > hold_clock() THEN ', in the future' END)
		FROM hold_entries ORDER BY seq DESC LIMIT 1);
	as_before := before = (SELECT s FROM state s);
	ok := regress_ok();
	RAISE 'undo';
EXCEPTION WHEN raise_exception THEN
END
$$;

SELECT damage, r.* FROM unnest(ARRAY[
	'held = held + 1000000',
	'held = 0',
	'held = -1',
	'consumed = consumed + 1',
	'consumed = 0',
	'held = consumed, consumed = held',
	'holds = 1',
	'holds = 7, held = 7, consumed = 7',
	-- an expired hold would never be found
	$$next_expiry = 'infinity'$$,
	-- the numbering would repeat itself, or have a gap
	'seq = seq - 2',
	'seq = seq + 2',
	'first_seq = 3',
	-- the ledger's time would stand still for a year, or run backwards
	$$last_at = last_at + interval '1 year'$$,
	$$last_at = last_at - interval '1 year'$$,
	-- the lease would be another
	$$lease_end = '2020-01-01'$$,
	'generation = 1',
	'generation = 9'
]) damage, regress_repair(damage) r;

-- whichever capacity stands, the ledger tells it
BEGIN;
UPDATE hold_pools SET capacity = 99000000 WHERE tenant = hold_tenant();
SELECT count(*) > 0 AS seen FROM hold_verify() WHERE pool = 'seats';
SELECT hold_repair(), hold_repair();
SELECT s.capacity = e.capacity AS told FROM state s JOIN hold_entries e USING (pool) ORDER BY seq DESC LIMIT 1;
SELECT regress_ok();
ROLLBACK;
SELECT * FROM state;
SELECT regress_ok();

--
-- Several pools, of several tenants
--

SELECT hold_pool_set('beds', 5) IS NOT NULL AS made;
SET hold_ledger.tenant = 'repair 2';
SELECT hold_pool_set('seats', 5) IS NOT NULL AS made;
SELECT outcome FROM hold_try('dan', 'seats', 1);
SET hold_ledger.tenant = 'repair';
BEGIN;
UPDATE hold_pools SET held = 5 WHERE tenant ~ '^repair';
SELECT DISTINCT pool FROM hold_verify() ORDER BY pool;
SELECT hold_repair();
SELECT * FROM hold_verify();
SELECT pool, held FROM state;
SET LOCAL hold_ledger.tenant = 'repair 2';
SELECT pool, held FROM state;
SELECT event, held, actor = current_user AS by_us FROM hold_entries ORDER BY seq DESC LIMIT 1;
ROLLBACK;

--
-- Holds are believed
--

BEGIN;
DELETE FROM holds h USING hold_pool_status p WHERE p.pool_id = h.pool_id AND token = 'ann';
SELECT count(*) > 0 AS seen FROM hold_verify() WHERE pool = 'seats';
SELECT hold_repair();
SELECT * FROM state WHERE pool = 'seats';
SELECT outcome FROM hold_consume('ann');
SELECT outcome, available FROM hold_try('eve', 'seats', 8);
ROLLBACK;

--
-- Mended for good: everything goes on
--

UPDATE hold_pools SET held = 99000000, consumed = 99000000, seq = 1 WHERE tenant = 'repair' AND pool = 'seats';
SELECT hold_available('seats');
SELECT hold_repair();
SELECT hold_repair();
SELECT * FROM state;
SELECT event, held, consumed, capacity, token FROM hold_entries WHERE event = 'repaired';
SELECT outcome FROM hold_renew('ann');
SELECT outcome, consumed, held FROM hold_consume('cid', qty => 1, final => false, ref => 'a');
SELECT outcome, consumed FROM hold_consume('cid');
SELECT outcome, available FROM hold_try('eve', 'seats', 5);
SELECT * FROM state;
SELECT regress_ok();

--
-- Who may
--

CREATE ROLE regress_repair;
SELECT hold_grant_access('regress_repair', 'app');
SELECT hold_grant_access('regress_repair', 'monitor');
SET ROLE regress_repair;
SELECT hold_repair();
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM hold_verify();
RESET ROLE;
SELECT hold_grant_access('regress_repair', 'operator');
SET ROLE regress_repair;
SELECT hold_repair();
RESET ROLE;

DROP FUNCTION regress_repair;
DROP OWNED BY regress_repair;
DROP ROLE regress_repair;
