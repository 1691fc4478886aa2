/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  What the ledger remembers of a token in one place: how what it held
 *	  ended, what it took, and the figures that it was told first.
 *
 *-------------------------------------------------------------------------
 */
#include "memory.h"

#include "rules.h"
#include "utils/timestamp.h"

/* --- how it ended, and what it took --- */

/* The newest entry about the token, which tells what it has taken; or NULL. */
const Entry *
memory_last_entry(const Standing *standing)
{
	return standing->entries == NIL ? NULL : llast(standing->entries);
}

/*
 * The entry that ended the token's last hold, or NULL.  What was returned since
 * does not change how it ended; where only that is left, it has to do.
 */
const Entry *
memory_end(const Standing *standing)
{
	for (int i = list_length(standing->entries) - 1; i >= 0; i--)
	{
		const Entry *entry = list_nth(standing->entries, i);

		if (entry->event != EVENT_RETURNED)
			return entry;
	}
	return memory_last_entry(standing);
}

/* In which state the token's last hold is, or how it ended. */
HoldOutcome
memory_state(const Standing *standing, TimestampTz clock)
{
	if (standing->hold != NULL)
		return standing_is_live(standing, clock) ?
			OUTCOME_GRANTED : OUTCOME_EXPIRED;
	if (standing->entries == NIL)	/* trimmed; a confirmed stay is there */
		return OUTCOME_CONSUMED;
	switch (memory_end(standing)->event)
	{
		case EVENT_RELEASED:
			return OUTCOME_RELEASED;
		case EVENT_EXPIRED:
			return OUTCOME_EXPIRED;
		default:
			return memory_taken(standing) > 0 ?
				OUTCOME_CONSUMED : OUTCOME_RETURNED;
	}
}

/* Does it tell of a confirmed stay that was moved?  What is held has an end. */
static bool
tells_of_move(const Entry *entry)
{
	return entry->event == EVENT_CONSUMED && entry->of_room &&
		entry->expires_at == DT_NOEND;
}

/* Is all that the token took in the room a stay that came from elsewhere? */
bool
memory_came_by_move(const Standing *standing)
{
	bool		came = false;
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->event == EVENT_CONSUMED && !tells_of_move(entry))
			return false;
		came |= tells_of_move(entry);
	}
	return came;
}

/*
 * The newest entry that tells of what the token took: of a consumption, or if
 * that has been trimmed, of what came after it.  NULL if it never took any.
 */
const Entry *
memory_last_consumption(const Standing *standing)
{
	const Entry *last = NULL;
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->event == EVENT_CONSUMED &&
			(!tells_of_move(entry) || last == NULL || tells_of_move(last)))
			last = entry;
		else if (last == NULL && entry->event == EVENT_RETURNED)
			last = entry;
	}
	return last;
}

/* What the token consumed in the pool and has not returned. */
int64
memory_taken(const Standing *standing)
{
	int64		taken = 0;
	ListCell   *lc;

	if (standing->hold != NULL)
		return standing->hold->consumed;
	if (standing->entries != NIL)
		return memory_last_entry(standing)->taken;
	foreach(lc, standing->confirmed)
	{
		taken += ((Hold *) lfirst(lc))->qty;
	}
	return taken;
}

/*
 * The entry of that kind that was made with this ref, or NULL; of a stay in
 * pieces the last one, which tells of all.
 */
const Entry *
memory_entry_with_ref(const Standing *standing, HoldEvent event,
					  const text *ref)
{
	const Entry *found = NULL;
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->event == event && entry->ref != NULL &&
			rule_same_text(entry->ref, ref))
			found = entry;
	}
	return found;
}

/* --- on which nights --- */

static void
add_nights(Nights *all, bool *any, Nights nights)
{
	all->first = *any ? Min(all->first, nights.first) : nights.first;
	all->departure = *any ? Max(all->departure, nights.departure) :
		nights.departure;
	*any = true;
}

/*
 * Do the entries tell of pieces of one stay?  Those that lapsed may have been
 * cleared away one by one, all else happens to all of them at once.
 */
static bool
tell_of_one_stay(const Entry *a, const Entry *b)
{
	return a->of_stay && a->event == b->event &&
		a->held_since == b->held_since &&
		(a->event == EVENT_EXPIRED || a->at == b->at);
}

/* Adds the nights of all entries that tell of the same stay as this one. */
static void
add_told_nights(const Standing *standing, const Entry *told, Nights *nights,
				bool *any)
{
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (tell_of_one_stay(entry, told))
			add_nights(nights, any, entry->nights);
	}
}

/* The nights of all pieces of the stay that the entry tells of. */
bool
memory_nights_with(const Standing *standing, const Entry *told,
				   Nights *nights)
{
	bool		any = false;

	add_told_nights(standing, told, nights, &any);
	return any;
}

/* Adds pieces of the held stay that lapsed and have been cleared away. */
static void
add_lapsed_nights(const Standing *standing, Nights *nights, bool *any)
{
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->event == EVENT_EXPIRED &&
			entry->held_since == standing->hold->held_since)
			add_nights(nights, any, entry->nights);
	}
}

/*
 * The entry that tells what became of what the token had there last: of its end,
 * or if all of it was returned, of that.
 */
const Entry *
memory_last_word(const Standing *standing)
{
	const Entry *end = memory_end(standing);

	return end != NULL && end->event == EVENT_CONSUMED &&
		memory_taken(standing) == 0 ? memory_last_entry(standing) : end;
}

/*
 * The nights from the first to the last that the token has in the room, or
 * had there last; false for a pool.
 */
bool
memory_nights(const Standing *standing, Nights *nights)
{
	const Entry *last = memory_last_word(standing);
	bool		any = false;
	ListCell   *lc;

	if (!standing->pool.is_room)
		return false;
	foreach(lc, standing->holds)
	{
		add_nights(nights, &any, ((Hold *) lfirst(lc))->stay->nights);
	}
	foreach(lc, standing->confirmed)
	{
		add_nights(nights, &any, ((Hold *) lfirst(lc))->stay->nights);
	}
	if (standing->hold != NULL)
		add_lapsed_nights(standing, nights, &any);
	if (!any && last != NULL)
		add_told_nights(standing, last, nights, &any);
	return any;
}

/* --- first figures --- */

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

		if (!standing->pool.is_room &&
			entry->pool_id == consumed->pool_id &&
			entry->seq == consumed->seq - 1 &&
			entry->event == EVENT_RELEASED && entry->remaining > 0)
			return entry->qty;
	}
	return 0;
}

/* The figures of confirmed stays whose entries have been trimmed. */
static Figures
figures_of_rows(const Standing *standing)
{
	Figures		figures = {0};
	const Hold *stay = linitial(standing->confirmed);

	figures.at = stay->held_since;
	figures.consumed = memory_taken(standing);
	figures.before = figures.consumed;
	figures.payload = stay->payload;
	figures.reserved = stay->stay->reserved;
	figures.reservation_id = stay->stay->reservation_id;
	return figures;
}

/*
 * The figures that a consumption answered when it was made; of one that has
 * been trimmed, what is left of it.  NULL: only a confirmed stay is left.
 */
Figures
memory_figures(const Standing *standing, const Entry *consumed)
{
	Figures		figures;
	bool		trimmed;

	if (consumed == NULL)
		return figures_of_rows(standing);
	trimmed = consumed->event != EVENT_CONSUMED;
	figures.at = consumed->at;
	figures.consumed = trimmed || standing->pool.is_room ? consumed->taken : consumed->qty;
	figures.refunded = refund_before(standing, consumed);
	figures.held = consumed->remaining;
	figures.before = figures.consumed + figures.refunded + figures.held;
	figures.payload = consumed->payload;
	figures.reserved = consumed->reserved;
	figures.reservation_id = consumed->reservation_id;
	figures.of_stay = memory_nights_with(standing, consumed,
										 &figures.nights);
	return figures;
}
