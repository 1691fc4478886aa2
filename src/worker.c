/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background worker that sweeps, where nothing else does.
 *
 * It is registered when the server starts with the library preloaded and
 * hold_ledger.sweep_database set, and begins when recovery is over: so a
 * standby has none until it is promoted.
 *
 * Each batch is a transaction of its own, and is taken by calling hold_sweep
 * as a user would.  What goes wrong is logged, and tried again after the next
 * rest.  When the setting names another database, the worker exits and is
 * started anew there, as a process cannot change its database; when it names
 * none, the worker exits for good.
 *
 * Locks: those of hold_sweep, for one batch at a time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "worker.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "settings.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/catcache.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#define WORKER_NAME "hold_ledger sweep"
#define BATCH 1000
#define RESTART_SECONDS 5

PGDLLEXPORT void hold_sweep_worker(Datum unused);

/* When the library is loaded: has the server run the worker, if it shall. */
void
worker_init(void)
{
	BackgroundWorker worker = {0};

	if (!process_shared_preload_libraries_in_progress || IsBinaryUpgrade ||
		setting_sweep_database[0] == '\0')
		return;
	strlcpy(worker.bgw_name, WORKER_NAME, BGW_MAXLEN);
	strlcpy(worker.bgw_type, WORKER_NAME, BGW_MAXLEN);
	strcpy(worker.bgw_library_name, "hold_ledger");
	strcpy(worker.bgw_function_name, "hold_sweep_worker");
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = RESTART_SECONDS;
	RegisterBackgroundWorker(&worker);
}

/* The extension's hold_sweep, whatever its schema; InvalidOid without it. */
static Oid
find_sweep(void)
{
	Oid			extension = get_extension_oid("hold_ledger", true);
	Oid			found = InvalidOid;
	CatCList   *functions;

	if (!OidIsValid(extension))
		return InvalidOid;
	functions = SearchSysCacheList1(PROCNAMEARGSNSP,
									CStringGetDatum("hold_sweep"));
	for (int i = 0; i < functions->n_members; i++)
	{
		HeapTuple	tuple = &functions->members[i]->tuple;
		Oid			function = ((Form_pg_proc) GETSTRUCT(tuple))->oid;

		if (getExtensionOfObject(ProcedureRelationId, function) == extension)
			found = function;
	}
	ReleaseSysCacheList(functions);
	return found;
}

/* Says that there is nothing to sweep, once. */
static void
tell_missing(const char *database)
{
	static bool told = false;

	if (!told)
		ereport(LOG,
				(errmsg("extension \"%s\" is not installed in database \"%s\"",
						"hold_ledger", database),
				 errdetail("The worker waits for it.")));
	told = true;
}

/* Sweeps a batch; returns whether there may be more. */
static bool
sweep_batch(const char *database)
{
	int64		swept = 0;
	Oid			function;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	function = find_sweep();
	if (OidIsValid(function))
		swept = DatumGetInt64(OidFunctionCall1(function,
											   Int32GetDatum(BATCH)));
	else
		tell_missing(database);
	PopActiveSnapshot();
	CommitTransactionCommand();
	return swept == BATCH;
}

/* The same; an error is logged, and there is no more for now. */
static bool
sweep_safely(const char *database)
{
	volatile bool more = false;

	pgstat_report_activity(STATE_RUNNING, "hold_sweep");
	PG_TRY();
	{
		more = sweep_batch(database);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		EmitErrorReport();
		AbortCurrentTransaction();
		MemoryContextSwitchTo(TopMemoryContext);
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	(void) pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
	return more;
}

static void
rest(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 (long) (setting_sweep_interval * 1000.0),
					 PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
}

/* Reads the settings anew if that was asked for; may exit. */
static void
follow_settings(const char *database)
{
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	if (setting_sweep_database[0] == '\0')
		proc_exit(0);
	if (strcmp(setting_sweep_database, database) != 0)
		proc_exit(1);
}

/*
 * Settings of the server that are meant for others: a sweep is right at the
 * weakest isolation level, and nobody waits for its commit.
 */
static void
set_own_ways(void)
{
	SetConfigOption("default_transaction_isolation", "read committed",
					PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("synchronous_commit", "off", PGC_SUSET, PGC_S_OVERRIDE);
}

/* Where the worker begins; it never returns. */
void
hold_sweep_worker(Datum unused)
{
	char	   *database = pstrdup(setting_sweep_database);

	if (database[0] == '\0')
		proc_exit(0);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(database, NULL, 0);
	set_own_ways();
	for (;;)
	{
		if (!sweep_safely(database))
			rest();
		CHECK_FOR_INTERRUPTS();
		follow_settings(database);
	}
}
