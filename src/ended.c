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

static void
say_what_expired(Standing *standing)
{
	Figures    *figures = &standing->figures;
	const Entry *entry = memory_end(standing);

	standing->outcome = OUTCOME_EXPIRED;
	figures->at = token_lapsed_at(standing);
	if (standing->pool.is_room)
		figures->before = holds_qty(memory_pieces(standing));
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
	standing->told = consumed;
	standing->figures = memory_figures(standing, consumed);
}

/* Answers for a hold that is not live: nothing changes. */
void
say_how_it_ended(Standing *standing, TimestampTz clock)
{
	const Entry *entry = memory_end(standing);

	standing->told = NULL;
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
			entry = memory_full_return(standing);
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
	figures->before = standing->pool.is_room ?
		holds_qty(memory_pieces(standing)) : hold->qty;
	figures->payload = hold->payload;
	if (standing_is_live(standing, clock))
		figures->held = figures->before;
}
