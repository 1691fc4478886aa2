/*-------------------------------------------------------------------------
 *
 * classes.h
 *	  The table hold_classes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_CLASSES_H
#define HOLD_CLASSES_H

#include "postgres.h"

#include "pools.h"
#include "store.h"

/* What pools named prefix:... are made with. */
typedef struct PoolClass
{
	ItemPointerData tid;
	int64		id;
	bool		counted;
	int64		capacity;		/* if counted; in units */
	int64		ttl;			/* in microseconds; 0: none of its own */
	int16		stripes;
	text	   *source;			/* the function to ask, or NULL */
	text	   *tenant;
	text	   *prefix;
} PoolClass;

extern bool classes_find_id(Store *store, Snapshot snapshot, int64 id,
							PoolClass *class);
extern bool classes_find_prefix(Store *store, Snapshot snapshot,
								const text *prefix, PoolClass *class);
extern bool classes_find_for_pool(Store *store, Snapshot snapshot,
								  const text *pool, PoolClass *class);
extern void classes_shape_pool(const PoolClass *class, Pool *pool);
extern void classes_write(Store *store, PoolClass *class);

#endif							/* HOLD_CLASSES_H */
