-- The role of the exporter, and something to look at.
CREATE EXTENSION hold_ledger CASCADE;
CREATE ROLE prometheus LOGIN;
SELECT hold_grant_access('prometheus', 'monitor');
SELECT hold_pool_set('show:1', 20), hold_pool_set('show:2', 5), hold_pool_set('sku:7', 100);
