-- The settings: defaults, ranges, units, who may set them, and what they do.

LOAD 'hold_ledger';

SELECT name, setting, unit, vartype, context, min_val, max_val
FROM pg_settings WHERE name LIKE 'hold\_ledger.%' ORDER BY name COLLATE "C";
SELECT name FROM pg_settings
WHERE name LIKE 'hold\_ledger.%' AND COALESCE(short_desc, '') = '';

SHOW hold_ledger.default_ttl;
SHOW hold_ledger.max_ttl;
SHOW hold_ledger.retention;

-- the prefix is reserved
SET hold_ledger.default_tll = '5 min';
\echo :LAST_ERROR_SQLSTATE

-- units, and ranges
SET hold_ledger.default_ttl = '90 s';
SHOW hold_ledger.default_ttl;
SET hold_ledger.default_ttl = '2h';
SHOW hold_ledger.default_ttl;
SET hold_ledger.default_ttl = '250ms';
SHOW hold_ledger.default_ttl;
\set VERBOSITY sqlstate
SET hold_ledger.default_ttl = 0;
SET hold_ledger.default_ttl = -1;
SET hold_ledger.default_ttl = 'soon';
SET hold_ledger.default_ttl = 'NaN';
SET hold_ledger.default_ttl = '3654 d';
SET hold_ledger.max_ttl = 0;
SET hold_ledger.max_ttl = '3654 d';
SET hold_ledger.max_lines = 0;
SET hold_ledger.max_nights = 0;
SET hold_ledger.sweep_database = 'postgres';
SET hold_ledger.sweep_interval = '1 min';
SET hold_ledger.retention = -1;
SET hold_ledger.retention = 0;
SET hold_ledger.clock_offset = '-3654 d';
SET hold_ledger.clock_offset = '-3653 d';
SET hold_ledger.clock_offset = '3654 d';
SET hold_ledger.clock_offset = '3653 d';
\set VERBOSITY default
RESET ALL;

--
-- What they do
--

SET hold_ledger.tenant = 'settings';
SELECT hold_pool_set('seats', 10) IS NOT NULL AS made;

SET hold_ledger.default_ttl = '3 min';
SELECT regress_minutes(expires_at) AS expires_in FROM hold_try('ann', 'seats');
SELECT regress_minutes(expires_at) AS expires_in FROM hold_try_lines('bob', hold_lines('{seats}'));
SET hold_ledger.default_ttl = '4 min';
SELECT regress_minutes(expires_at) AS expires_in FROM hold_renew('bob');

-- what the longest time is holds for the default too
SET hold_ledger.max_ttl = '2 min';
SELECT outcome FROM hold_try('cid', 'seats', ttl => '2 min');
SELECT outcome FROM hold_try('cid', 'seats', ttl => '121 s');
SELECT outcome FROM hold_try('cid', 'seats');
RESET hold_ledger.default_ttl;
RESET hold_ledger.max_ttl;

SET hold_ledger.max_lines = 2;
SELECT outcome FROM hold_try_lines('dan', hold_lines('{seats,seats}'));
SELECT outcome FROM hold_try_lines('dan', ARRAY[hold_line('seats'), hold_line('seats'), hold_line('seats')]);
RESET hold_ledger.max_lines;

SET hold_ledger.max_nights = 2;
SELECT count(*) FROM unnest(hold_nights('n', '[2031-05-01,2031-05-03)'));
SELECT hold_nights('n', '[2031-05-01,2031-05-04)');
RESET hold_ledger.max_nights;

-- the clock moves both ways, for every verb and view alike
SELECT hold_clock() - clock_timestamp() < interval '1 s' AS as_the_server;
SET hold_ledger.clock_offset = '10 d';
SELECT hold_clock() - clock_timestamp() BETWEEN interval '9 days 23:59' AND interval '10 days' AS ahead;
SELECT count(*) FROM live_holds;
SET hold_ledger.clock_offset = '-10 d';
SELECT hold_clock() - clock_timestamp() BETWEEN interval '-10 days -1 min' AND interval '-9 days' AS behind;
SELECT count(*) FROM live_holds;
SELECT outcome, regress_minutes(expires_at) AS expires_in FROM hold_try('eve', 'seats');
RESET hold_ledger.clock_offset;

-- the ledger's times never run backwards, though
SELECT count(*) FROM (SELECT at < lag(at) OVER (ORDER BY seq) AS backwards FROM hold_entries) e WHERE backwards;

-- a verb without a tenant can be made an error
RESET hold_ledger.tenant;
SET hold_ledger.require_tenant = on;
SELECT hold_pool_set('seats', 10);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY sqlstate
SELECT hold_pool_add('seats', 10);
SELECT hold_pool_close('seats');
SELECT hold_pool_open('seats');
SELECT hold_pool_drop('seats');
SELECT hold_try('fay', 'seats');
SELECT hold_try_lines('fay', hold_lines('{seats}'));
SELECT hold_renew('fay');
SELECT hold_consume('fay');
SELECT hold_release('fay');
SELECT hold_get('fay');
SELECT hold_history('fay');
SELECT hold_pool_history('seats');
SELECT hold_available('seats');
SELECT hold_available_many('{seats}');
SELECT hold_count('seats');
\set VERBOSITY default

-- views show that nobody's rows are there
SELECT (SELECT count(*) FROM hold_pool_status) AS pools, (SELECT count(*) FROM live_holds) AS holds,
	(SELECT count(*) FROM hold_entries) AS entries;
SELECT hold_tenant() = '' AS no_tenant;

-- upkeep works across tenants, so it needs none
SELECT hold_sweep(0);
CALL hold_sweep_all(0);
SELECT hold_repair();
BEGIN;
UPDATE hold_pools SET held = held + 1 WHERE tenant = 'settings';
SELECT count(*) > 0 AS found FROM hold_verify();
ROLLBACK;

SET hold_ledger.tenant = 'settings';
SELECT hold_count('seats');
RESET hold_ledger.require_tenant;

-- a tenant is part of the pool's key: as long as a key at most
SELECT set_config('hold_ledger.tenant', repeat('t', 255), false) IS NOT NULL AS set;
SELECT hold_pool_set('seats', 1) IS NOT NULL AS made;
SELECT set_config('hold_ledger.tenant', repeat('t', 256), false) IS NOT NULL AS set;
SELECT hold_pool_set('seats', 1) IS NOT NULL AS made;
\echo :LAST_ERROR_SQLSTATE
SET hold_ledger.tenant = 'settings';

--
-- Who may set them
--

CREATE ROLE regress_settings LOGIN;
SELECT hold_grant_access('regress_settings', 'operator');
SELECT current_user AS superuser \gset

SET ROLE regress_settings;
SET hold_ledger.default_ttl = '1 min';
\set VERBOSITY sqlstate
SET hold_ledger.max_ttl = '1 min';
SET hold_ledger.max_lines = 1;
SET hold_ledger.max_nights = 1;
SET hold_ledger.retention = 0;
SET hold_ledger.require_tenant = off;
SET hold_ledger.tenant = 'other';
SET hold_ledger.clock_offset = '1 min';
\set VERBOSITY default
RESET ROLE;

-- nor by setting them before the library is there
\connect - regress_settings
SET hold_ledger.tenant = 'settings';
SET hold_ledger.clock_offset = '1 d';
SELECT hold_tenant() = '' AS no_tenant, hold_clock() - clock_timestamp() < interval '1 s' AS no_offset;
SHOW hold_ledger.tenant;

-- who was given the right can
\connect - :superuser
GRANT SET ON PARAMETER hold_ledger.tenant TO regress_settings;
\connect - regress_settings
SET hold_ledger.tenant = 'settings';
SELECT hold_tenant();
SELECT hold_count('seats');

\connect - :superuser
DROP OWNED BY regress_settings;
DROP ROLE regress_settings;
SELECT regress_ok();
