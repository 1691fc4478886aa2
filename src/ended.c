/*-------------------------------------------------------------------------
 *
 * ended.c
 *	  What is answered about a hold that is not live, or not touched.
 *
 * A hold ends exactly once.  Whoever comes later, or retries, is told how it
 * ended; the ledger remembers the figures.
 *
 *-------------------------------------------------------------------------
 */
#include "ended.h"

#include "memory.h"
#include "rules.h"
#include "token.h"
#include "utils/timestamp.h"

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
 * All pieces of a stay that lapsed, of Hold: those that lie there, and those
 * that the ledger remembers because somebody has cleared them away.
 */
List *
lapsed_pieces(const Standing *standing)
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

static int64
pieces_qty(List *pieces)
{
	int64		qty = 0;
	ListCell   *lc;

	foreach(lc, pieces)
	{
		qty += ((Hold *) lfirst(lc))->qty;
	}
	return qty;
}

static void
say_what_expired(Standing *standing)
{
	Figures    *figures = &standing->figures;
	const Entry *entry = memory_end(standing);

	standing->outcome = OUTCOME_EXPIRED;
	figures->at = token_lapsed_at(standing);
	if (standing->pool.is_room)
		figures->before = pieces_qty(lapsed_pieces(standing));
	else
		figures->before = standing->hold != NULL ? standing->hold->qty :
			entry->qty;
	figures->payload = standing->hold != NULL ? standing->hold->payload :
		entry->payload;
}

void
say_first_figures(Standing *standing, const Entry *consumed)
{
	standing->outcome = OUTCOME_ALREADY_CONSUMED;
	standing->figures = memory_figures(standing, consumed);
}

/* Answers for a hold that is not live: nothing changes. */
void
say_how_it_ended(Standing *standing, TimestampTz clock)
{
	const Entry *entry = memory_end(standing);

	if (!token_has_any(standing))
	{
		standing->outcome = OUTCOME_NOT_FOUND;
		return;
	}
	switch (memory_state(standing, clock))
	{
		case OUTCOME_EXPIRED:
			say_what_expired(standing);
			return;
		case OUTCOME_CONSUMED:
			say_first_figures(standing, memory_last_consumption(standing));
			return;
		case OUTCOME_RELEASED:
			standing->outcome = OUTCOME_ALREADY_RELEASED;
			break;
		default:
			standing->outcome = OUTCOME_RETURNED;
			entry = memory_last_entry(standing);
			break;
	}
	standing->figures.at = entry->at;
	standing->figures.payload = entry->payload;
}

/* The hold, from its row or from what the ledger remembers of its expiry. */
Hold *
held_or_lapsed(const Standing *standing)
{
	const Entry *entry = memory_end(standing);
	Hold	   *hold;

	if (standing->hold != NULL)
		return standing->hold;
	hold = palloc0(sizeof(Hold));
	hold->pool_id = entry->pool_id;
	hold->qty = entry->qty;
	hold->consumed = memory_taken(standing);
	hold->expires_at = entry->expires_at;
	hold->held_since = entry->held_since;
	hold->version = entry->version;
	hold->generation = entry->generation;
	hold->token = entry->token;
	hold->payload = entry->payload;
	return hold;
}

void
say_blocked(Standing *standing, TimestampTz clock)
{
	Figures    *figures = &standing->figures;
	const Hold *hold = held_or_lapsed(standing);

	memset(figures, 0, sizeof(Figures));
	standing->outcome = OUTCOME_BLOCKED;
	standing->change = NULL;
	figures->at = clock;
	figures->payload = hold->payload;
	if (standing_is_live(standing, clock))
		figures->before = figures->held = standing_qty(standing);
	else
		figures->before = standing->pool.is_room ?
			pieces_qty(lapsed_pieces(standing)) : hold->qty;
}
