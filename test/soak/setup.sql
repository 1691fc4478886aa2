-- What the load of the soak meets.

SET client_min_messages = warning;
CREATE EXTENSION hold_ledger CASCADE;

SELECT count(hold_pool_set('sku:' || g, 1000000)) FROM generate_series(0, 199) g;
SELECT hold_pool_set('hot', 1000000, stripes => 4);
SELECT hold_pool_set('full', 1), hold_try('the one', 'full', ttl => '1 day');
SELECT hold_class_set('rt', 1000000);
