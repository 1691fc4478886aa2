/*-------------------------------------------------------------------------
 *
 * store.c
 *	  Opens the tables for one call, and gives the snapshots that it reads.
 *
 * Writers read the latest snapshot at READ COMMITTED, so that what another
 * session committed while they waited counts.  At the stricter levels they
 * read the transaction's snapshot and fail with 40001 where it is outdated.
 * Readers read the snapshot of the statement that calls them.
 *
 *-------------------------------------------------------------------------
 */
#include "store.h"

#include "access/xact.h"
#include "catalog/pg_publication.h"
#include "miscadmin.h"
#include "session.h"
#include "tcop/utility.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

/* Is a function of an application being asked for a capacity? */
static bool opening_is_forbidden = false;

void
store_forbid_opening(bool forbidden)
{
	opening_is_forbidden = forbidden;
}

static void
require_open_house(void)
{
	if (opening_is_forbidden)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot call the functions of extension \"%s\" while a capacity is told",
						"hold_ledger")));
}

static void
open_tables(Store *store, FunctionCallInfo fcinfo, LOCKMODE lockmode,
			text *tenant)
{
	require_open_house();
	store->has_stays = false;
	store->pending = NULL;
	store->sweeping = false;
	for (;;)
	{
		store->relations = relations_of_function(fcinfo);
		table_open_for_call(&store->pools,
							store->relations.tables[TABLE_POOLS], lockmode);
		table_open_for_call(&store->holds,
							store->relations.tables[TABLE_HOLDS], lockmode);
		table_open_for_call(&store->ledger,
							store->relations.tables[TABLE_LEDGER], lockmode);
		/* the locks may have brought news of a change */
		if (relations_are_current(&store->relations))
			break;
		store_close(store);
	}
	store->lockmode = lockmode;
	store->tenant = tenant;
}

/*
 * Direct writes do not tell subscribers which row they changed, so a
 * publication that wants to know is refused.  The ledger is only appended to.
 */
void
store_refuse_publication(Table *table)
{
	Relation	rel = table->rel;
	PublicationDesc published;

	RelationBuildPublicationDesc(rel, &published);
	if (published.pubactions.pubupdate || published.pubactions.pubdelete)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot change table \"%s\" because it publishes updates or deletes",
						RelationGetRelationName(rel)),
				 errhint("Publish the table \"%s\" alone, with publish = 'insert'.",
						 "hold_ledger")));
}

/* Opens the tables for a call that writes nothing. */
void
store_open_for_reading(Store *store, FunctionCallInfo fcinfo)
{
	open_tables(store, fcinfo, AccessShareLock, session_tenant());
}

/* The same for a call that looks at all tenants. */
void
store_open_for_watching(Store *store, FunctionCallInfo fcinfo)
{
	open_tables(store, fcinfo, AccessShareLock, session_tenant_if_any());
}

/*
 * Opens the tables for a call that may write.  Error 25006 in a read-only
 * transaction or on a standby, 55000 under an unfit publication.
 */
static void
open_for_writing(Store *store, FunctionCallInfo fcinfo, text *tenant)
{
	const char *name = get_func_name(fcinfo->flinfo->fn_oid);

	PreventCommandIfReadOnly(name);
	PreventCommandIfParallelMode(name);
	open_tables(store, fcinfo, RowExclusiveLock, tenant);
	store_refuse_publication(&store->pools);
	store_refuse_publication(&store->holds);
}

/* The same for a verb.  Error 55000 also without a tenant that is required. */
void
store_open_for_writing(Store *store, FunctionCallInfo fcinfo)
{
	open_for_writing(store, fcinfo, session_tenant());
}

/* The same for upkeep, which works across tenants. */
void
store_open_for_upkeep(Store *store, FunctionCallInfo fcinfo)
{
	open_for_writing(store, fcinfo, session_tenant_if_any());
}

/* The table of stays, which is opened when it is first asked for. */
Table *
store_stays(Store *store)
{
	if (store->has_stays)
		return &store->stays;
	table_open_for_call(&store->stays, store->relations.tables[TABLE_STAYS],
						store->lockmode);
	store->has_stays = true;
	if (store->lockmode != AccessShareLock)
		store_refuse_publication(&store->stays);
	return &store->stays;
}

/*
 * Opens what writing needs at once.  What is opened inside a subtransaction
 * could not outlive it.
 */
void
store_prepare_to_write(Store *store)
{
	table_prepare_to_write(&store->pools);
	table_prepare_to_write(&store->holds);
	table_prepare_to_write(&store->ledger);
	table_prepare_to_write(store_stays(store));
}

void
store_close(Store *store)
{
	if (store->has_stays)
		table_close_after_call(&store->stays);
	table_close_after_call(&store->ledger);
	table_close_after_call(&store->holds);
	table_close_after_call(&store->pools);
}

/* Closes, and lets the transaction's next command see what was written. */
void
store_close_after_writing(Store *store)
{
	store_close(store);
	CommandCounterIncrement();
}

/* Is all of this transaction judged by one snapshot? */
bool
store_has_one_snapshot(void)
{
	return IsolationUsesXactSnapshot();
}

/* Makes active, and returns, the snapshot by which a writer judges. */
Snapshot
store_look(void)
{
	PushActiveSnapshot(store_has_one_snapshot() ? GetTransactionSnapshot() :
					   GetLatestSnapshot());
	return GetActiveSnapshot();
}

/* The same at every level: what is committed now. */
Snapshot
store_look_at_latest(void)
{
	PushActiveSnapshot(GetLatestSnapshot());
	return GetActiveSnapshot();
}

void
store_look_away(void)
{
	PopActiveSnapshot();
}
