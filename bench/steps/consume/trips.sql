BEGIN;
SELECT p.pool_id AS consumed_from FROM hold_pools p JOIN holds h USING (pool_id) WHERE token_key = hashtextextended(:token, 0) AND token = :token FOR UPDATE OF p \gset
DELETE FROM holds WHERE token_key = hashtextextended(:token, 0) AND token = :token AND pool_id = :consumed_from AND expires_at > clock_timestamp() RETURNING version \gset
UPDATE hold_pools SET held = held - 1000000, consumed = consumed + 1000000, seq = seq + 1, last_at = greatest(last_at, clock_timestamp()) WHERE pool_id = :consumed_from RETURNING capacity, consumed, held, seq \gset
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity, memory_key, remaining, version, token) VALUES (clock_timestamp(), :consumed_from, :seq, 1000000, :held, :consumed, 'consumed', :capacity, hashtextextended(:token, 0), 0, :version, :token);
COMMIT;
