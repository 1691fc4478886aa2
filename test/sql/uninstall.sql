-- DROP EXTENSION: nothing of it stays.  It is run after all other tests.

DROP FUNCTION regress_minutes, regress_ok;

-- not while something depends on it
CREATE TABLE regress_shows (pool_id bigint REFERENCES hold_pools (pool_id));
CREATE VIEW regress_free AS SELECT pool, available FROM hold_pool_status;
\set VERBOSITY terse
DROP EXTENSION hold_ledger;
DROP VIEW regress_free;
DROP TABLE regress_shows;

-- nor a part of it
DROP TABLE hold_ledger;
DROP FUNCTION hold_available(text);
DROP TYPE hold_event;
DROP SEQUENCE hold_ids;
\set VERBOSITY default

DROP EXTENSION hold_ledger;
SELECT relname FROM pg_class WHERE relname ~ '^(hold|live_hold)' AND relnamespace = 'public'::regnamespace;
SELECT proname FROM pg_proc WHERE proname ~ '^hold_';
SELECT typname FROM pg_type WHERE typname ~ '^_?hold_';
DROP EXTENSION btree_gist;
