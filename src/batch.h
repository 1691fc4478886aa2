/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  What the verbs on many independent requests share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_BATCH_H
#define HOLD_BATCH_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "store.h"

/* the most requests of one batch */
#define MOST_REQUESTS 10000

extern void batch_lock_named(Store *store, List *keys);
extern void batch_lock_tokens(Store *store, List *tokens);
extern void batch_rethrow(int number) pg_attribute_noreturn();

#endif							/* HOLD_BATCH_H */
