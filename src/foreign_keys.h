/*-------------------------------------------------------------------------
 *
 * foreign_keys.h
 *	  Foreign keys that applications have on the extension's tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_FOREIGN_KEYS_H
#define HOLD_FOREIGN_KEYS_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

extern bool foreign_keys_exist(Relation rel);
extern void foreign_keys_check_insert(Relation rel, TupleTableSlot *row);
extern void foreign_keys_check_update(Relation rel, ItemPointer old,
									  TupleTableSlot *row);
extern void foreign_keys_check_delete(Relation rel, ItemPointer old);

#endif							/* HOLD_FOREIGN_KEYS_H */
