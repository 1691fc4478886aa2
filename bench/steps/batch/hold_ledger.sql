-- note: in W10 hold_try_batch and hold_consume_batch of 1000, two transactions
-- units: 1000
\set base random(1000000000000000000, 9000000000000000000)
SELECT count(*) FROM hold_try_batch(ARRAY(SELECT ROW(:base::text || '-' || g, (:first::bigint + (g - 1) * 100 + (hashint8extended(g, :base) & 2147483647) % 100)::text, 1, '1 hour', NULL, NULL)::hold_request FROM generate_series(1, 1000) g));
SELECT count(*) FROM hold_consume_batch(ARRAY(SELECT :base::text || '-' || g FROM generate_series(1, 1000) g));
