/*-------------------------------------------------------------------------
 *
 * pools.h
 *	  The table hold_pools.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_POOLS_H
#define HOLD_POOLS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "storage/itemptr.h"
#include "nodes/pg_list.h"
#include "store.h"

/* A counter row.  Quantities are in units. */
typedef struct Pool
{
	ItemPointerData tid;		/* the version that was read */
	int64		id;				/* 0: not made yet */
	int64		consumed;
	int64		held;			/* live, or expired and not yet settled */
	int64		holds;			/* how many there are, expired ones too */
	int64		seq;			/* number of the newest ledger entry */
	TimestampTz last_at;		/* its time */
	TimestampTz next_expiry;	/* no hold expires before this */
	TimestampTz expired_to;		/* holds that expire up to then are summed: */
	int64		expired;		/* what they hold, of this generation */
	TimestampTz lease_end;		/* no new holds from then on */
	int64		first_seq;		/* number of the oldest one that is kept */
	int64		class_id;		/* 0: made by itself */
	int32		generation;
	int16		stripe;			/* which counter row of the pool; 0 is its own */
	int16		stripes;		/* as many as were asked for; 0: adaptive */
	int16		homes;			/* over so many of them new holds are spread */
	int16		rows;			/* so many there are */
	int16		waits;			/* how often a claim waited, if adaptive */
	bool		closed;
	bool		retired;
	bool		is_room;		/* the row of a room, which counts nights */
	int64		room_id;		/* if is_room */
	bool		counted;		/* false: capacity lives elsewhere */
	int64		capacity;
	text	   *tenant;
	text	   *key;
} Pool;

extern void pool_init(Pool *pool, text *tenant, text *key);
extern void pool_raise_unknown(const text *key, const char *hint);
extern bool pools_find(Store *store, Snapshot snapshot, const text *key,
					   Pool *pool);
extern List *pools_find_stripes(Store *store, Snapshot snapshot,
								const Pool *pool);
extern int64 pools_consumed(Store *store, Snapshot snapshot,
							const Pool *pool);
extern bool pools_find_id(Store *store, Snapshot snapshot, int64 id,
						  Pool *pool);
extern void pool_init_room(Pool *pool, text *tenant, int64 room_id);
extern bool pools_find_room(Store *store, Snapshot snapshot, text *tenant,
							int64 room_id, Pool *pool);
extern int	pools_compare_for_locks(const Pool *a, const Pool *b);
extern bool pools_lock(Store *store, Pool *pool, bool wait);
extern bool pools_insert(Store *store, Pool *pool);
extern void pools_defer(Store *store);
extern void pools_flush(Store *store);
extern void pools_stop_deferring(Store *store);
extern void pools_learn_expiry(Store *store, const Pool *pool,
							   TimestampTz next_expiry);
extern bool pools_update(Store *store, const Pool *pool, bool wait);

#endif							/* HOLD_POOLS_H */
