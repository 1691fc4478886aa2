/*-------------------------------------------------------------------------
 *
 * classes.c
 *	  The table hold_classes: what pools are made with by their first hold.
 *
 * A pool belongs to the class with the longest prefix that its name has in
 * front of a colon.  The table is opened for each look: few calls need it.
 *
 * Locks: a class is written under the table's own lock, SHARE ROW EXCLUSIVE,
 * and read under none.
 *
 *-------------------------------------------------------------------------
 */
#include "classes.h"

#include "catalog/pg_collation.h"
#include "commands/sequence.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

enum
{
	CLASS_ID,
	CLASS_CAPACITY,
	CLASS_TTL,
	CLASS_STRIPES,
	CLASS_TENANT,
	CLASS_PREFIX,
	CLASS_SOURCE,
	CLASS_COLUMNS
};

static void
read_class(TupleTableSlot *row, PoolClass *class)
{
	Datum	   *values = row->tts_values;

	class->tid = row->tts_tid;
	class->id = DatumGetInt64(values[CLASS_ID]);
	class->counted = !row->tts_isnull[CLASS_CAPACITY];
	class->capacity = class->counted ? DatumGetInt64(values[CLASS_CAPACITY]) : 0;
	class->ttl = DatumGetInt64(values[CLASS_TTL]);
	class->stripes = DatumGetInt16(values[CLASS_STRIPES]);
	class->tenant = DatumGetTextPCopy(values[CLASS_TENANT]);
	class->prefix = DatumGetTextPCopy(values[CLASS_PREFIX]);
	class->source = row->tts_isnull[CLASS_SOURCE] ? NULL :
		DatumGetTextPCopy(values[CLASS_SOURCE]);
}

static void
fill_class(TupleTableSlot *row, const PoolClass *class)
{
	Datum	   *values = row->tts_values;

	values[CLASS_ID] = Int64GetDatum(class->id);
	values[CLASS_CAPACITY] = Int64GetDatum(class->capacity);
	row->tts_isnull[CLASS_CAPACITY] = !class->counted;
	values[CLASS_TTL] = Int64GetDatum(class->ttl);
	values[CLASS_STRIPES] = Int16GetDatum(class->stripes);
	values[CLASS_TENANT] = PointerGetDatum(class->tenant);
	values[CLASS_PREFIX] = PointerGetDatum(class->prefix);
	values[CLASS_SOURCE] = PointerGetDatum(class->source);
	row->tts_isnull[CLASS_SOURCE] = class->source == NULL;
}

static bool
find_one(Store *store, OwnIndex index, Snapshot snapshot, ScanKey keys,
		 int nkeys, PoolClass *class)
{
	Table		table;
	Probe		probe;
	bool		found;

	table_open_for_call(&table, store->relations.tables[TABLE_CLASSES],
						AccessShareLock);
	probe_begin(&probe, &table, store->relations.indexes[index], snapshot,
				keys, nkeys);
	found = probe_next(&probe);
	if (found)
		read_class(table.row, class);
	probe_end(&probe);
	table_close_after_call(&table);
	return found;
}

bool
classes_find_id(Store *store, Snapshot snapshot, int64 id, PoolClass *class)
{
	ScanKeyData key;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(id));
	return find_one(store, CLASSES_BY_ID, snapshot, &key, 1, class);
}

bool
classes_find_prefix(Store *store, Snapshot snapshot, const text *prefix,
					PoolClass *class)
{
	ScanKeyData keys[2];

	ScanKeyEntryInitialize(&keys[0], 0, 1, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ,
						   PointerGetDatum(store->tenant));
	ScanKeyEntryInitialize(&keys[1], 0, 2, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ, PointerGetDatum(prefix));
	return find_one(store, CLASSES_BY_PREFIX, snapshot, keys, 2, class);
}

/* Finds the class that a pool of that name belongs to. */
bool
classes_find_for_pool(Store *store, Snapshot snapshot, const text *pool,
					  PoolClass *class)
{
	const char *name = VARDATA_ANY(pool);

	for (int i = VARSIZE_ANY_EXHDR(pool) - 1; i > 0; i--)
	{
		if (name[i] == ':' &&
			classes_find_prefix(store, snapshot,
								cstring_to_text_with_len(name, i), class))
			return true;
	}
	return false;
}

/* Gives a pool that is not made yet what its class says. */
void
classes_shape_pool(const PoolClass *class, Pool *pool)
{
	pool->class_id = class->id;
	pool->counted = class->counted;
	pool->stripes = class->stripes;
	pool->capacity = class->capacity;
}

/*
 * Makes the class or replaces it.  Others who write classes wait until the
 * transaction ends.
 */
void
classes_write(Store *store, PoolClass *class)
{
	PoolClass	before;
	Table		table;
	bool		found;

	table_open_for_call(&table, store->relations.tables[TABLE_CLASSES],
						ShareRowExclusiveLock);
	found = classes_find_prefix(store, store_look(), class->prefix, &before);
	store_look_away();
	class->id = found ? before.id :
		nextval_internal(store->relations.ids, false);
	fill_class(row_start(&table, CLASS_COLUMNS), class);
	if (!found)
		row_insert(&table);
	else if (!row_update(&table, &before.tid, true))
		elog(ERROR, "a class changed under the lock of its table");
	table_close_after_call(&table);
}
