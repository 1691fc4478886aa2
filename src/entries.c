/*-------------------------------------------------------------------------
 *
 * entries.c
 *	  The table hold_ledger: the history of every change.
 *
 * Rows are only appended, under the lock of the pool's row that numbers them.
 * Entries that end or draw on a hold carry a key by which they are found
 * again: they are the memory that answers every retry.  So do changes of
 * capacity with a ref.
 *
 *-------------------------------------------------------------------------
 */
#include "entries.h"

#include "counters.h"
#include "rules.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

enum
{
	ENTRY_AT,
	ENTRY_POOL_ID,
	ENTRY_SEQ,
	ENTRY_QTY,
	ENTRY_HELD,
	ENTRY_CONSUMED,
	ENTRY_GENERATION,
	ENTRY_EVENT,
	ENTRY_CAPACITY,
	ENTRY_EXPIRES_AT,
	ENTRY_MEMORY_KEY,
	ENTRY_REMAINING,
	ENTRY_TAKEN,
	ENTRY_HELD_SINCE,
	ENTRY_RESERVATION_ID,
	ENTRY_ROOM_ID,
	ENTRY_VERSION,
	ENTRY_ACTOR,
	ENTRY_TOKEN,
	ENTRY_REF,
	ENTRY_PAYLOAD,
	ENTRY_STAY,
	ENTRY_COLUMNS
};

static void
fill_memory(TupleTableSlot *row, const Entry *entry)
{
	Datum	   *values = row->tts_values;
	bool	   *isnull = row->tts_isnull;

	values[ENTRY_MEMORY_KEY] = Int64GetDatum(entry->memory_key);
	values[ENTRY_REMAINING] = Int64GetDatum(entry->remaining);
	values[ENTRY_TAKEN] = Int64GetDatum(entry->taken);
	values[ENTRY_HELD_SINCE] = TimestampTzGetDatum(entry->held_since);
	values[ENTRY_VERSION] = Int32GetDatum(entry->version);
	isnull[ENTRY_MEMORY_KEY] = !entry->remembered;
	isnull[ENTRY_REMAINING] = !entry->remembered;
	isnull[ENTRY_TAKEN] = !entry->remembered;
	isnull[ENTRY_HELD_SINCE] = !entry->remembered;
	isnull[ENTRY_VERSION] = !entry->remembered;
}

static void
fill_entry(TupleTableSlot *row, const Relations *relations, const Entry *entry)
{
	Datum	   *values = row->tts_values;
	bool	   *isnull = row->tts_isnull;

	values[ENTRY_AT] = TimestampTzGetDatum(entry->at);
	values[ENTRY_POOL_ID] = Int64GetDatum(entry->pool_id);
	values[ENTRY_SEQ] = Int64GetDatum(entry->seq);
	values[ENTRY_QTY] = Int64GetDatum(entry->qty);
	values[ENTRY_HELD] = Int64GetDatum(entry->held);
	values[ENTRY_CONSUMED] = Int64GetDatum(entry->consumed);
	values[ENTRY_GENERATION] = Int32GetDatum(entry->generation);
	values[ENTRY_EVENT] = ObjectIdGetDatum(relations->events[entry->event]);
	values[ENTRY_CAPACITY] = Int64GetDatum(entry->capacity);
	isnull[ENTRY_CAPACITY] = !entry->counted;
	values[ENTRY_EXPIRES_AT] = TimestampTzGetDatum(entry->expires_at);
	isnull[ENTRY_EXPIRES_AT] = entry->expires_at == DT_NOEND;
	fill_memory(row, entry);
	values[ENTRY_RESERVATION_ID] = Int64GetDatum(entry->reservation_id);
	isnull[ENTRY_RESERVATION_ID] = !entry->reserved;
	values[ENTRY_ROOM_ID] = Int64GetDatum(entry->room_id);
	isnull[ENTRY_ROOM_ID] = !entry->of_room;
	values[ENTRY_ACTOR] = PointerGetDatum(entry->actor);
	values[ENTRY_TOKEN] = PointerGetDatum(entry->token);
	isnull[ENTRY_TOKEN] = entry->token == NULL;
	values[ENTRY_REF] = PointerGetDatum(entry->ref);
	isnull[ENTRY_REF] = entry->ref == NULL;
	values[ENTRY_PAYLOAD] = PointerGetDatum(entry->payload);
	isnull[ENTRY_PAYLOAD] = entry->payload == NULL;
	isnull[ENTRY_STAY] = !entry->of_stay;
	if (entry->of_stay)
		values[ENTRY_STAY] = nights_range(entry->nights);
}

/* Reads an entry that has a key. */
static void
read_entry(TupleTableSlot *row, const Relations *relations, Entry *entry)
{
	Datum	   *values = row->tts_values;
	bool	   *isnull = row->tts_isnull;

	memset(entry, 0, sizeof(Entry));
	entry->event = relations_event(relations,
								   DatumGetObjectId(values[ENTRY_EVENT]));
	entry->at = DatumGetTimestampTz(values[ENTRY_AT]);
	entry->pool_id = DatumGetInt64(values[ENTRY_POOL_ID]);
	entry->seq = DatumGetInt64(values[ENTRY_SEQ]);
	entry->qty = DatumGetInt64(values[ENTRY_QTY]);
	entry->expires_at = isnull[ENTRY_EXPIRES_AT] ? DT_NOEND :
		DatumGetTimestampTz(values[ENTRY_EXPIRES_AT]);
	entry->generation = DatumGetInt32(values[ENTRY_GENERATION]);
	entry->counted = !isnull[ENTRY_CAPACITY];
	entry->capacity = entry->counted ? DatumGetInt64(values[ENTRY_CAPACITY]) : 0;
	entry->remembered = true;
	entry->memory_key = DatumGetInt64(values[ENTRY_MEMORY_KEY]);
	entry->remaining = DatumGetInt64(values[ENTRY_REMAINING]);
	entry->taken = DatumGetInt64(values[ENTRY_TAKEN]);
	entry->held_since = DatumGetTimestampTz(values[ENTRY_HELD_SINCE]);
	entry->version = DatumGetInt32(values[ENTRY_VERSION]);
	if (!isnull[ENTRY_TOKEN])
		entry->token = DatumGetTextPCopy(values[ENTRY_TOKEN]);
	if (!isnull[ENTRY_REF])
		entry->ref = DatumGetTextPCopy(values[ENTRY_REF]);
	if (!isnull[ENTRY_PAYLOAD])
		entry->payload = DatumGetJsonbPCopy(values[ENTRY_PAYLOAD]);
	entry->of_room = !isnull[ENTRY_ROOM_ID];
	if (entry->of_room)
		entry->room_id = DatumGetInt64(values[ENTRY_ROOM_ID]);
	entry->of_stay = !isnull[ENTRY_STAY];
	if (entry->of_stay)
		entry->nights = nights_of_range(DatumGetRangeTypeP(values[ENTRY_STAY]),
										PG_INT32_MAX);
	entry->ours = row_is_ours(row);
	entry->reserved = !isnull[ENTRY_RESERVATION_ID];
	if (entry->reserved)
		entry->reservation_id = DatumGetInt64(values[ENTRY_RESERVATION_ID]);
}

/* Appends an entry, and counts it. */
void
entries_append(Store *store, const Entry *entry)
{
	fill_entry(row_start(&store->ledger, ENTRY_COLUMNS), &store->relations, entry);
	row_insert(&store->ledger);
	counters_event(entry->event, store->sweeping);
}

/* Removes an entry that a trim found under the pool's lock. */
void
entries_remove(Store *store, ItemPointer tid)
{
	row_delete(&store->ledger, tid);
}

static void
begin_memory_probe(Store *store, Snapshot snapshot, int64 memory_key,
				   Probe *probe)
{
	ScanKeyData key;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(memory_key));
	probe_begin(probe, &store->ledger,
				store->relations.indexes[LEDGER_BY_MEMORY], snapshot, &key, 1);
}

static int
compare_entries(const ListCell *a, const ListCell *b)
{
	const Entry *first = lfirst(a);
	const Entry *second = lfirst(b);

	if (first->pool_id != second->pool_id)
		return first->pool_id < second->pool_id ? -1 : 1;
	return first->seq < second->seq ? -1 : 1;
}

/*
 * Returns what the ledger remembers of a token in a pool, or with 0 in all of
 * them, ordered by pool and number.  In all pools, some entries may be another
 * tenant's, as with holds_of_token().
 */
List *
entries_of_token(Store *store, Snapshot snapshot, const text *token,
				 int64 pool_id)
{
	TupleTableSlot *row = store->ledger.row;
	List	   *entries = NIL;
	Probe		probe;

	begin_memory_probe(store, snapshot, rule_token_key(store->tenant, token),
					   &probe);
	while (probe_next(&probe))
	{
		int64		entry_pool = DatumGetInt64(row->tts_values[ENTRY_POOL_ID]);

		if ((pool_id == 0 || pool_id == entry_pool) &&
			!row->tts_isnull[ENTRY_TOKEN] &&
			rule_same_text(token, DatumGetTextPP(row->tts_values[ENTRY_TOKEN])))
		{
			Entry	   *entry = palloc(sizeof(Entry));

			read_entry(row, &store->relations, entry);
			entries = lappend(entries, entry);
		}
	}
	probe_end(&probe);
	list_sort(entries, compare_entries);
	return entries;
}

/*
 * Orders entries of several pools, or counter rows of one.  A token goes from one
 * row to another only under the locks of both, and with a later time.
 */
int
entries_compare_by_time(const ListCell *a, const ListCell *b)
{
	const Entry *first = lfirst(a);
	const Entry *second = lfirst(b);

	if (first->at != second->at)
		return first->at < second->at ? -1 : 1;
	if (first->pool_id != second->pool_id)
		return first->pool_id < second->pool_id ? -1 : 1;
	return first->seq < second->seq ? -1 : 1;
}

/* When the newest of these entries was made; DT_NOBEGIN without any. */
TimestampTz
entries_last_at(List *entries)
{
	TimestampTz last = DT_NOBEGIN;
	ListCell   *lc;

	foreach(lc, entries)
	{
		last = Max(last, ((Entry *) lfirst(lc))->at);
	}
	return last;
}

/* Was the pool's capacity changed with this ref before? */
bool
entries_has_ref(Store *store, Snapshot snapshot, int64 pool_id,
				const text *ref)
{
	TupleTableSlot *row = store->ledger.row;
	bool		found = false;
	Probe		probe;

	begin_memory_probe(store, snapshot, rule_ref_key(pool_id, ref), &probe);
	while (!found && probe_next(&probe))
		found = row->tts_isnull[ENTRY_TOKEN] &&
			!row->tts_isnull[ENTRY_REF] &&
			DatumGetInt64(row->tts_values[ENTRY_POOL_ID]) == pool_id &&
			rule_same_text(ref, DatumGetTextPP(row->tts_values[ENTRY_REF]));
	probe_end(&probe);
	return found;
}

/* Finds the entry by which a lease with this end began. */
bool
entries_find_lease(Store *store, Snapshot snapshot, int64 pool_id,
				   TimestampTz lease_end, Entry *entry)
{
	bool		found = false;
	Probe		probe;

	begin_memory_probe(store, snapshot, rule_lease_key(pool_id, lease_end),
					   &probe);
	while (!found && probe_next(&probe))
	{
		read_entry(store->ledger.row, &store->relations, entry);
		found = entry->event == EVENT_GENERATION &&
			entry->pool_id == pool_id && entry->expires_at == lease_end;
	}
	probe_end(&probe);
	return found;
}
