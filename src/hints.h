/*-------------------------------------------------------------------------
 *
 * hints.h
 *	  Where the rows of pools were seen last.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_HINTS_H
#define HOLD_HINTS_H

#include "postgres.h"

#include "storage/itemptr.h"

extern void hints_init(void);
extern bool hint_get(Oid relid, uint64 key, ItemPointer tid);
extern void hint_set(Oid relid, uint64 key, ItemPointer tid);

#endif							/* HOLD_HINTS_H */
