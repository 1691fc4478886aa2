/*-------------------------------------------------------------------------
 *
 * access.h
 *	  Reading, locking and writing rows of one table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_ACCESS_H
#define HOLD_ACCESS_H

#include "postgres.h"

#include "access/skey.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* A table that is open for one call. */
typedef struct Table
{
	Relation	rel;
	LOCKMODE	lockmode;
	MemoryContext context;		/* in which it was opened */
	TupleTableSlot *row;		/* the row last read */
	TupleTableSlot *out;		/* the row about to be written */
	int			nindexes;		/* -1: not opened for writing yet */
	Relation   *indexes;
	IndexInfo **infos;
	bool		has_foreign_keys;
	EState	   *estate;			/* for predicates and expressions, or NULL */
} Table;

/* A walk along one index, in its order. */
typedef struct Probe
{
	Table	   *table;
	Relation	index;
	struct IndexScanDescData *scan;
} Probe;

extern void table_open_for_call(Table *table, Oid relid, LOCKMODE lockmode);
extern void table_prepare_to_write(Table *table);
extern void table_close_after_call(Table *table);

extern void probe_begin(Probe *probe, Table *table, Oid index,
						Snapshot snapshot, ScanKey keys, int nkeys);
extern bool probe_next(Probe *probe);
extern bool probe_last(Probe *probe);
extern void probe_end(Probe *probe);

extern bool row_is_ours(TupleTableSlot *row);
extern bool row_find_newest(Relation rel, ItemPointer tid, Snapshot snapshot,
							TupleTableSlot *slot);
extern bool row_follow(Table *table, ItemPointer tid, Snapshot snapshot);
extern void row_leave(Table *table);
extern void raise_outdated(void);
extern bool row_lock(Table *table, ItemPointer tid, bool wait);

extern TupleTableSlot *row_start(Table *table, int columns);
extern void row_insert(Table *table);
extern bool row_insert_if_absent(Table *table);
extern bool row_update(Table *table, ItemPointer tid, bool wait);
extern void row_delete(Table *table, ItemPointer tid);

#endif							/* HOLD_ACCESS_H */
