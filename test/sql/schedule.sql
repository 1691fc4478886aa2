-- hold_schedule and hold_unschedule without pg_cron: what to do is told, and
-- nobody can put functions in its place.  With it: t/023_cron.pl.

SET hold_ledger.tenant = 'schedule';

SELECT hold_schedule();
\echo :LAST_ERROR_SQLSTATE
SELECT hold_unschedule();
\echo :LAST_ERROR_SQLSTATE

SELECT hold_schedule(NULL);
\echo :LAST_ERROR_SQLSTATE

-- where it runs in another database, the hint is what to say there
SET cron.database_name = 'other';
SELECT hold_schedule('*/5 * * * *');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_unschedule();
\echo :LAST_ERROR_SQLSTATE
SELECT set_config('cron.database_name', current_database(), false) IS NOT NULL AS set;
SELECT hold_schedule();
RESET cron.database_name;

-- a schema of that name does not make it pg_cron
CREATE SCHEMA cron;
CREATE FUNCTION cron.schedule(text, text, text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'called as %', current_user;
END
$$;
CREATE TABLE cron.job (jobid bigint, jobname name, username text, active boolean);
SET search_path = cron, public;
SELECT hold_schedule();
SELECT hold_unschedule();
RESET search_path;
DROP SCHEMA cron CASCADE;

SELECT regress_ok();
