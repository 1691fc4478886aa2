/*-------------------------------------------------------------------------
 *
 * stripes.h
 *	  Pools with several counter rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_STRIPES_H
#define HOLD_STRIPES_H

#include "postgres.h"

#include "standing.h"
#include "vacancy.h"

/* how a claim sees a pool, whether it has one row or many */
extern void stripes_place(Standing *standing, TimestampTz clock);
extern Vacancy *stripes_vacancy(Store *store, Snapshot snapshot,
								Standing *standing, const Demand *demand,
								TimestampTz clock);
extern TimestampTz stripes_clear(Standing *standing, TimestampTz clock);
extern void stripes_gather(Standing *standing, const Vacancy *vacancy,
						   int64 qty, TimestampTz clock);
extern void stripes_revive(Standing *standing, TimestampTz clock);

/* changes of all rows of a pool, which are locked */
extern bool stripes_make(Store *store, Pool *pool, TimestampTz clock);
extern List *stripes_begin(List *rows, TimestampTz clock);
extern int64 stripes_capacity(List *rows);
extern List *stripes_resize(List *changes, int16 stripes);
extern void stripes_share_out(List *changes, int64 capacity, text *ref);
extern void stripes_make_external(List *changes);
extern void stripes_next_lease(List *changes, int64 capacity,
							   TimestampTz lease_end);
extern void stripes_write(Store *store, List *changes);

#endif							/* HOLD_STRIPES_H */
