/*-------------------------------------------------------------------------
 *
 * holds.h
 *	  The table holds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_HOLDS_H
#define HOLD_HOLDS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "storage/itemptr.h"
#include "store.h"
#include "utils/jsonb.h"

/* A hold that has not ended.  Quantities are in units. */
typedef struct Hold
{
	ItemPointerData tid;
	int64		pool_id;
	int64		qty;			/* still held */
	int64		consumed;		/* taken so far, and not given back */
	TimestampTz expires_at;
	TimestampTz held_since;
	int32		version;
	int32		generation;
	text	   *token;
	text	   *ref;			/* of the last capture, or NULL */
	Jsonb	   *payload;		/* or NULL */
	struct Stay *stay;			/* a claim on a room, or NULL */
	int64		beside;			/* what the token holds in other pieces of it */
} Hold;

/* A walk over a pool's holds in the order in which they expire. */
typedef struct HoldWalk
{
	Store	   *store;
	Snapshot	snapshot;
	Probe		probe;
	/* of the hold that was reached */
	ItemPointerData tid;
	int64		qty;
	TimestampTz expires_at;
	int32		generation;
} HoldWalk;

extern bool holds_find(Store *store, Snapshot snapshot, const text *token,
					   int64 pool_id, Hold *hold);
extern List *holds_of_token(Store *store, Snapshot snapshot,
							const text *token);
extern int64 holds_qty(List *holds);
extern void holds_walk(HoldWalk *walk, Store *store, Snapshot snapshot,
					   int64 pool_id, TimestampTz from);
extern bool holds_walk_next(HoldWalk *walk);
extern Hold *holds_walk_take(HoldWalk *walk);
extern void holds_walk_end(HoldWalk *walk);
extern bool holds_first_after(Store *store, Snapshot snapshot, int64 pool_id,
							  Hold *hold);
extern int64 holds_last_pool(Store *store, Snapshot snapshot);
extern void holds_insert(Store *store, text *tenant, const Hold *hold);
extern void holds_update(Store *store, text *tenant, const Hold *hold);
extern void holds_delete(Store *store, const Hold *hold);

#endif							/* HOLD_HOLDS_H */
