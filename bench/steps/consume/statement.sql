WITH gone AS (
	DELETE FROM holds
	 WHERE token_key = hashtextextended(:token, 0) AND token = :token AND expires_at > clock_timestamp()
	RETURNING pool_id, qty, expires_at, held_since, token_key, version, token),
moved AS (
	UPDATE hold_pools p SET held = p.held - qty, consumed = p.consumed + qty, seq = seq + 1,
		   last_at = greatest(last_at, clock_timestamp())
	  FROM gone WHERE p.pool_id = gone.pool_id
	RETURNING p.pool_id, p.capacity, p.consumed, p.held, p.seq, p.last_at)
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity,
	expires_at, memory_key, remaining, held_since, version, token)
SELECT last_at, pool_id, seq, qty, held, consumed, 'consumed', capacity,
	   expires_at, token_key, 0, held_since, version, token
  FROM moved JOIN gone USING (pool_id)
RETURNING at, pool_id, qty;
