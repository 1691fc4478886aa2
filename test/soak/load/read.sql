-- weight: 1
\set pool random(0, 199)
SELECT hold_available('sku:' || :pool), hold_count('sku:' || :pool);
SELECT * FROM hold_available_many(ARRAY['hot', 'full', 'sku:' || :pool]);
SELECT available, expired FROM hold_pool_status WHERE pool = 'sku:' || :pool;
