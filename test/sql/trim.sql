-- hold_trim: what is removed from the ledger, what stays for its own sake, and
-- what is remembered after it.

-- Everything happens years ago.
SET hold_ledger.tenant = 'trim';
SELECT now() - interval '2000 days' AS long_ago \gset
SET hold_ledger.clock_offset = '-3000 d';

CREATE TEMP VIEW ledger AS
SELECT pool, min(seq) AS first, max(seq) AS last, count(*) AS entries FROM hold_entries
GROUP BY pool ORDER BY pool;

SELECT hold_pool_set('seats', 100) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ann', 'seats', 3);
SELECT outcome FROM hold_consume('ann');
SELECT outcome FROM hold_try('bob', 'seats', 2);
SELECT outcome FROM hold_release('bob');
SELECT outcome FROM hold_try('cid', 'seats', 1, '1 minute');
SELECT hold_pool_add('seats', 10, 'delivery');
SELECT hold_pool_set('quiet', 5) IS NOT NULL AS made;
SET hold_ledger.clock_offset = '-2999 d';
SELECT hold_sweep() > 0 AS swept;

-- another tenant has the same names, and "ann" holds there
SET hold_ledger.tenant = 'trim 2';
SELECT hold_pool_set('seats', 100) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ann', 'seats', 3, '7 days');
SELECT outcome FROM hold_try('bob', 'seats', 3);
SELECT outcome FROM hold_consume('bob');
SET hold_ledger.tenant = 'trim';

-- "dan" still holds: what stands before his entry can go, the rest cannot
SELECT hold_pool_set('beds', 10) IS NOT NULL AS made;
SELECT hold_pool_set('extra', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('eve', 'beds', 1);
SELECT outcome FROM hold_consume('eve');
SELECT outcome FROM hold_try('dan', 'beds', 1);
SELECT outcome FROM hold_consume('dan');
SELECT outcome FROM hold_try('fay', 'beds', 1);
SELECT outcome FROM hold_consume('fay');
SELECT outcome FROM hold_try('dan', 'extra', 1, '6 days');
SELECT outcome FROM hold_try('gus', 'extra', 1);
SELECT outcome FROM hold_release('gus');
SELECT * FROM ledger;

--
-- What is never removed
--

-- a role has to be given the right
CREATE ROLE regress_trim;
SELECT hold_grant_access('regress_trim', 'app');
SELECT hold_grant_access('regress_trim', 'monitor');
SET ROLE regress_trim;
SELECT hold_trim();
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

-- younger than the retention, whatever is asked for
SELECT hold_trim();
SELECT hold_trim('infinity');
SET hold_ledger.retention = '10 d';
SELECT hold_trim(hold_clock());
RESET hold_ledger.retention;
RESET hold_ledger.clock_offset;
SET hold_ledger.retention = '36000 d';
SELECT hold_trim(:'long_ago');
RESET hold_ledger.retention;

-- older than was asked for
SELECT hold_trim(now() - interval '3001 days');

-- none
SELECT hold_trim(:'long_ago', 0);
SELECT hold_trim('-infinity');
SELECT hold_trim(:'long_ago', -1);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_trim(:'long_ago', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM ledger;

-- not where a subscriber would be told of it
SET client_min_messages = error;
CREATE PUBLICATION regress_trim FOR TABLE hold_ledger WITH (publish = 'insert, delete');
SELECT hold_trim(:'long_ago');
\echo :LAST_ERROR_SQLSTATE
ALTER PUBLICATION regress_trim SET (publish = 'insert');
RESET client_min_messages;

--
-- Bounded, and a prefix of each numbering
--

SELECT hold_grant_access('regress_trim', 'operator');
SET ROLE regress_trim;
SELECT hold_trim(:'long_ago', 3);
RESET ROLE;
SELECT sum(first - 1) AS removed, bool_and(entries = last - first + 1) AS without_gap FROM ledger;
SELECT * FROM hold_verify();
SELECT hold_trim(:'long_ago', 4);
SELECT sum(first - 1) AS removed, bool_and(entries = last - first + 1) AS without_gap FROM ledger;
SELECT hold_trim(:'long_ago', 1000) > 0 AS more;
SELECT hold_trim(:'long_ago');
DROP PUBLICATION regress_trim;

-- the newest of each pool, and all from the first entry of "dan" on
SELECT * FROM ledger;
SELECT pool, seq, event, token, held, consumed FROM hold_entries ORDER BY pool, seq;
SELECT * FROM hold_verify();
SELECT regress_ok();

-- the other tenant's are all there
SET hold_ledger.tenant = 'trim 2';
SELECT * FROM ledger;
SELECT hold_trim(:'long_ago');
SELECT * FROM ledger;
SET hold_ledger.tenant = 'trim';

--
-- Memory
--

-- it is gone with the entries
SELECT outcome, refunded FROM hold_return('ann');
SELECT outcome FROM hold_consume('ann');
SELECT count(*) FROM hold_get('ann');
SELECT count(*) FROM hold_history('ann', '4000 days');
SELECT seq, event FROM hold_pool_history('seats', '4000 days');
SELECT hold_pool_add('seats', 10, 'delivery');
SELECT outcome FROM hold_try('ann', 'seats', 3);
SELECT outcome FROM hold_consume('ann');
SELECT pool, capacity, consumed, held, available FROM hold_pool_status ORDER BY pool;

-- and stays with those that stay
SELECT outcome, consumed FROM hold_consume('fay');
SELECT pool, event FROM hold_history('dan', '4000 days');
SELECT outcome, refunded FROM hold_return('dan', 'beds');

--
-- Once more, after new entries, for which the space is used again
--

VACUUM hold_ledger;
SELECT hold_sweep() > 0 AS swept;
SELECT outcome FROM hold_try('hal', 'beds', 1);
SET enable_seqscan = off;
SELECT pool, event FROM hold_history('hal');
SELECT pool, event FROM hold_history('dan');
RESET enable_seqscan;
SELECT * FROM ledger;
SELECT hold_trim(:'long_ago') > 0 AS more;
SELECT hold_trim(:'long_ago');
SELECT pool, seq, event, token, held, consumed FROM hold_entries ORDER BY pool, seq;
SELECT regress_ok();

-- a row that is removed otherwise is still found missing, in the middle or at either end
BEGIN;
ALTER TABLE hold_ledger DISABLE TRIGGER append_only;
DELETE FROM hold_ledger l USING hold_pool_status p
WHERE p.pool_id = l.pool_id AND p.pool = 'seats' AND l.event = 'granted';
SELECT count(*) > 0 AS found FROM hold_verify() WHERE pool = 'seats';
ROLLBACK;
BEGIN;
ALTER TABLE hold_ledger DISABLE TRIGGER append_only;
DELETE FROM hold_ledger l USING hold_pool_status p
WHERE p.pool_id = l.pool_id AND p.pool = 'seats' AND l.seq = (SELECT first FROM ledger WHERE pool = 'seats');
SELECT count(*) > 0 AS found FROM hold_verify() WHERE pool = 'seats';
ROLLBACK;
BEGIN;
ALTER TABLE hold_ledger DISABLE TRIGGER append_only;
DELETE FROM hold_ledger l USING hold_pool_status p
WHERE p.pool_id = l.pool_id AND p.pool = 'seats' AND l.seq = (SELECT last FROM ledger WHERE pool = 'seats');
SELECT count(*) > 0 AS found FROM hold_verify() WHERE pool = 'seats';
ROLLBACK;

-- rolled back, nothing is removed
SET hold_ledger.retention = 0;
BEGIN;
SELECT hold_trim(hold_clock()) > 0 AS more;
ROLLBACK;
SELECT * FROM ledger;
RESET hold_ledger.retention;

--
-- A trim between the consumption and a partial return
--

SET hold_ledger.clock_offset = '-2500 d';
SELECT hold_pool_set('days', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ivy', 'days', 3);
SELECT outcome FROM hold_consume('ivy');
SET hold_ledger.clock_offset = '-1500 d';
SELECT outcome, refunded FROM hold_return('ivy', qty => 1, ref => 'a');
RESET hold_ledger.clock_offset;
SELECT hold_trim(:'long_ago') > 0 AS more;
SELECT event, qty, held, consumed FROM hold_history('ivy', '4000 days');

-- what is remembered is right
SELECT qty, consumed, state FROM hold_get('ivy');
SELECT outcome FROM hold_try('ivy', 'days', 1);
SELECT outcome, refunded FROM hold_return('ivy', qty => 1, ref => 'a');
SELECT outcome, refunded FROM hold_return('ivy');
SELECT outcome FROM hold_try('ivy', 'days', 1);
SELECT outcome FROM hold_consume('ivy');
SELECT qty, consumed, state FROM hold_get('ivy');
SELECT outcome FROM hold_try('ivy', 'days', 1);

--
-- A trim between the hold of a stay and its confirmation
--

SET hold_ledger.clock_offset = '-2500 d';
SELECT outcome FROM hold_try_stay('jo', 71, '[2031-05-01,2031-05-02)', '1 d');
SELECT outcome FROM hold_try_stay('kay', 71, '[2031-05-03,2031-05-04)', '1 d');
SELECT hold_clock() AS cut \gset
SET hold_ledger.clock_offset = '-2499.5 d';
SELECT outcome FROM hold_consume('jo', reservation_id => 1);
SELECT outcome FROM hold_consume('kay', reservation_id => 2);
RESET hold_ledger.clock_offset;
SELECT hold_trim(:'cut'::timestamptz + interval '1 min') > 0 AS trimmed;
SELECT event, held, consumed FROM hold_history('jo', '4000 days') ORDER BY seq;
SELECT * FROM hold_verify();
SELECT regress_ok();

DROP OWNED BY regress_trim;
DROP ROLE regress_trim;
