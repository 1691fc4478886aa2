/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  What differs between the PostgreSQL versions that are supported.
 *
 * The code calls the newest interface; older servers are fitted to it here,
 * and nowhere else.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_COMPAT_H
#define HOLD_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "hold_ledger needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "access/amapi.h"
#include "access/genam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/rangetypes.h"

/* 18 says of a function that it does not return before the rest */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/* Declares a function that SQL calls; before 16 the server did not export it. */
#define SQL_FUNCTION(name) \
	extern PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
	PG_FUNCTION_INFO_V1(name)

/* 16 tells which indexes an update must reach; before, it was all or none */
#if PG_VERSION_NUM < 160000
typedef bool TU_UpdateIndexes;

#define TU_None false
#define compat_only_summarizing(which) false
#define compat_is_summarizing(index) false
#else
#define compat_only_summarizing(which) ((which) == TU_Summarizing)
#define compat_is_summarizing(index) ((index)->rd_indam->amsummarizing)
#endif

/* 17 keeps state between insertions that has to be let go */
#if PG_VERSION_NUM < 170000
#define index_insert_cleanup(index, info) ((void) 0)
#endif

static inline IndexScanDesc
compat_index_beginscan(Relation heap, Relation index, Snapshot snapshot,
					   int nkeys)
{
#if PG_VERSION_NUM >= 180000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0);
#else
	return index_beginscan(heap, index, snapshot, nkeys, 0);
#endif
}

/* May the role that the call runs as execute the function? */
static inline bool
compat_may_execute(Oid function)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, GetUserId(),
						   ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

static inline RangeType *
compat_make_range(TypeCacheEntry *type, RangeBound *lower, RangeBound *upper)
{
#if PG_VERSION_NUM >= 160000
	return make_range(type, lower, upper, false, NULL);
#else
	return make_range(type, lower, upper, false);
#endif
}

/* Is the row in the slot free of conflicts with rows that are there? */
static inline bool
compat_check_constraints(ResultRelInfo *target, TupleTableSlot *slot,
						 EState *estate, ItemPointer conflict)
{
#if PG_VERSION_NUM >= 180000
	ItemPointerData none;

	ItemPointerSetInvalid(&none);
	return ExecCheckIndexConstraints(target, slot, estate, conflict, &none,
									 NIL);
#else
	return ExecCheckIndexConstraints(target, slot, estate, conflict, NIL);
#endif
}

/* Inserts index entries; tells whether a concurrent insertion was first. */
static inline void
compat_insert_speculative(ResultRelInfo *target, TupleTableSlot *slot,
						  EState *estate, bool *conflict)
{
#if PG_VERSION_NUM >= 160000
	(void) ExecInsertIndexTuples(target, slot, estate, false, true, conflict,
								 NIL, false);
#else
	(void) ExecInsertIndexTuples(target, slot, estate, false, true, conflict,
								 NIL);
#endif
}

#endif							/* HOLD_COMPAT_H */
