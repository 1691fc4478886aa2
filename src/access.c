/*-------------------------------------------------------------------------
 *
 * access.c
 *	  Index probe, lock, insert, update and delete of rows by direct table
 *	  access.
 *
 * This is the only room that knows the table access and executor interfaces.
 * What the executor does around them is done here or not wanted: every index
 * of a table is kept up, with its predicate and expressions, and foreign keys
 * are checked; other triggers and row security that others put on the tables
 * are passed over, since only the extension's functions write them.
 *
 * Locks: a table is opened with the lock that the caller names and stays
 * locked until the transaction ends, as in the executor.  Row locks are FOR
 * NO KEY UPDATE, which foreign keys to the row do not collide with.
 *
 * Isolation: where the transaction has one snapshot, a row that was changed
 * since by a transaction that committed is error 40001, never waited past.
 *
 *-------------------------------------------------------------------------
 */
#include "access.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/relscan.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "compat.h"
#include "executor/executor.h"
#include "foreign_keys.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

void
table_open_for_call(Table *table, Oid relid, LOCKMODE lockmode)
{
	table->rel = table_open(relid, lockmode);
	table->lockmode = lockmode;
	table->context = CurrentMemoryContext;
	table->row = table_slot_create(table->rel, NULL);
	table->out = NULL;
	table->nindexes = -1;
	table->estate = NULL;
}

static void
open_indexes(Table *table)
{
	MemoryContext before = MemoryContextSwitchTo(table->context);
	List	   *oids = RelationGetIndexList(table->rel);
	ListCell   *lc;
	int			i = 0;

	table->indexes = palloc(sizeof(Relation) * (list_length(oids) + 1));
	table->infos = palloc(sizeof(IndexInfo *) * (list_length(oids) + 1));
	foreach(lc, oids)
	{
		table->indexes[i] = index_open(lfirst_oid(lc), RowExclusiveLock);
		table->infos[i] = BuildIndexInfo(table->indexes[i]);
		if (table->estate == NULL && (table->infos[i]->ii_Predicate != NIL ||
									  table->infos[i]->ii_Expressions != NIL ||
									  table->infos[i]->ii_ExclusionOps != NULL))
			table->estate = CreateExecutorState();
		i++;
	}
	table->nindexes = i;
	list_free(oids);
	MemoryContextSwitchTo(before);
}

/* Makes the slot for new rows, where there is none yet. */
static void
open_out_slot(Table *table)
{
	MemoryContext before = MemoryContextSwitchTo(table->context);

	if (table->out == NULL)
	{
		table->out = MakeSingleTupleTableSlot(RelationGetDescr(table->rel),
											  &TTSOpsVirtual);
		table->out->tts_tableOid = RelationGetRelid(table->rel);
		table->has_foreign_keys = foreign_keys_exist(table->rel);
	}
	MemoryContextSwitchTo(before);
}

/*
 * Makes ready all that writing can need: the slot for new rows, the indexes.
 * Without it they are opened when they are needed; an update that touches no
 * index needs none.
 */
void
table_prepare_to_write(Table *table)
{
	open_out_slot(table);
	if (table->nindexes < 0)
		open_indexes(table);
}

void
table_close_after_call(Table *table)
{
	for (int i = 0; i < table->nindexes; i++)
		index_close(table->indexes[i], NoLock);
	if (table->estate != NULL)
		FreeExecutorState(table->estate);
	if (table->out != NULL)
		ExecDropSingleTupleTableSlot(table->out);
	ExecDropSingleTupleTableSlot(table->row);
	table_close(table->rel, NoLock);
}

/* --- reading --- */

/* Starts a walk along the index over the rows that match the keys. */
void
probe_begin(Probe *probe, Table *table, Oid index, Snapshot snapshot,
			ScanKey keys, int nkeys)
{
	probe->table = table;
	probe->index = index_open(index, table->lockmode);
	probe->scan = compat_index_beginscan(table->rel, probe->index, snapshot,
										 nkeys);
	index_rescan(probe->scan, keys, nkeys, NULL, 0);
}

static bool
probe_step(Probe *probe, ScanDirection direction)
{
	CHECK_FOR_INTERRUPTS();
	if (!index_getnext_slot(probe->scan, direction, probe->table->row))
		return false;
	slot_getallattrs(probe->table->row);
	return true;
}

/* Puts the next row into table->row; false when there is none. */
bool
probe_next(Probe *probe)
{
	return probe_step(probe, ForwardScanDirection);
}

/* Puts the last row of a walk that was just begun into table->row. */
bool
probe_last(Probe *probe)
{
	return probe_step(probe, BackwardScanDirection);
}

/* Ends the walk and lets go of the page it stood on. */
void
probe_end(Probe *probe)
{
	ExecClearTuple(probe->table->row);
	index_endscan(probe->scan);
	index_close(probe->index, NoLock);
}

/* Was the row that was just read written by this transaction? */
bool
row_is_ours(TupleTableSlot *row)
{
	bool		isnull;
	Datum		xmin = slot_getsysattr(row, MinTransactionIdAttributeNumber,
									   &isnull);

	return TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin));
}

/*
 * Finds the newest version of a row of any table that the snapshot shows,
 * from an older one; false if the row is gone.
 */
bool
row_find_newest(Relation rel, ItemPointer tid, Snapshot snapshot,
				TupleTableSlot *slot)
{
	TableScanDesc scan = table_beginscan_tid(rel, snapshot);

	table_tuple_get_latest_tid(scan, tid);
	table_endscan(scan);
	return table_tuple_fetch_row_version(rel, tid, snapshot, slot);
}

/*
 * Follows a row from a version that may be old, or gone, to the one that the
 * snapshot shows, and leaves it in table->row, for row_leave().  False if that
 * leads nowhere.  What is found may be another row.
 */
bool
row_follow(Table *table, ItemPointer tid, Snapshot snapshot)
{
	if (ItemPointerGetBlockNumber(tid) >= RelationGetNumberOfBlocks(table->rel) ||
		!row_find_newest(table->rel, tid, snapshot, table->row))
		return false;
	slot_getallattrs(table->row);
	return true;
}

/*
 * Lets go of the row that was followed, and clears dead versions in its page
 * away, as an index scan would have.  That moves what is in the page: nothing
 * of the row may be used any more.
 */
void
row_leave(Table *table)
{
	BufferHeapTupleTableSlot *row = (BufferHeapTupleTableSlot *) table->row;
	Buffer		page = row->buffer;

	IncrBufferRefCount(page);
	ExecClearTuple(table->row);
	heap_page_prune_opt(table->rel, page);
	ReleaseBuffer(page);
}

/* --- locking --- */

/* Error 40001: the transaction's snapshot shows what is no longer so. */
void
raise_outdated(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update")));
}

/*
 * Locks the row and leaves its newest version in table->row; the caller
 * clears it.  Without wait, returns false if somebody else has it locked.
 */
bool
row_lock(Table *table, ItemPointer tid, bool wait)
{
	bool		follow = !IsolationUsesXactSnapshot();
	TM_FailureData failure;
	TM_Result	result;

	result = table_tuple_lock(table->rel, tid, GetActiveSnapshot(), table->row,
							  GetCurrentCommandId(true),
							  LockTupleNoKeyExclusive,
							  wait ? LockWaitBlock : LockWaitSkip,
							  follow ? TUPLE_LOCK_FLAG_FIND_LAST_VERSION : 0,
							  &failure);
	switch (result)
	{
		case TM_Ok:
			slot_getallattrs(table->row);
			return true;
		case TM_WouldBlock:
			return false;
		case TM_Updated:
			raise_outdated();
			return false;
		default:
			elog(ERROR, "unexpected result %d of a row lock in \"%s\"",
				 result, RelationGetRelationName(table->rel));
	}
}

/* --- writing --- */

/* Does a partial index want the row in the slot? */
static bool
index_wants_row(Table *table, IndexInfo *info, TupleTableSlot *slot)
{
	ExprContext *context;

	if (info->ii_Predicate == NIL)
		return true;
	context = GetPerTupleExprContext(table->estate);
	context->ecxt_scantuple = slot;
	if (info->ii_PredicateState == NULL)
		info->ii_PredicateState = ExecPrepareQual(info->ii_Predicate,
												  table->estate);
	return ExecQual(info->ii_PredicateState, context);
}

/*
 * Adds the entries of a row that was just written.  "unchanged" is a hint for
 * rows that are a new version of an old one.
 */
static void
insert_index_entries(Table *table, TupleTableSlot *slot, bool unchanged,
					 bool only_summarizing)
{
	if (table->nindexes < 0)
		open_indexes(table);
	for (int i = 0; i < table->nindexes; i++)
	{
		IndexInfo  *info = table->infos[i];
		Relation	index = table->indexes[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		if (!info->ii_ReadyForInserts ||
			(only_summarizing && !compat_is_summarizing(index)))
			continue;
		if (info->ii_Expressions != NIL)
			GetPerTupleExprContext(table->estate)->ecxt_scantuple = slot;
		if (!index_wants_row(table, info, slot))
			continue;

		FormIndexDatum(info, slot, table->estate, values, isnull);
		index_insert(index, values, isnull, &slot->tts_tid, table->rel,
					 info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
					 unchanged, info);
		/* what it keeps pinned must not outlive a subtransaction */
		index_insert_cleanup(index, info);
		if (info->ii_ExclusionOps != NULL)
			check_exclusion_constraint(table->rel, index, info,
									   &slot->tts_tid, values, isnull,
									   table->estate, false);
	}
	if (table->estate != NULL)
		ResetPerTupleExprContext(table->estate);
}

/*
 * Returns an empty slot to be filled with the row that is to be written.  The
 * caller knows the first columns; what others added is NULL.
 */
TupleTableSlot *
row_start(Table *table, int columns)
{
	open_out_slot(table);
	ExecClearTuple(table->out);
	for (int i = 0; i < RelationGetDescr(table->rel)->natts; i++)
		table->out->tts_isnull[i] = i >= columns;
	return table->out;
}

/* Inserts the row in table->out. */
void
row_insert(Table *table)
{
	ExecStoreVirtualTuple(table->out);
	table_tuple_insert(table->rel, table->out, GetCurrentCommandId(true), 0,
					   NULL);
	insert_index_entries(table, table->out, false, false);
	if (table->has_foreign_keys)
		foreign_keys_check_insert(table->rel, table->out);
}

/*
 * Inserts the row in table->out unless a unique index has its key already;
 * then returns false.  Waits for a transaction that is about to insert the
 * same key.
 */
bool
row_insert_if_absent(Table *table)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *target = makeNode(ResultRelInfo);
	bool		inserted = false;
	bool		lost_race = true;

	InitResultRelInfo(target, table->rel, 1, NULL, 0);
	ExecOpenIndices(target, true);
	ExecStoreVirtualTuple(table->out);

	while (lost_race)
	{
		ItemPointerData other;
		uint32		ticket;

		CHECK_FOR_INTERRUPTS();
		if (!compat_check_constraints(target, table->out, estate, &other))
			break;
		ticket = SpeculativeInsertionLockAcquire(GetCurrentTransactionId());
		table_tuple_insert_speculative(table->rel, table->out,
									   GetCurrentCommandId(true), 0, NULL,
									   ticket);
		lost_race = false;
		compat_insert_speculative(target, table->out, estate, &lost_race);
		table_tuple_complete_speculative(table->rel, table->out, ticket,
										 !lost_race);
		SpeculativeInsertionLockRelease(GetCurrentTransactionId());
		inserted = !lost_race;
	}

	ExecCloseIndices(target);
	FreeExecutorState(estate);
	return inserted;
}

/*
 * Replaces the version "tid" by the row in table->out.  Returns false, with
 * nothing locked and nothing written, if that version is no longer the newest
 * or, without wait, if somebody else has it locked.
 */
bool
row_update(Table *table, ItemPointer tid, bool wait)
{
	TM_FailureData failure;
	LockTupleMode lockmode;
	TU_UpdateIndexes update_indexes;
	TM_Result	result;

	ExecStoreVirtualTuple(table->out);
	result = table_tuple_update(table->rel, tid, table->out,
								GetCurrentCommandId(true), GetActiveSnapshot(),
								InvalidSnapshot, wait, &failure, &lockmode,
								&update_indexes);
	switch (result)
	{
		case TM_Ok:
			if (update_indexes != TU_None)
				insert_index_entries(table, table->out, true,
									 compat_only_summarizing(update_indexes));
			if (table->has_foreign_keys)
				foreign_keys_check_update(table->rel, tid, table->out);
			return true;
		case TM_BeingModified:
			return false;
		case TM_Updated:
			if (IsolationUsesXactSnapshot())
				raise_outdated();
			return false;
		default:
			elog(ERROR, "unexpected result %d of an update in \"%s\"",
				 result, RelationGetRelationName(table->rel));
	}
}

/*
 * Deletes the row.  Nobody else can have it locked: every writer of it holds
 * the lock of its counter row.
 */
void
row_delete(Table *table, ItemPointer tid)
{
	TM_FailureData failure;
	TM_Result	result;

	result = table_tuple_delete(table->rel, tid, GetCurrentCommandId(true),
								GetActiveSnapshot(), InvalidSnapshot, true,
								&failure, false);
	if (result != TM_Ok)
		elog(ERROR, "unexpected result %d of a delete in \"%s\"",
			 result, RelationGetRelationName(table->rel));
	open_out_slot(table);
	if (table->has_foreign_keys)
		foreign_keys_check_delete(table->rel, tid);
}
