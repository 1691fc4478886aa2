/*-------------------------------------------------------------------------
 *
 * store.h
 *	  The tables that one call works on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_STORE_H
#define HOLD_STORE_H

#include "postgres.h"

#include "access.h"
#include "fmgr.h"
#include "relations.h"

typedef struct Store
{
	Relations	relations;
	Table		pools;
	Table		holds;
	Table		ledger;
	Table		stays;			/* if has_stays */
	bool		has_stays;
	struct HTAB *pending;		/* counters to be written later, or NULL */
	bool		sweeping;		/* is this a sweep? */
	LOCKMODE	lockmode;
	text	   *tenant;
} Store;

extern void store_forbid_opening(bool forbidden);
extern void store_open_for_reading(Store *store, FunctionCallInfo fcinfo);
extern void store_open_for_writing(Store *store, FunctionCallInfo fcinfo);
extern void store_open_for_watching(Store *store, FunctionCallInfo fcinfo);
extern void store_open_for_upkeep(Store *store, FunctionCallInfo fcinfo);
extern void store_refuse_publication(Table *table);
extern Table *store_stays(Store *store);
extern void store_prepare_to_write(Store *store);
extern void store_close(Store *store);
extern void store_close_after_writing(Store *store);

extern bool store_has_one_snapshot(void);
extern Snapshot store_look(void);
extern Snapshot store_look_at_latest(void);
extern void store_look_away(void);

#endif							/* HOLD_STORE_H */
