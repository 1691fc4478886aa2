/*-------------------------------------------------------------------------
 *
 * token.c
 *	  What the verbs on all that a token has share: hold_consume,
 *	  hold_release, hold_renew.
 *
 * An expired hold blocks its siblings only if it was live together with one
 * of the token's live holds.  Whether it was swept makes no difference: the
 * ledger remembers until when it was live.
 *
 *-------------------------------------------------------------------------
 */
#include "token.h"

#include "answers.h"
#include "classes.h"
#include "memory.h"
#include "moves.h"
#include "rules.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* How the token stands in the one pool that the request names. */
static Standing *
find_in_pool(Store *store, Snapshot snapshot, const TokenRequest *request)
{
	Standing   *standing = palloc0(sizeof(Standing));
	Hold	   *hold = palloc(sizeof(Hold));
	PoolClass	class;

	if (!pools_find(store, snapshot, request->pool, &standing->pool) ||
		standing->pool.retired)
	{
		pool_init(&standing->pool, store->tenant, request->pool);
		standing->pool.retired = !classes_find_for_pool(store, snapshot,
														request->pool, &class);
	}
	if (standing->pool.id == 0 || standing->pool.retired)
		return standing;
	standing_find_siblings(store, snapshot, request->token, standing);
	if (standing->siblings != NIL)
	{
		standing_fill(standing, facts_of_token(store, snapshot,
											   request->token, false));
		return standing;
	}
	if (holds_find(store, snapshot, request->token, standing->pool.id, hold))
		standing_add_hold(standing, hold);
	standing->entries = entries_of_token(store, snapshot, request->token,
										 standing->pool.id);
	return standing;
}

static List *
find_token(Attempt *attempt, Snapshot snapshot)
{
	TokenRequest *request = attempt->request;

	if (request->pool == NULL)
		return standings_of_token(attempt->store, snapshot, request->token);
	return list_make1(find_in_pool(attempt->store, snapshot, request));
}

/*
 * Makes an attempt of a verb on the token.  Its standings tell how the token
 * stands in each of its pools, in the order of their ids; in the named pool
 * alone, if one is named.
 */
void
token_prepare(Attempt *attempt, Store *store, TokenRequest *request,
			  void (*decide) (Attempt *attempt, Snapshot snapshot,
							  List *standings))
{
	attempt->store = store;
	attempt->request = request;
	attempt->find = find_token;
	attempt->decide = decide;
}

/* Runs a verb on the token and returns those standings. */
List *
token_run(Store *store, TokenRequest *request,
		  void (*decide) (Attempt *attempt, Snapshot snapshot,
						  List *standings))
{
	Attempt		attempt = {0};

	token_prepare(&attempt, store, request, decide);
	return attempt_run(&attempt);
}

/* Error 42704 if the request names a pool that does not exist. */
void
token_require_pool(const TokenRequest *request, List *standings)
{
	if (request->pool == NULL ||
		!((Standing *) linitial(standings))->pool.retired)
		return;
	pool_raise_unknown(request->pool,
					   "Leave the pool out to settle all holds of the token.");
}

/* Was the token ever seen there? */
bool
token_has_any(const Standing *standing)
{
	return standing->hold != NULL || standing->confirmed != NIL ||
		standing->entries != NIL;
}

/* Since when the oldest of the live holds is held; DT_NOEND without any. */
TimestampTz
token_live_since(List *standings, TimestampTz clock)
{
	TimestampTz since = DT_NOEND;
	ListCell   *lc;

	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);

		if (standing_is_live(standing, clock))
			since = Min(since, standing->hold->held_since);
	}
	return since;
}

/* When the hold that is not live any more ceased to be. */
TimestampTz
token_lapsed_at(const Standing *standing)
{
	return standing->hold != NULL ? standing->hold->expires_at :
		memory_end(standing)->expires_at;
}

/* Did the hold expire, and was it live after the given moment? */
bool
token_lapsed_beside(const Standing *standing, TimestampTz since,
					TimestampTz clock)
{
	return token_has_any(standing) &&
		memory_state(standing, clock) == OUTCOME_EXPIRED &&
		token_lapsed_at(standing) > since;
}

/*
 * Has a call with this ref, on all that the token had, left such an entry?  Then
 * this one repeats it and is about nothing that came after: what does not know
 * the ref is marked as not found, and true is returned.
 */
bool
token_repeats(const TokenRequest *request, List *standings, HoldEvent event,
			  const text *ref)
{
	bool		known = false;
	ListCell   *lc;

	if (request->pool != NULL || ref == NULL)
		return false;
	foreach(lc, standings)
	{
		known |= memory_entry_with_ref(lfirst(lc), event, ref) != NULL;
	}
	foreach(lc, standings)
	{
		if (known && memory_entry_with_ref(lfirst(lc), event, ref) == NULL)
			((Standing *) lfirst(lc))->outcome = OUTCOME_NOT_FOUND;
	}
	return known;
}

/*
 * Was the token's stay there moved from another room, which tells of it?  What a
 * call with a known ref consumed there is told there.
 */
static bool
is_told_elsewhere(const Standing *standing, List *standings)
{
	const Entry *arrival = standing->told != NULL ? standing->told :
	memory_last_consumption(standing);
	ListCell   *lc;

	if (arrival == NULL || !entry_is_arrival(arrival))
		return false;
	foreach(lc, standings)
	{
		if (moves_departure(((Standing *) lfirst(lc))->entries, arrival) != NULL)
			return true;
	}
	return false;
}

/*
 * The standings of which a verb on holds tells: one a hold.  A confirmed stay
 * is told where it was confirmed, wherever it was moved.
 */
List *
token_holds_told(List *standings)
{
	List	   *told = NIL;
	ListCell   *lc;

	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);

		if (standing->outcome == OUTCOME_NOT_FOUND &&
			list_length(standings) > 1)
			continue;
		if ((standing->outcome != OUTCOME_ALREADY_CONSUMED &&
			 standing->outcome != OUTCOME_RETURNED) ||
			!is_told_elsewhere(standing, standings))
			told = lappend(told, standing);
	}
	return told;
}

/*
 * Answers with one row a standing, or one that the token was never seen.  The
 * rows are numbered, or all have the number of their request.
 */
void
token_answer(FunctionCallInfo fcinfo, Store *store,
			 const TokenRequest *request, List *standings, int line)
{
	SettlementAnswer answer = {0};
	ListCell   *lc;

	answer.outcome = OUTCOME_NOT_FOUND;
	answer.line = Max(line, 1);
	answer.pool = request->pool;
	if (standings == NIL)
		add_settlement(fcinfo, &store->relations, &answer);
	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);
		Figures    *figures = &standing->figures;

		if (!figures->of_stay)
			figures->of_stay = memory_nights(standing, &figures->nights);
		answer.outcome = standing->outcome;
		answer.line = line > 0 ? line : foreach_current_index(lc) + 1;
		answer.pool = standing->pool.is_room ? NULL : standing->pool.key;
		answer.of_room = standing->pool.is_room;
		answer.room_id = standing->pool.room_id;
		answer.of_stay = figures->of_stay;
		answer.nights = figures->nights;
		answer.known = standing->outcome != OUTCOME_NOT_FOUND;
		answer.qty = figures->before;
		answer.consumed = figures->consumed;
		answer.refunded = figures->refunded;
		answer.held = figures->held;
		answer.at = figures->at;
		answer.payload = figures->payload;
		answer.reserved = figures->reserved;
		answer.reservation_id = figures->reservation_id;
		add_settlement(fcinfo, &store->relations, &answer);
	}
}
