-- note: one SQL statement; no expiry, no renewal, no memory of settled tokens
\set token random(1000000000000000000, 9000000000000000000)
\set pool random(:first, :last)
WITH p AS (
	UPDATE hold_pools SET held = held + 1000000, seq = seq + 1, last_at = greatest(last_at, clock_timestamp())
	 WHERE tenant = '' AND pool = :pool AND stripe = 0 AND capacity - held - consumed >= 1000000
	RETURNING pool_id, capacity, consumed, held, seq, last_at),
h AS (
	INSERT INTO holds (pool_id, qty, expires_at, held_since, token_key, token)
	SELECT pool_id, 1000000, last_at + '1 hour', last_at, hashtextextended(:token, 0), :token FROM p
	RETURNING qty, expires_at, token)
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity, expires_at, token)
SELECT last_at, pool_id, seq, qty, held, consumed, 'granted', capacity, expires_at, token
  FROM p, h
RETURNING (capacity - held - consumed) / 1000000 AS available, expires_at;
