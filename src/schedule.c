/*-------------------------------------------------------------------------
 *
 * schedule.c
 *	  The sweep as a job of pg_cron: hold_schedule and hold_unschedule.
 *
 * The job belongs to the owner of these functions, who they run as, whoever
 * calls them; so there is one for each database.  pg_cron's functions are
 * called by their oid, and only if they are an extension's: nobody can put one
 * in their place.
 *
 * Locks: those of pg_cron, a row of cron.job.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arguments.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/extension.h"
#include "compat.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

SQL_FUNCTION(hold_schedule);
SQL_FUNCTION(hold_unschedule);

#define JOB_NAME "hold_ledger sweep"

/* What the job runs: the procedure beside the function that is called. */
static char *
sweep_command(FunctionCallInfo fcinfo)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);

	return psprintf("CALL %s.hold_sweep_all()",
					quote_identifier(get_namespace_name(schema)));
}

/* The name of a job in pg_cron's database for a sweep in this one. */
static char *
distant_job_name(void)
{
	return psprintf("%s of %s", JOB_NAME, get_database_name(MyDatabaseId));
}

/*
 * Error 55000 unless pg_cron is here.  Where it runs in another database,
 * "instead" is what to say there.
 */
static void
require_cron(const char *instead)
{
	const char *home = GetConfigOption("cron.database_name", true, false);
	const char *here = get_database_name(MyDatabaseId);

	if (OidIsValid(get_extension_oid("pg_cron", true)))
		return;
	if (home != NULL && *home != '\0' && strcmp(home, here) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pg_cron is in another database"),
				 errdetail("\"%s\" is \"%s\".", "cron.database_name", home),
				 errhint("Run there, as a superuser: %s", instead)));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("pg_cron is not installed"),
			 errhint("Install its package, add \"pg_cron\" to \"%s\", set \"%s\" to \"%s\", restart the server, and CREATE EXTENSION pg_cron; or let the worker sweep, with \"%s\".",
					 "shared_preload_libraries", "cron.database_name", here,
					 "hold_ledger.sweep_database")));
}

/* The function of pg_cron with that signature. */
static Oid
cron_function(const char *name, int nargs, const Oid *types)
{
	List	   *names = list_make2(makeString("cron"),
								   makeString(pstrdup(name)));
	Oid			function = LookupFuncName(names, nargs, types, true);

	if (!OidIsValid(function) ||
		getExtensionOfObject(ProcedureRelationId, function) !=
		get_extension_oid("pg_cron", false))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pg_cron has no function \"%s\" of that kind", name),
				 errhint("pg_cron 1.4 or later is needed, and ALTER EXTENSION pg_cron UPDATE.")));
	return function;
}

/* Finds the job; 0 if there is none.  Is it one that was made inactive? */
static int64
find_job(bool *inactive)
{
	Oid			types[2] = {TEXTOID, TEXTOID};
	Datum		values[2];
	int64		job = 0;
	bool		isnull;

	values[0] = CStringGetTextDatum(JOB_NAME);
	values[1] = CStringGetTextDatum(GetUserNameFromId(GetUserId(), false));
	SPI_connect();
	if (SPI_execute_with_args("SELECT jobid, NOT active FROM cron.job "
							  "WHERE jobname = $1 AND username = $2",
							  2, types, values, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the jobs of pg_cron");
	if (SPI_processed > 0)
	{
		job = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
										  SPI_tuptable->tupdesc, 1, &isnull));
		*inactive = DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0],
											   SPI_tuptable->tupdesc, 2,
											   &isnull));
	}
	SPI_finish();
	return job;
}

/* Removes the job. */
static void
remove_job(int64 job)
{
	Oid			type = INT8OID;

	OidFunctionCall1(cron_function("unschedule", 1, &type),
					 Int64GetDatum(job));
}

/* Makes the job, or changes it.  Error 22023 for a schedule that is none. */
static Datum
make_job(text *schedule, const char *command)
{
	Oid			types[3] = {TEXTOID, TEXTOID, TEXTOID};
	Oid			function = cron_function("schedule", 3, types);
	MemoryContext context = CurrentMemoryContext;
	Datum		job = 0;

	PG_TRY();
	{
		job = OidFunctionCall3(function, CStringGetTextDatum(JOB_NAME),
							   PointerGetDatum(schedule),
							   CStringGetTextDatum(command));
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_INVALID_PARAMETER_VALUE)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pg_cron does not know the schedule \"%s\"",
						text_to_cstring(schedule)),
				 errhint("Give minute, hour, day, month and weekday, as in \"* * * * *\"; pg_cron 1.5 or later knows \"10 seconds\" too.")));
	}
	PG_END_TRY();
	return job;
}

/*
 * hold_schedule(cron text) returns bigint
 *
 * Has pg_cron sweep at these times, and returns the number of the job.  Again,
 * it changes the job, and sets it to work if it was made inactive.
 *
 * Errors: 22004 for NULL, 22023 for a schedule that pg_cron does not know,
 * 55000 where pg_cron is not there.
 */
Datum
hold_schedule(PG_FUNCTION_ARGS)
{
	char	   *command = sweep_command(fcinfo);
	text	   *schedule;
	bool		inactive = false;
	int64		job;

	require_argument(fcinfo, 0, "cron");
	schedule = PG_GETARG_TEXT_PP(0);
	require_cron(psprintf("SELECT cron.schedule_in_database(%s, %s, %s, %s)",
						  quote_literal_cstr(distant_job_name()),
						  quote_literal_cstr(text_to_cstring(schedule)),
						  quote_literal_cstr(command),
						  quote_literal_cstr(get_database_name(MyDatabaseId))));
	job = find_job(&inactive);
	if (inactive)
		remove_job(job);
	return make_job(schedule, command);
}

/*
 * hold_unschedule() returns boolean
 *
 * Takes the job away; false if there is none.  Error 55000 where pg_cron is
 * not there.
 */
Datum
hold_unschedule(PG_FUNCTION_ARGS)
{
	bool		inactive;
	int64		job;

	require_cron(psprintf("SELECT cron.unschedule(%s)",
						  quote_literal_cstr(distant_job_name())));
	job = find_job(&inactive);
	if (job != 0)
		remove_job(job);
	PG_RETURN_BOOL(job != 0);
}
