-- What the sessions meet: pools of every kind, and a mark for each commit.

SET client_min_messages = warning;
CREATE EXTENSION hold_ledger CASCADE;
CREATE TABLE marks (session text, number integer);
SELECT format('CREATE ROLE storm_%s SUPERUSER LOGIN', n) FROM generate_series(0, 15) n
WHERE to_regrole(format('storm_%s', n)) IS NULL \gexec

SELECT hold_pool_set('a', 8), hold_pool_set('b', 5), hold_pool_set('moved', 12),
	hold_pool_set('door', 10), hold_pool_set('lease', 9, expires_at => now() + '2 s'),
	hold_pool_set('wide', 24, stripes => 4), hold_pool_set('hot', 150, stripes => 0),
	hold_pool_set('outside', NULL), hold_pool_set('outside_wide', NULL, stripes => 4);
SELECT hold_class_set('show', 4, '1 s');
