/*-------------------------------------------------------------------------
 *
 * standing.c
 *	  How a token stands in its pools: its holds, and what the ledger
 *	  remembers of those that ended.
 *
 *-------------------------------------------------------------------------
 */
#include "standing.h"

#include "rules.h"
#include "utils/timestamp.h"

static Standing *
find_standing(List *standings, int64 pool_id)
{
	ListCell   *lc;

	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);

		if (standing->pool.id == pool_id)
			return standing;
	}
	return NULL;
}

/*
 * Returns the standing for a pool, made if it is the first time that the pool
 * is met.  NULL if the pool is retired or of another tenant.
 */
static Standing *
meet_pool(Store *store, Snapshot snapshot, int64 pool_id, List **standings)
{
	Standing   *standing = find_standing(*standings, pool_id);
	Pool		pool;

	if (standing != NULL)
		return standing;
	if (!pools_find_id(store, snapshot, pool_id, &pool) || pool.retired ||
		!rule_same_text(pool.tenant, store->tenant))
		return NULL;
	standing = palloc0(sizeof(Standing));
	standing->pool = pool;
	*standings = lappend(*standings, standing);
	return standing;
}

static int
compare_standings(const ListCell *a, const ListCell *b)
{
	const Standing *first = lfirst(a);
	const Standing *second = lfirst(b);

	return first->pool.id < second->pool.id ? -1 : 1;
}

/* Returns how a token stands in all of its pools, in the order of their ids. */
List *
standings_of_token(Store *store, Snapshot snapshot, const text *token)
{
	List	   *standings = NIL;
	ListCell   *lc;

	foreach(lc, holds_of_token(store, snapshot, token))
	{
		Hold	   *hold = lfirst(lc);
		Standing   *standing = meet_pool(store, snapshot, hold->pool_id,
										 &standings);

		if (standing != NULL)
			standing->hold = hold;
	}
	foreach(lc, entries_of_token(store, snapshot, token, 0))
	{
		Entry	   *entry = lfirst(lc);
		Standing   *standing = meet_pool(store, snapshot, entry->pool_id,
										 &standings);

		if (standing != NULL)
			standing->entries = lappend(standing->entries, entry);
	}
	list_sort(standings, compare_standings);
	return standings;
}

bool
standing_is_live(const Standing *standing, TimestampTz clock)
{
	return standing->hold != NULL &&
		rule_is_live(standing->hold->expires_at, clock);
}

/* The entry that ended the token's last hold, or NULL. */
const Entry *
standing_last_entry(const Standing *standing)
{
	return standing->entries == NIL ? NULL : llast(standing->entries);
}

/* In which state the token's last hold is, or how it ended. */
HoldOutcome
standing_state(const Standing *standing, TimestampTz clock)
{
	if (standing->hold != NULL)
		return standing_is_live(standing, clock) ?
			OUTCOME_GRANTED : OUTCOME_EXPIRED;
	switch (standing_last_entry(standing)->event)
	{
		case EVENT_CONSUMED:
			return OUTCOME_CONSUMED;
		case EVENT_RELEASED:
			return OUTCOME_RELEASED;
		case EVENT_EXPIRED:
			return OUTCOME_EXPIRED;
		default:
			return standing_taken(standing) > 0 ?
				OUTCOME_CONSUMED : OUTCOME_RETURNED;
	}
}

/*
 * The newest entry that tells of what the token took: of a consumption, or if
 * that has been trimmed, of what came after it.  NULL if it never took any.
 */
const Entry *
standing_last_consumption(const Standing *standing)
{
	const Entry *last = NULL;
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->event == EVENT_CONSUMED ||
			(last == NULL && entry->event == EVENT_RETURNED))
			last = entry;
	}
	return last;
}

/* What the token consumed in the pool and has not returned. */
int64
standing_taken(const Standing *standing)
{
	if (standing->hold != NULL)
		return standing->hold->consumed;
	return standing->entries == NIL ? 0 : standing_last_entry(standing)->taken;
}

/* The entry of that kind that was made with this ref, or NULL. */
const Entry *
standing_entry_with_ref(const Standing *standing, HoldEvent event,
						const text *ref)
{
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->event == event && entry->ref != NULL &&
			rule_same_text(entry->ref, ref))
			return entry;
	}
	return NULL;
}

/*
 * What the same call gave back before it consumed: its entry stands right
 * before the consumption, and left something held for it.
 */
static int64
refund_before(const Standing *standing, const Entry *consumed)
{
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->seq == consumed->seq - 1 &&
			entry->event == EVENT_RELEASED && entry->remaining > 0)
			return entry->qty;
	}
	return 0;
}

/*
 * The figures that a consumption answered when it was made; of one that has
 * been trimmed, what is left of it.
 */
Figures
standing_figures(const Standing *standing, const Entry *consumed)
{
	Figures		figures;
	bool		trimmed = consumed->event != EVENT_CONSUMED;

	figures.at = consumed->at;
	figures.consumed = trimmed ? consumed->taken : consumed->qty;
	figures.refunded = refund_before(standing, consumed);
	figures.held = consumed->remaining;
	figures.before = figures.consumed + figures.refunded + figures.held;
	figures.payload = consumed->payload;
	figures.reserved = consumed->reserved;
	figures.reservation_id = consumed->reservation_id;
	return figures;
}
