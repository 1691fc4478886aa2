/*-------------------------------------------------------------------------
 *
 * entries.h
 *	  The table hold_ledger.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_ENTRIES_H
#define HOLD_ENTRIES_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "pools.h"
#include "nights.h"
#include "store.h"
#include "utils/jsonb.h"

/* A ledger row.  Quantities are in units. */
typedef struct Entry
{
	HoldEvent	event;
	TimestampTz at;
	int64		pool_id;
	bool		of_room;
	int64		room_id;		/* if of_room */
	int64		seq;
	int64		qty;
	int64		held;			/* of the pool, after it; as the next three */
	int64		consumed;
	bool		counted;
	int64		capacity;
	TimestampTz expires_at;		/* of the hold or of the lease; DT_NOEND: none */
	int32		generation;		/* of the hold, or of the pool */
	bool		remembered;		/* found again by its key; then: */
	int64		memory_key;
	int64		remaining;		/* what the token still holds after it */
	int64		taken;			/* what it has consumed and not returned */
	TimestampTz held_since;
	int32		version;
	text	   *actor;
	text	   *token;			/* these may be NULL */
	text	   *ref;
	Jsonb	   *payload;
	bool		of_stay;
	Nights		nights;			/* if of_stay */
	bool		ours;			/* written by this transaction */
	bool		reserved;
	int64		reservation_id; /* if reserved */
} Entry;

extern void entries_append(Store *store, const Entry *entry);
extern void entries_remove(Store *store, ItemPointer tid);
extern List *entries_of_token(Store *store, Snapshot snapshot,
							  const text *token, int64 pool_id);
extern int	entries_compare_by_time(const ListCell *a, const ListCell *b);
extern TimestampTz entries_last_at(List *entries);
extern bool entries_find_lease(Store *store, Snapshot snapshot, int64 pool_id,
							   TimestampTz lease_end, Entry *entry);
extern bool entries_has_ref(Store *store, Snapshot snapshot, int64 pool_id,
							const text *ref);

#endif							/* HOLD_ENTRIES_H */
