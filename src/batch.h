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

/* the most requests of one batch */
#define MOST_REQUESTS 10000

extern void batch_rethrow(int number) pg_attribute_noreturn();

#endif							/* HOLD_BATCH_H */
