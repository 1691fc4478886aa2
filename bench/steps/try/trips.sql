-- note: several round trips: BEGIN, SELECT FOR UPDATE, INSERT, UPDATE, INSERT, COMMIT; no expiry, no renewal, no memory of settled tokens
\set token random(1000000000000000000, 9000000000000000000)
\set pool random(:first, :last)
BEGIN;
SELECT pool_id, capacity - held - consumed AS free FROM hold_pools WHERE tenant = '' AND pool = :pool AND stripe = 0 FOR UPDATE \gset
\if :free >= 1000000
INSERT INTO holds (pool_id, qty, expires_at, held_since, token_key, token) VALUES (:pool_id, 1000000, clock_timestamp() + '1 hour', clock_timestamp(), hashtextextended(:token, 0), :token);
UPDATE hold_pools SET held = held + 1000000, seq = seq + 1, last_at = greatest(last_at, clock_timestamp()) WHERE pool_id = :pool_id RETURNING capacity, consumed, held, seq \gset
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity, expires_at, token) VALUES (clock_timestamp(), :pool_id, :seq, 1000000, :held, :consumed, 'granted', :capacity, clock_timestamp() + '1 hour', :token);
\endif
COMMIT;
