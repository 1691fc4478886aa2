/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  All counter rows of a pool at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_ROWS_H
#define HOLD_ROWS_H

#include "postgres.h"

#include "change.h"
#include "standing.h"

extern List *rows_lock(Store *store, const text *key);
extern bool rows_make(Store *store, Pool *pool, TimestampTz clock);
extern void rows_restore(Store *store, const Pool *shape);
extern void rows_reopen(List *changes);
extern List *rows_begin(List *rows, TimestampTz clock);
extern int64 rows_capacity(List *rows);
extern List *rows_resize(List *changes, int16 stripes);
extern void rows_share_out(List *changes, int64 capacity, text *ref);
extern void rows_make_external(List *changes);
extern void rows_next_lease(List *changes, int64 capacity,
							TimestampTz lease_end);
extern void rows_write(Store *store, List *changes);

extern void rows_count_wait(Change *change, bool waited);
extern void rows_adapt(Store *store, const Standing *standing,
					   int64 claims_left);

#endif							/* HOLD_ROWS_H */
