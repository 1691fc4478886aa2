/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  What the ledger remembers of a token in one place: how what it held
 *	  ended, what it took, and the figures that it was told first.
 *
 *-------------------------------------------------------------------------
 */
#include "memory.h"

#include "moves.h"
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

/*
 * The same of a hold that the token had there itself: what was moved there, or
 * to other nights, ended when it was consumed first.  NULL if there was none.
 */
const Entry *
memory_own_end(const Standing *standing)
{
	for (int i = list_length(standing->entries) - 1; i >= 0; i--)
	{
		const Entry *entry = list_nth(standing->entries, i);

		if (entry->event != EVENT_RETURNED && !entry_is_arrival(entry))
			return entry;
	}
	return NULL;
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

/*
 * The newest entry that tells of what the token took: of a consumption, or if
 * that has been trimmed, of what came after it.  Of a stay that was moved it
 * is the arrival only where nothing else was taken.  NULL if it never took any.
 */
const Entry *
memory_last_consumption(const Standing *standing)
{
	const Entry *last = NULL;
	bool		all_returned = true;
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->event != EVENT_CONSUMED && entry->event != EVENT_RETURNED)
			continue;
		if (last == NULL || (entry->event == EVENT_CONSUMED &&
							 (all_returned || !entry_is_arrival(entry))))
			last = entry;
		all_returned = entry->taken == 0;
	}
	return last;
}

/* What the token consumed in the pool and has not returned. */
int64
memory_taken(const Standing *standing)
{
	if (standing->hold != NULL)
		return standing->hold->consumed;
	if (standing->entries != NIL)
		return memory_last_entry(standing)->taken;
	return holds_qty(standing->confirmed);
}

/*
 * The entry of that kind that was made with this ref, or NULL; of a stay in
 * pieces the last one, which tells of all.  A move bears the same and is none.
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
			!entry_is_arrival(entry) && rule_same_text(entry->ref, ref))
			found = entry;
	}
	return found;
}

/*
 * What was remembered right after that entry was made.  Of what was held then
 * the ledger knows only what has ended since, so there is no hold in it.
 */
Standing
memory_as_of(const Standing *standing, const Entry *entry)
{
	Standing	past = *standing;
	int			remembered = 0;

	past.hold = NULL;
	past.holds = NIL;
	past.confirmed = NIL;
	while (list_nth(standing->entries, remembered++) != entry)
		;
	past.entries = list_truncate(list_copy(standing->entries), remembered);
	return past;
}

/* --- of which pieces a stay was, and on which nights --- */

/* A piece of a stay as the ledger remembers its expiry. */
static Hold *
remembered_piece(const Standing *standing, const Entry *entry)
{
	Stay	   *stay = palloc0(sizeof(Stay));

	stay->room_id = standing->pool.room_id;
	stay->nights = entry->nights;
	stay->expires_at = entry->expires_at;
	stay->held_since = entry->held_since;
	stay->version = entry->version;
	stay->token = entry->token;
	stay->payload = entry->payload;
	return hold_of_stay(&standing->pool, stay);
}

/*
 * All pieces of the stay that the token holds there, or that lapsed, of Hold:
 * those that lie there, and those that the ledger remembers because somebody
 * has cleared them away.
 */
List *
memory_pieces(const Standing *standing)
{
	List	   *pieces = list_copy(standing->holds);

	for (int i = list_length(standing->entries) - 1; i >= 0; i--)
	{
		const Entry *entry = list_nth(standing->entries, i);

		if (entry->event == EVENT_RETURNED)
			continue;
		if (entry->event != EVENT_EXPIRED ||
			(pieces != NIL &&
			 entry->held_since != ((Hold *) linitial(pieces))->held_since))
			break;
		pieces = lappend(pieces, remembered_piece(standing, entry));
	}
	return pieces;
}

static void
add_nights(Nights *all, bool *any, Nights nights)
{
	all->first = *any ? Min(all->first, nights.first) : nights.first;
	all->departure = *any ? Max(all->departure, nights.departure) :
		nights.departure;
	*any = true;
}

static void
add_nights_of_holds(Nights *all, bool *any, List *holds)
{
	ListCell   *lc;

	foreach(lc, holds)
	{
		add_nights(all, any, ((Hold *) lfirst(lc))->stay->nights);
	}
}

/* Do the entries tell of pieces of one stay, and of the same call? */
static bool
are_of_one_call(const Entry *a, const Entry *b)
{
	return a->of_stay && a->event == b->event && a->at == b->at &&
		a->held_since == b->held_since;
}

/*
 * The nights from the first to the last of all pieces of which the entry's
 * call told; false for a pool.
 */
bool
memory_nights_of_call(const Standing *standing, const Entry *entry,
					  Nights *nights)
{
	bool		any = false;
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *other = lfirst(lc);

		if (are_of_one_call(other, entry))
			add_nights(nights, &any, other->nights);
	}
	return any;
}

/*
 * The return that gave back the last of what the token took; later ones found
 * nothing left.
 */
const Entry *
memory_full_return(const Standing *standing)
{
	const Entry *full = memory_last_entry(standing);

	for (int i = list_length(standing->entries) - 1; i >= 0; i--)
	{
		const Entry *entry = list_nth(standing->entries, i);

		if (entry->event != EVENT_RETURNED || entry->taken > 0)
			break;
		full = entry;
	}
	return full;
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
		memory_taken(standing) == 0 ? memory_full_return(standing) : end;
}

/* The newest entry that tells of nights, or NULL. */
static const Entry *
last_entry_of_stay(const Standing *standing)
{
	for (int i = list_length(standing->entries) - 1; i >= 0; i--)
	{
		const Entry *entry = list_nth(standing->entries, i);

		if (entry->of_stay)
			return entry;
	}
	return NULL;
}

/*
 * The nights from the first to the last that the token has in the room, or
 * had there last, in all pieces; false for a pool.
 */
bool
memory_nights(const Standing *standing, Nights *nights)
{
	const Entry *last = last_entry_of_stay(standing);
	bool		any = false;

	if (!standing->pool.is_room)
		return false;
	add_nights_of_holds(nights, &any, memory_pieces(standing));
	add_nights_of_holds(nights, &any, standing->confirmed);
	if (!any && last != NULL)
		return memory_nights_of_call(standing, last, nights);
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
	Figures		figures = {0};
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
	figures.of_stay = memory_nights_of_call(standing, consumed,
											&figures.nights);
	return figures;
}
