/*-------------------------------------------------------------------------
 *
 * stays.c
 *	  The table room_stays: claims on rooms, held and confirmed.
 *
 * An exclusion constraint keeps two stays out of one room; before it comes to
 * that, every writer holds the lock of the room's row.  Past stays cost
 * nothing: the constraint's own index finds the ones that overlap.
 *
 * Locks: a stay is read for a decision, and written, under its room's lock
 * only.
 *
 *-------------------------------------------------------------------------
 */
#include "stays.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "rules.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rangetypes.h"
#include "utils/timestamp.h"

enum
{
	STAY_ID,
	STAY_TENANT,
	STAY_ROOM_ID,
	STAY_RESERVATION_ID,
	STAY_NIGHTS,
	STAY_REF,
	STAY_TOKEN,
	STAY_EXPIRES_AT,
	STAY_TOKEN_KEY,
	STAY_HELD_SINCE,
	STAY_VERSION,
	STAY_PAYLOAD,
	STAY_COLUMNS
};

/* btree_gist gives equality the number that it has in a b-tree */
#define GIST_EQUAL BTEqualStrategyNumber

static Stay *
read_stay(TupleTableSlot *row)
{
	Datum	   *values = row->tts_values;
	bool	   *isnull = row->tts_isnull;
	Stay	   *stay = palloc0(sizeof(Stay));

	stay->tid = row->tts_tid;
	stay->id = DatumGetInt64(values[STAY_ID]);
	stay->tenant = DatumGetTextPCopy(values[STAY_TENANT]);
	stay->room_id = DatumGetInt64(values[STAY_ROOM_ID]);
	stay->nights = nights_of_range(DatumGetRangeTypeP(values[STAY_NIGHTS]),
								   PG_INT32_MAX);
	stay->confirmed = isnull[STAY_EXPIRES_AT];
	stay->expires_at = stay->confirmed ? DT_NOEND :
		DatumGetTimestampTz(values[STAY_EXPIRES_AT]);
	stay->reserved = !isnull[STAY_RESERVATION_ID];
	if (stay->reserved)
		stay->reservation_id = DatumGetInt64(values[STAY_RESERVATION_ID]);
	stay->held_since = DatumGetTimestampTz(values[STAY_HELD_SINCE]);
	stay->version = DatumGetInt32(values[STAY_VERSION]);
	if (!isnull[STAY_TOKEN])
		stay->token = DatumGetTextPCopy(values[STAY_TOKEN]);
	if (!isnull[STAY_REF])
		stay->ref = DatumGetTextPCopy(values[STAY_REF]);
	if (!isnull[STAY_PAYLOAD])
		stay->payload = DatumGetJsonbPCopy(values[STAY_PAYLOAD]);
	return stay;
}

static void
fill_stay(TupleTableSlot *row, text *tenant, const Stay *stay)
{
	Datum	   *values = row->tts_values;
	bool	   *isnull = row->tts_isnull;

	values[STAY_ID] = Int64GetDatum(stay->id);
	values[STAY_TENANT] = PointerGetDatum(tenant);
	values[STAY_ROOM_ID] = Int64GetDatum(stay->room_id);
	values[STAY_RESERVATION_ID] = Int64GetDatum(stay->reservation_id);
	isnull[STAY_RESERVATION_ID] = !stay->reserved;
	values[STAY_NIGHTS] = nights_range(stay->nights);
	values[STAY_REF] = PointerGetDatum(stay->ref);
	isnull[STAY_REF] = stay->ref == NULL;
	values[STAY_TOKEN] = PointerGetDatum(stay->token);
	isnull[STAY_TOKEN] = stay->token == NULL;
	values[STAY_EXPIRES_AT] = TimestampTzGetDatum(stay->expires_at);
	isnull[STAY_EXPIRES_AT] = stay->confirmed;
	isnull[STAY_TOKEN_KEY] = stay->token == NULL;
	if (stay->token != NULL)
		values[STAY_TOKEN_KEY] = Int64GetDatum(rule_token_key(tenant,
															  stay->token));
	values[STAY_HELD_SINCE] = TimestampTzGetDatum(stay->held_since);
	values[STAY_VERSION] = Int32GetDatum(stay->version);
	values[STAY_PAYLOAD] = PointerGetDatum(stay->payload);
	isnull[STAY_PAYLOAD] = stay->payload == NULL;
}

static bool
row_has_tenant(Store *store)
{
	return rule_same_text(store->tenant,
						  DatumGetTextPP(store_stays(store)->row->tts_values[STAY_TENANT]));
}

/* Returns the token's stays, held and confirmed, in no order. */
List *
stays_of_token(Store *store, Snapshot snapshot, const text *token)
{
	TupleTableSlot *row = store_stays(store)->row;
	List	   *stays = NIL;
	ScanKeyData key;
	Probe		probe;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(rule_token_key(store->tenant, token)));
	probe_begin(&probe, store_stays(store), store->relations.indexes[STAYS_BY_TOKEN],
				snapshot, &key, 1);
	while (probe_next(&probe))
	{
		if (row_has_tenant(store) &&
			rule_same_text(token, DatumGetTextPP(row->tts_values[STAY_TOKEN])))
			stays = lappend(stays, read_stay(row));
	}
	probe_end(&probe);
	return stays;
}

/* Returns the stays that have a night in common with the given ones. */
List *
stays_overlapping(Store *store, Snapshot snapshot, int64 room_id,
				  Nights nights)
{
	List	   *stays = NIL;
	ScanKeyData keys[3];
	Probe		probe;

	ScanKeyEntryInitialize(&keys[0], 0, 1, GIST_EQUAL, TEXTOID,
						   C_COLLATION_OID, F_TEXTEQ,
						   PointerGetDatum(store->tenant));
	ScanKeyEntryInitialize(&keys[1], 0, 2, GIST_EQUAL, INT8OID, InvalidOid,
						   F_INT8EQ, Int64GetDatum(room_id));
	ScanKeyEntryInitialize(&keys[2], 0, 3, RANGESTRAT_OVERLAPS, ANYRANGEOID,
						   InvalidOid, F_RANGE_OVERLAPS,
						   nights_range(nights));
	probe_begin(&probe, store_stays(store), store->relations.indexes[STAYS_BY_NIGHT],
				snapshot, keys, 3);
	while (probe_next(&probe))
		stays = lappend(stays, read_stay(store_stays(store)->row));
	probe_end(&probe);
	return stays;
}

/* Finds a stay by its id, of any tenant. */
bool
stays_find(Store *store, Snapshot snapshot, int64 id, Stay *stay)
{
	ScanKeyData key;
	Probe		probe;
	bool		found;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(id));
	probe_begin(&probe, store_stays(store), store->relations.indexes[STAYS_BY_ID],
				snapshot, &key, 1);
	found = probe_next(&probe);
	if (found)
		*stay = *read_stay(store_stays(store)->row);
	probe_end(&probe);
	return found;
}

/* The oldest first, and pieces of one stay in the order of their ids. */
static int
compare_expiry(const ListCell *a, const ListCell *b)
{
	const Stay *first = lfirst(a);
	const Stay *second = lfirst(b);

	if (first->expires_at != second->expires_at)
		return first->expires_at < second->expires_at ? -1 : 1;
	return first->id < second->id ? -1 : 1;
}

/* Returns held stays whose time is over, of all tenants, the oldest first. */
List *
stays_expired(Store *store, Snapshot snapshot, TimestampTz clock, int64 most)
{
	List	   *stays = NIL;
	ScanKeyData key;
	Probe		probe;

	ScanKeyInit(&key, 1, BTLessEqualStrategyNumber, F_TIMESTAMP_LE,
				TimestampTzGetDatum(clock));
	probe_begin(&probe, store_stays(store),
				store->relations.indexes[STAYS_BY_EXPIRY], snapshot, &key, 1);
	while (list_length(stays) < most && probe_next(&probe))
		stays = lappend(stays, read_stay(store_stays(store)->row));
	probe_end(&probe);
	list_sort(stays, compare_expiry);
	return stays;
}

int64
stays_next_id(Store *store)
{
	return nextval_internal(store->relations.ids, false);
}

/* Inserts the stay and gives it an id. */
void
stays_insert(Store *store, text *tenant, Stay *stay)
{
	stay->id = stays_next_id(store);
	fill_stay(row_start(store_stays(store), STAY_COLUMNS), tenant, stay);
	row_insert(store_stays(store));
}

/* Replaces the version that was read.  The room's lock keeps others away. */
void
stays_update(Store *store, text *tenant, const Stay *stay)
{
	ItemPointerData tid = stay->tid;

	fill_stay(row_start(store_stays(store), STAY_COLUMNS), tenant, stay);
	if (!row_update(store_stays(store), &tid, true))
		elog(ERROR, "a stay changed under the lock of its room");
}

void
stays_delete(Store *store, const Stay *stay)
{
	ItemPointerData tid = stay->tid;

	row_delete(store_stays(store), &tid);
}
