/*-------------------------------------------------------------------------
 *
 * source.h
 *	  Capacity that an application's own function knows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_SOURCE_H
#define HOLD_SOURCE_H

#include "postgres.h"

#include "pools.h"
#include "store.h"
#include "vacancy.h"

extern text *source_of_pool(Store *store, Snapshot snapshot,
							const Pool *pool);
extern text *source_name(Oid function);
extern bool source_available(Store *store, Snapshot snapshot,
							 const Pool *pool, TimestampTz clock,
							 int64 *available, bool *exists);
extern bool source_limit(Store *store, const text *source, const Pool *pool,
						 Demand *demand);

#endif							/* HOLD_SOURCE_H */
