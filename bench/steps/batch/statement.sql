-- note: in W10 one statement for all 1000, on pools that differ
-- units: 1000
\set base random(1000000000000000000, 9000000000000000000)
WITH r AS MATERIALIZED (
	SELECT :base::text || '-' || g AS token, (:first::bigint + (g - 1) * 100 + (hashint8extended(g, :base) & 2147483647) % 100)::text AS pool FROM generate_series(1, 1000) g),
locked AS MATERIALIZED (
	SELECT p.pool_id, r.token FROM r JOIN hold_pools p ON tenant = '' AND p.pool = r.pool AND stripe = 0
	 ORDER BY p.pool_id
	   FOR NO KEY UPDATE OF p),
p AS (
	UPDATE hold_pools p SET held = held + 1000000, seq = seq + 1, last_at = greatest(last_at, clock_timestamp())
	  FROM locked WHERE p.pool_id = locked.pool_id AND capacity - held - consumed >= 1000000
	RETURNING p.pool_id, capacity, consumed, held, seq, last_at, token),
h AS (
	INSERT INTO holds (pool_id, qty, expires_at, held_since, token_key, token)
	SELECT pool_id, 1000000, last_at + '1 hour', last_at, hashtextextended(token, 0), token FROM p)
INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity, expires_at, token)
SELECT last_at, pool_id, seq, 1000000, held, consumed, 'granted', capacity, last_at + '1 hour', token
  FROM p
RETURNING token, (capacity - held - consumed) / 1000000 AS available, expires_at;
WITH r AS MATERIALIZED (
	SELECT :base::text || '-' || g AS token FROM generate_series(1, 1000) g),
locked AS MATERIALIZED (
	SELECT p.pool_id, r.token
	  FROM r JOIN holds h ON h.token_key = hashtextextended(r.token, 0) AND h.token = r.token JOIN hold_pools p USING (pool_id)
	 ORDER BY p.pool_id
	   FOR NO KEY UPDATE OF p),
gone AS (
	DELETE FROM holds h USING locked
	 WHERE h.token_key = hashtextextended(locked.token, 0) AND h.token = locked.token AND expires_at > clock_timestamp()
	RETURNING h.pool_id, qty, expires_at, held_since, token_key, version, h.token),
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
RETURNING token, pool_id, qty;
