-- note: BEGIN, UPDATE, INSERT, INSERT, COMMIT in one round trip; checks nothing and refuses nothing
\set token random(1000000000000000000, 9000000000000000000)
\set pool random(:first, :last)
\startpipeline
BEGIN;
UPDATE hold_pools SET held = held + 1000000, seq = seq + 1, last_at = greatest(last_at, clock_timestamp()) WHERE tenant = '' AND pool = :pool AND stripe = 0;
INSERT INTO holds (pool_id, qty, expires_at, held_since, token_key, token) SELECT pool_id, 1000000, last_at + '1 hour', last_at, hashtextextended(:token, 0), :token FROM hold_pools WHERE tenant = '' AND pool = :pool AND stripe = 0;
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity, expires_at, token) SELECT last_at, pool_id, seq, 1000000, held, consumed, 'granted', capacity, last_at + '1 hour', :token FROM hold_pools WHERE tenant = '' AND pool = :pool AND stripe = 0;
COMMIT;
\endpipeline
