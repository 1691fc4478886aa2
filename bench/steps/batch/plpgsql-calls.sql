-- note: the PL/pgSQL functions, 1000 single calls in one transaction, then 1000 to consume; no round trip in between
-- units: 1000
\set base random(1000000000000000000, 9000000000000000000)
SELECT count(t.granted) FROM generate_series(1, 1000) g, hold_try(:base::text || '-' || g, (:first::bigint + (g - 1) * 100 + (hashint8extended(g, :base) & 2147483647) % 100)::text, 1000000, '1 hour') t;
SELECT count(t.outcome) FROM generate_series(1, 1000) g, hold_consume(:base::text || '-' || g) t;
