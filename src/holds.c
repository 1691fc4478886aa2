/*-------------------------------------------------------------------------
 *
 * holds.c
 *	  The table holds: the claims that have not ended.
 *
 * A hold that ends is deleted; the ledger remembers it.  The index on the
 * token's key is not unique: the key is a hash, so token and pool are compared
 * again.  That a token has one hold in a pool rests on the pool's row, which
 * is rewritten with every insert, change and end of a hold.
 *
 * Locks: a hold is read for a decision, and written, under its pool's lock
 * only.
 *
 *-------------------------------------------------------------------------
 */
#include "holds.h"

#include "rules.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

enum
{
	HOLD_POOL_ID,
	HOLD_QTY,
	HOLD_CONSUMED,
	HOLD_EXPIRES_AT,
	HOLD_HELD_SINCE,
	HOLD_TOKEN_KEY,
	HOLD_VERSION,
	HOLD_GENERATION,
	HOLD_TOKEN,
	HOLD_REF,
	HOLD_PAYLOAD,
	HOLD_COLUMNS
};

static void
read_hold(TupleTableSlot *row, Hold *hold)
{
	Datum	   *values = row->tts_values;
	bool	   *isnull = row->tts_isnull;

	hold->tid = row->tts_tid;
	hold->pool_id = DatumGetInt64(values[HOLD_POOL_ID]);
	hold->qty = DatumGetInt64(values[HOLD_QTY]);
	hold->consumed = DatumGetInt64(values[HOLD_CONSUMED]);
	hold->expires_at = DatumGetTimestampTz(values[HOLD_EXPIRES_AT]);
	hold->held_since = DatumGetTimestampTz(values[HOLD_HELD_SINCE]);
	hold->version = DatumGetInt32(values[HOLD_VERSION]);
	hold->generation = DatumGetInt32(values[HOLD_GENERATION]);
	hold->token = DatumGetTextPCopy(values[HOLD_TOKEN]);
	hold->ref = isnull[HOLD_REF] ? NULL : DatumGetTextPCopy(values[HOLD_REF]);
	hold->stay = NULL;
	hold->beside = 0;
	hold->payload = isnull[HOLD_PAYLOAD] ? NULL :
		DatumGetJsonbPCopy(values[HOLD_PAYLOAD]);
}

static void
fill_hold(TupleTableSlot *row, text *tenant, const Hold *hold)
{
	Datum	   *values = row->tts_values;

	values[HOLD_POOL_ID] = Int64GetDatum(hold->pool_id);
	values[HOLD_QTY] = Int64GetDatum(hold->qty);
	values[HOLD_CONSUMED] = Int64GetDatum(hold->consumed);
	values[HOLD_EXPIRES_AT] = TimestampTzGetDatum(hold->expires_at);
	values[HOLD_HELD_SINCE] = TimestampTzGetDatum(hold->held_since);
	values[HOLD_TOKEN_KEY] = Int64GetDatum(rule_token_key(tenant, hold->token));
	values[HOLD_VERSION] = Int32GetDatum(hold->version);
	values[HOLD_GENERATION] = Int32GetDatum(hold->generation);
	values[HOLD_TOKEN] = PointerGetDatum(hold->token);
	values[HOLD_REF] = PointerGetDatum(hold->ref);
	row->tts_isnull[HOLD_REF] = hold->ref == NULL;
	values[HOLD_PAYLOAD] = PointerGetDatum(hold->payload);
	row->tts_isnull[HOLD_PAYLOAD] = hold->payload == NULL;
}

static void
begin_token_probe(Store *store, Snapshot snapshot, const text *token,
				  Probe *probe)
{
	ScanKeyData key;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(rule_token_key(store->tenant, token)));
	probe_begin(probe, &store->holds, store->relations.indexes[HOLDS_BY_TOKEN],
				snapshot, &key, 1);
}

/* Does the row that was just read belong to the token? */
static bool
row_has_token(Store *store, const text *token)
{
	return rule_same_text(token,
						  DatumGetTextPP(store->holds.row->tts_values[HOLD_TOKEN]));
}

/* Finds the token's hold in a pool. */
bool
holds_find(Store *store, Snapshot snapshot, const text *token, int64 pool_id,
		   Hold *hold)
{
	TupleTableSlot *row = store->holds.row;
	Probe		probe;
	bool		found = false;

	begin_token_probe(store, snapshot, token, &probe);
	while (!found && probe_next(&probe))
		found = DatumGetInt64(row->tts_values[HOLD_POOL_ID]) == pool_id &&
			row_has_token(store, token);
	if (found)
		read_hold(row, hold);
	probe_end(&probe);
	return found;
}

/*
 * Returns all holds of a token, in no order.  Some may belong to another
 * tenant whose token has the same key: their pools tell.
 */
List *
holds_of_token(Store *store, Snapshot snapshot, const text *token)
{
	List	   *holds = NIL;
	Probe		probe;

	begin_token_probe(store, snapshot, token, &probe);
	while (probe_next(&probe))
		if (row_has_token(store, token))
		{
			Hold	   *hold = palloc(sizeof(Hold));

			read_hold(store->holds.row, hold);
			holds = lappend(holds, hold);
		}
	probe_end(&probe);
	return holds;
}

/* What these holds have together, a list of Hold. */
int64
holds_qty(List *holds)
{
	int64		qty = 0;
	ListCell   *lc;

	foreach(lc, holds)
	{
		qty += ((Hold *) lfirst(lc))->qty;
	}
	return qty;
}

/* Starts a walk over the holds of a pool that expire at "from" or later. */
void
holds_walk(HoldWalk *walk, Store *store, Snapshot snapshot, int64 pool_id,
		   TimestampTz from)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(pool_id));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_TIMESTAMP_GE,
				TimestampTzGetDatum(from));
	walk->store = store;
	walk->snapshot = snapshot;
	probe_begin(&walk->probe, &store->holds,
				store->relations.indexes[HOLDS_BY_EXPIRY], snapshot, keys, 2);
}

bool
holds_walk_next(HoldWalk *walk)
{
	TupleTableSlot *row = walk->store->holds.row;

	if (!probe_next(&walk->probe))
		return false;
	walk->tid = row->tts_tid;
	walk->qty = DatumGetInt64(row->tts_values[HOLD_QTY]);
	walk->expires_at = DatumGetTimestampTz(row->tts_values[HOLD_EXPIRES_AT]);
	walk->generation = DatumGetInt32(row->tts_values[HOLD_GENERATION]);
	return true;
}

/* Returns the whole of the hold that the walk has reached. */
Hold *
holds_walk_take(HoldWalk *walk)
{
	Hold	   *hold = palloc(sizeof(Hold));

	read_hold(walk->store->holds.row, hold);
	return hold;
}

void
holds_walk_end(HoldWalk *walk)
{
	probe_end(&walk->probe);
}

/*
 * Finds the first hold to expire in the next pool after "pool_id" that has
 * any: a step of a skip scan over the pools with holds.
 */
bool
holds_first_after(Store *store, Snapshot snapshot, int64 pool_id, Hold *hold)
{
	ScanKeyData key;
	Probe		probe;
	bool		found;

	ScanKeyInit(&key, 1, BTGreaterStrategyNumber, F_INT8GT,
				Int64GetDatum(pool_id));
	probe_begin(&probe, &store->holds,
				store->relations.indexes[HOLDS_BY_EXPIRY], snapshot, &key, 1);
	found = probe_next(&probe);
	if (found)
		read_hold(store->holds.row, hold);
	probe_end(&probe);
	return found;
}

/* The highest id of a pool that has holds, or 0. */
int64
holds_last_pool(Store *store, Snapshot snapshot)
{
	Probe		probe;
	int64		pool_id = 0;

	probe_begin(&probe, &store->holds,
				store->relations.indexes[HOLDS_BY_EXPIRY], snapshot, NULL, 0);
	if (probe_last(&probe))
		pool_id = DatumGetInt64(store->holds.row->tts_values[HOLD_POOL_ID]);
	probe_end(&probe);
	return pool_id;
}

void
holds_insert(Store *store, text *tenant, const Hold *hold)
{
	fill_hold(row_start(&store->holds, HOLD_COLUMNS), tenant, hold);
	row_insert(&store->holds);
}

/* Replaces the version that was read.  The pool's lock keeps others away. */
void
holds_update(Store *store, text *tenant, const Hold *hold)
{
	ItemPointerData tid = hold->tid;

	fill_hold(row_start(&store->holds, HOLD_COLUMNS), tenant, hold);
	if (!row_update(&store->holds, &tid, true))
		elog(ERROR, "a hold changed under the lock of its pool");
}

void
holds_delete(Store *store, const Hold *hold)
{
	ItemPointerData tid = hold->tid;

	row_delete(&store->holds, &tid);
}
