\set token random(1000000000000000000, 9000000000000000000)
\set type random(:first, :last)
\set arrival random(0, 112)
WITH locked AS MATERIALIZED (
	SELECT pool_id FROM hold_pools
	 WHERE tenant = '' AND stripe = 0 AND capacity - held - consumed >= 1000000
	   AND pool = ANY (ARRAY(SELECT 'type-' || :type::text || ':' || (date '2031-01-01' + :arrival::int + n) FROM generate_series(0, 6) n))
	 ORDER BY pool_id
	   FOR NO KEY UPDATE),
p AS (
	UPDATE hold_pools p SET held = held + 1000000, seq = seq + 1, last_at = greatest(last_at, clock_timestamp())
	  FROM locked WHERE p.pool_id = locked.pool_id AND (SELECT count(*) = 7 FROM locked)
	RETURNING p.pool_id, capacity, consumed, held, seq, last_at),
h AS (
	INSERT INTO holds (pool_id, qty, expires_at, held_since, token_key, token)
	SELECT pool_id, 1000000, last_at + '1 hour', last_at, hashtextextended(:token, 0), :token FROM p)
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity, expires_at, token)
SELECT last_at, pool_id, seq, 1000000, held, consumed, 'granted', capacity, last_at + '1 hour', :token
  FROM p
RETURNING pool_id, (capacity - held - consumed) / 1000000 AS available, expires_at;
