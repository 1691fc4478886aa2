/*-------------------------------------------------------------------------
 *
 * pools.c
 *	  The table hold_pools: one counter row a pool.
 *
 * A pool is the row with stripe 0.  Further stripes are rows of their own,
 * with their own pool_id and the same tenant and key.  A room has a row too,
 * which is its lock, numbers its entries and counts its nights.
 *
 * Locks: a pool's row is the lock of all its holds and ledger entries.  Rows
 * are locked in the order of their ids.  The key and the id never change, so
 * a foreign key to a pool meets no writer here.
 *
 *-------------------------------------------------------------------------
 */
#include "pools.h"

#include "access/xact.h"
#include "catalog/pg_collation.h"
#include "commands/sequence.h"
#include "hints.h"
#include "rules.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

/* where the row of a room stands beside a pool of the same name */
#define ROOM_STRIPE (-1)

/* the columns; those that change with every call stand side by side */
enum
{
	POOL_ID,
	POOL_CONSUMED,
	POOL_HELD,
	POOL_HOLDS,
	POOL_SEQ,
	POOL_LAST_AT,
	POOL_NEXT_EXPIRY,
	POOL_EXPIRED_TO,
	POOL_EXPIRED,
	POOL_LEASE_END,
	POOL_FIRST_SEQ,
	POOL_CLASS_ID,
	POOL_GENERATION,
	POOL_STRIPE,
	POOL_STRIPES,
	POOL_HOMES,
	POOL_ROWS,
	POOL_WAITS,
	POOL_CLOSED,
	POOL_RETIRED,
	POOL_CAPACITY,
	POOL_TENANT,
	POOL_KEY,
	POOL_ROOM_ID,
	POOL_COLUMNS
};

/* A pool that is not in the table: external, nothing held. */
void
pool_init(Pool *pool, text *tenant, text *key)
{
	memset(pool, 0, sizeof(Pool));
	pool->first_seq = 1;
	pool->last_at = DT_NOBEGIN;
	pool->next_expiry = DT_NOEND;
	pool->expired_to = DT_NOBEGIN;
	pool->lease_end = DT_NOEND;
	pool->generation = 1;
	pool->stripes = 1;
	pool->homes = 1;
	pool->rows = 1;
	pool->tenant = tenant;
	pool->key = key;
}

/* Error 42704 for a pool that does not exist, with a way out or NULL. */
void
pool_raise_unknown(const text *key, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("pool \"%s\" does not exist", text_to_cstring(key)),
			 hint == NULL ? 0 : errhint("%s", hint)));
}

/* A room's row that is not in the table. */
void
pool_init_room(Pool *pool, text *tenant, int64 room_id)
{
	pool_init(pool, tenant, cstring_to_text(psprintf(INT64_FORMAT, room_id)));
	pool->is_room = true;
	pool->room_id = room_id;
	pool->stripe = ROOM_STRIPE;
}

static void
read_pool(TupleTableSlot *row, Pool *pool)
{
	Datum	   *values = row->tts_values;

	pool->tid = row->tts_tid;
	pool->id = DatumGetInt64(values[POOL_ID]);
	pool->consumed = DatumGetInt64(values[POOL_CONSUMED]);
	pool->held = DatumGetInt64(values[POOL_HELD]);
	pool->holds = DatumGetInt64(values[POOL_HOLDS]);
	pool->seq = DatumGetInt64(values[POOL_SEQ]);
	pool->last_at = DatumGetTimestampTz(values[POOL_LAST_AT]);
	pool->next_expiry = DatumGetTimestampTz(values[POOL_NEXT_EXPIRY]);
	pool->expired_to = DatumGetTimestampTz(values[POOL_EXPIRED_TO]);
	pool->expired = DatumGetInt64(values[POOL_EXPIRED]);
	pool->lease_end = DatumGetTimestampTz(values[POOL_LEASE_END]);
	pool->first_seq = DatumGetInt64(values[POOL_FIRST_SEQ]);
	pool->class_id = DatumGetInt64(values[POOL_CLASS_ID]);
	pool->generation = DatumGetInt32(values[POOL_GENERATION]);
	pool->stripe = DatumGetInt16(values[POOL_STRIPE]);
	pool->stripes = DatumGetInt16(values[POOL_STRIPES]);
	pool->homes = DatumGetInt16(values[POOL_HOMES]);
	pool->rows = DatumGetInt16(values[POOL_ROWS]);
	pool->waits = DatumGetInt16(values[POOL_WAITS]);
	pool->closed = DatumGetBool(values[POOL_CLOSED]);
	pool->retired = DatumGetBool(values[POOL_RETIRED]);
	pool->counted = !row->tts_isnull[POOL_CAPACITY];
	pool->capacity = pool->counted ? DatumGetInt64(values[POOL_CAPACITY]) : 0;
	pool->tenant = DatumGetTextPCopy(values[POOL_TENANT]);
	pool->key = DatumGetTextPCopy(values[POOL_KEY]);
	pool->is_room = !row->tts_isnull[POOL_ROOM_ID];
	pool->room_id = pool->is_room ? DatumGetInt64(values[POOL_ROOM_ID]) : 0;
}

static void
fill_pool(TupleTableSlot *row, const Pool *pool)
{
	Datum	   *values = row->tts_values;

	values[POOL_ID] = Int64GetDatum(pool->id);
	values[POOL_CONSUMED] = Int64GetDatum(pool->consumed);
	values[POOL_HELD] = Int64GetDatum(pool->held);
	values[POOL_HOLDS] = Int64GetDatum(pool->holds);
	values[POOL_SEQ] = Int64GetDatum(pool->seq);
	values[POOL_LAST_AT] = TimestampTzGetDatum(pool->last_at);
	values[POOL_NEXT_EXPIRY] = TimestampTzGetDatum(pool->next_expiry);
	values[POOL_EXPIRED_TO] = TimestampTzGetDatum(pool->expired_to);
	values[POOL_EXPIRED] = Int64GetDatum(pool->expired);
	values[POOL_LEASE_END] = TimestampTzGetDatum(pool->lease_end);
	values[POOL_FIRST_SEQ] = Int64GetDatum(pool->first_seq);
	values[POOL_CLASS_ID] = Int64GetDatum(pool->class_id);
	values[POOL_GENERATION] = Int32GetDatum(pool->generation);
	values[POOL_STRIPE] = Int16GetDatum(pool->stripe);
	values[POOL_STRIPES] = Int16GetDatum(pool->stripes);
	values[POOL_HOMES] = Int16GetDatum(pool->homes);
	values[POOL_ROWS] = Int16GetDatum(pool->rows);
	values[POOL_WAITS] = Int16GetDatum(pool->waits);
	values[POOL_CLOSED] = BoolGetDatum(pool->closed);
	values[POOL_RETIRED] = BoolGetDatum(pool->retired);
	values[POOL_CAPACITY] = Int64GetDatum(pool->capacity);
	row->tts_isnull[POOL_CAPACITY] = !pool->counted;
	values[POOL_TENANT] = PointerGetDatum(pool->tenant);
	values[POOL_KEY] = PointerGetDatum(pool->key);
	values[POOL_ROOM_ID] = Int64GetDatum(pool->room_id);
	row->tts_isnull[POOL_ROOM_ID] = !pool->is_room;
}

/* --- counters that are written later --- */

/* The newest figures of a pool, of which the table may have older ones. */
typedef struct Pending
{
	int64		pool_id;		/* must be first: it is the key */
	Pool		pool;			/* with the version that the table has */
	bool		unwritten;
} Pending;

/*
 * From here on, pools_update() only takes note, until pools_flush(): of a pool
 * that is written many times in one call the table gets one version.  All of
 * the pools that are written must be locked.
 */
void
pools_defer(Store *store)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(int64);
	control.entrysize = sizeof(Pending);
	control.hcxt = CurrentMemoryContext;
	store->pending = hash_create("hold_ledger pools to be written", 64, &control,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static void
note_pending(Store *store, const Pool *pool)
{
	bool		known;
	Pending    *pending = hash_search(store->pending, &pool->id, HASH_ENTER,
									  &known);
	ItemPointerData tid = known ? pending->pool.tid : pool->tid;

	pending->pool = *pool;
	pending->pool.tid = tid;
	pending->unwritten = true;
}

/* Puts the newest figures over those that were read. */
static void
overlay_pending(Store *store, Pool *pool)
{
	Pending    *pending;

	if (store->pending == NULL)
		return;
	pending = hash_search(store->pending, &pool->id, HASH_FIND, NULL);
	if (pending != NULL)
		*pool = pending->pool;
}

/*
 * Takes note that no hold of the pool expires before this, while its figures are
 * noted anyway: versions of holds that this call has replaced cannot be skipped
 * by a walk over the index otherwise, and each request would step over them.
 */
void
pools_learn_expiry(Store *store, const Pool *pool, TimestampTz next_expiry)
{
	Pending    *pending;

	if (store->pending == NULL)
		return;
	pending = hash_search(store->pending, &pool->id, HASH_FIND, NULL);
	if (pending != NULL)
		pending->pool.next_expiry = Max(pending->pool.next_expiry,
										next_expiry);
}

static bool
update_row(Store *store, const Pool *pool, bool wait)
{
	ItemPointerData tid = pool->tid;

	fill_pool(row_start(&store->pools, POOL_COLUMNS), pool);
	return row_update(&store->pools, &tid, wait);
}

/* Writes what has been noted; what comes after is noted again. */
void
pools_flush(Store *store)
{
	HASH_SEQ_STATUS walk;
	Pending    *pending;

	if (store->pending == NULL)
		return;
	hash_seq_init(&walk, store->pending);
	while ((pending = hash_seq_search(&walk)) != NULL)
	{
		if (!pending->unwritten)
			continue;
		if (!update_row(store, &pending->pool, true))
			elog(ERROR, "a pool changed under its lock");
		pending->pool.tid = store->pools.out->tts_tid;
		pending->unwritten = false;
	}
	CommandCounterIncrement();
}

/* Forgets what has been noted: it is written, or rolled back. */
void
pools_stop_deferring(Store *store)
{
	if (store->pending != NULL)
		hash_destroy(store->pending);
	store->pending = NULL;
}

/* --- finding --- */

static bool
find_one(Store *store, Oid index, Snapshot snapshot, ScanKey keys, int nkeys,
		 Pool *pool)
{
	Probe		probe;
	bool		found;

	probe_begin(&probe, &store->pools, index, snapshot, keys, nkeys);
	found = probe_next(&probe);
	if (found)
		read_pool(store->pools.row, pool);
	probe_end(&probe);
	if (found)
		overlay_pending(store, pool);
	return found;
}

/*
 * Finds a pool's row from where it was seen last.  Not in a serializable
 * transaction, whose locks on what it reads are taken along the index.
 */
static bool
find_by_hint(Store *store, Snapshot snapshot, uint64 hint, const text *tenant,
			 const text *key, int16 stripe, Pool *pool)
{
	Oid			relid = RelationGetRelid(store->pools.rel);
	ItemPointerData tid;
	bool		found;

	if (IsolationIsSerializable() || !hint_get(relid, hint, &tid) ||
		!row_follow(&store->pools, &tid, snapshot))
		return false;
	read_pool(store->pools.row, pool);
	row_leave(&store->pools);
	found = pool->stripe == stripe && rule_same_text(pool->key, key) &&
		rule_same_text(pool->tenant, tenant);
	if (found)
	{
		hint_set(relid, hint, &pool->tid);
		overlay_pending(store, pool);
	}
	return found;
}

static bool
find_key(Store *store, Snapshot snapshot, const text *tenant, const text *key,
		 int16 stripe, Pool *pool)
{
	uint64		hint = rule_row_key(tenant, key, stripe);
	ScanKeyData keys[3];
	bool		found;

	if (find_by_hint(store, snapshot, hint, tenant, key, stripe, pool))
		return true;
	ScanKeyEntryInitialize(&keys[0], 0, 1, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ, PointerGetDatum(tenant));
	ScanKeyEntryInitialize(&keys[1], 0, 2, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ, PointerGetDatum(key));
	ScanKeyInit(&keys[2], 3, BTEqualStrategyNumber, F_INT2EQ,
				Int16GetDatum(stripe));
	found = find_one(store, store->relations.indexes[POOLS_BY_KEY], snapshot,
					 keys, 3, pool);
	if (found)
		hint_set(RelationGetRelid(store->pools.rel), hint, &pool->tid);
	return found;
}

/* Finds the tenant's pool of that name, retired or not. */
bool
pools_find(Store *store, Snapshot snapshot, const text *key, Pool *pool)
{
	return find_key(store, snapshot, store->tenant, key, 0, pool);
}

/* Finds all counter rows of a pool, its own among them, in order. */
List *
pools_find_stripes(Store *store, Snapshot snapshot, const Pool *pool)
{
	List	   *rows = NIL;

	for (int16 i = 0; i < pool->rows; i++)
	{
		Pool	   *row = palloc(sizeof(Pool));

		if (find_key(store, snapshot, pool->tenant, pool->key, i, row))
			rows = lappend(rows, row);
	}
	return rows;
}

/* What was consumed in all counter rows of a pool. */
int64
pools_consumed(Store *store, Snapshot snapshot, const Pool *pool)
{
	int64		consumed = 0;
	ListCell   *lc;

	foreach(lc, pools_find_stripes(store, snapshot, pool))
	{
		consumed += ((Pool *) lfirst(lc))->consumed;
	}
	return consumed;
}

/* Finds the row of a tenant's room, or says what it would be. */
bool
pools_find_room(Store *store, Snapshot snapshot, text *tenant, int64 room_id,
				Pool *pool)
{
	pool_init_room(pool, tenant, room_id);
	return find_key(store, snapshot, tenant, pool->key, ROOM_STRIPE, pool);
}

/* Finds a counter row by its id, of any tenant. */
bool
pools_find_id(Store *store, Snapshot snapshot, int64 id, Pool *pool)
{
	ScanKeyData key;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(id));
	return find_one(store, store->relations.indexes[POOLS_BY_ID], snapshot,
					&key, 1, pool);
}

/* --- locking and writing --- */

/* The one lock order: pools by their ids, after them rooms by their numbers. */
int
pools_compare_for_locks(const Pool *a, const Pool *b)
{
	if (a->is_room != b->is_room)
		return a->is_room ? 1 : -1;
	if (a->is_room)
		return a->room_id < b->room_id ? -1 : a->room_id > b->room_id;
	return a->id < b->id ? -1 : a->id > b->id;
}

/*
 * Locks the row and reads it anew.  Without wait, returns false if somebody
 * else has it locked.
 */
bool
pools_lock(Store *store, Pool *pool, bool wait)
{
	bool		locked = row_lock(&store->pools, &pool->tid, wait);

	if (locked)
		read_pool(store->pools.row, pool);
	ExecClearTuple(store->pools.row);
	return locked;
}

/*
 * Makes the pool and gives it an id.  Returns false if there is one of that
 * name by now, after waiting for whoever was making it.
 */
bool
pools_insert(Store *store, Pool *pool)
{
	pool->id = nextval_internal(store->relations.ids, false);
	fill_pool(row_start(&store->pools, POOL_COLUMNS), pool);
	return row_insert_if_absent(&store->pools);
}

/*
 * Writes the counters over the version that was read; false if that is no
 * longer the newest or, without wait, if somebody has it locked.
 */
bool
pools_update(Store *store, const Pool *pool, bool wait)
{
	if (store->pending == NULL)
		return update_row(store, pool, wait);
	note_pending(store, pool);
	return true;
}
