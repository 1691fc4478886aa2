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

#include "compat.h"

/* the most requests of one batch */
#define MOST_REQUESTS 10000

pg_noreturn extern void batch_rethrow(int number);

#endif							/* HOLD_BATCH_H */
