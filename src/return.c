/*-------------------------------------------------------------------------
 *
 * return.c
 *	  The verb hold_return.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "compat.h"
#include "memory.h"
#include "rules.h"
#include "stripes.h"
#include "token.h"

SQL_FUNCTION(hold_return);

typedef struct ReturnRequest
{
	TokenRequest token;			/* must be first */
	bool		partial;		/* is there a qty? */
	int64		qty;
	Note		note;
} ReturnRequest;

static void
say_returned(Standing *standing, TimestampTz at, int64 refunded, int64 held)
{
	Figures    *figures = &standing->figures;
	Figures		consumed = memory_figures(standing,
										  memory_last_consumption(standing));

	standing->outcome = OUTCOME_RETURNED;
	figures->at = at;
	figures->refunded = refunded;
	figures->before = held;
	figures->held = held;
	figures->payload = consumed.payload;
	figures->reserved = consumed.reserved;
	figures->reservation_id = consumed.reservation_id;
}

/* What the call that has given back with this ref gave back there. */
static int64
returned_with_ref(const Standing *standing, const text *ref)
{
	int64		returned = 0;
	ListCell   *lc;

	foreach(lc, standing->entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->event == EVENT_RETURNED && entry->ref != NULL &&
			rule_same_text(entry->ref, ref))
			returned += entry->qty;
	}
	return returned;
}

/*
 * What the token held there, once more, when that return was made.  The entry
 * of a pool tells of an expired hold too.
 */
static int64
held_then(const Standing *standing, const Entry *returned)
{
	return standing->pool.is_room ||
		rule_is_live(returned->expires_at, returned->at) ?
		returned->remaining : 0;
}

/* Tells the first figures once more, whatever the token did there since. */
static void
say_returned_before(Standing *standing, const Entry *first)
{
	Standing	past = memory_as_of(standing, first);
	Figures    *figures = &standing->figures;

	say_returned(&past, first->at, returned_with_ref(&past, first->ref),
				 held_then(standing, first));
	standing->outcome = past.outcome;
	*figures = past.figures;
	figures->of_stay = first->of_stay ?
		memory_nights_of_call(standing, first, &figures->nights) :
		memory_nights(&past, &figures->nights);
}

/* What the token holds there by now, once more. */
static int64
held_now(const Standing *standing, TimestampTz clock)
{
	return standing_is_live(standing, clock) ? standing_qty(standing) : 0;
}

/* Gives up the confirmed stays in a room, all of them. */
static void
give_up_stays(Standing *standing, const ReturnRequest *request,
			  TimestampTz clock)
{
	int64		left = holds_qty(standing->confirmed);
	ListCell   *lc;

	say_returned(standing, clock, left, held_now(standing, clock));
	standing->change = change_begin(&standing->pool, clock);
	foreach(lc, standing->confirmed)
	{
		Hold	   *stay = lfirst(lc);
		Note		note = request->note;

		note.reserved = stay->stay->reserved;
		note.reservation_id = stay->stay->reservation_id;
		left -= stay->qty;
		change_give_up(standing->change, stay, left, &note);
	}
}

/*
 * Gives up no night here: the token has none left, or only the memory of a stay
 * that was moved, which ends.  The ref is noted in any case, as a retry has to
 * find it, also when the token has confirmed another stay here by then.
 */
static void
forget_stays(Standing *standing, const ReturnRequest *request,
			 TimestampTz clock)
{
	const Entry *last = memory_last_entry(standing);
	int64		held = held_now(standing, clock);
	Note		note = request->note;

	say_returned(standing, clock, 0, held);
	if (last->taken == 0 && note.ref == NULL)
		return;
	note.reserved = last->reserved;
	note.reservation_id = last->reservation_id;
	standing->change = change_begin(&standing->pool, clock);
	change_forget_stay(standing->change, last, held, 0, &note);
}

/* Gives up all that the token has, or had and moved, in a room. */
static void
return_room(Standing *standing, const ReturnRequest *request,
			TimestampTz clock)
{
	if (request->partial)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("qty cannot be given for a stay"),
				 errhint("Give up single stays with hold_cancel_stay.")));
	if (standing->confirmed != NIL)
		give_up_stays(standing, request, clock);
	else
		forget_stays(standing, request, clock);
}

/* Puts back what was consumed and not yet returned, as far as it is asked. */
static void
return_units(Standing *standing, const ReturnRequest *request,
			 TimestampTz clock)
{
	const Entry *first = NULL;
	int64		qty = memory_taken(standing);

	if (request->note.ref != NULL)
		first = memory_entry_with_ref(standing, EVENT_RETURNED,
									  request->note.ref);
	if (first != NULL)
	{
		say_returned_before(standing, first);
		return;
	}
	if (standing->pool.is_room)
	{
		return_room(standing, request, clock);
		return;
	}
	if (request->partial)
		qty = Min(qty, request->qty);
	if (qty > 0 || request->note.ref != NULL)
	{
		stripes_place_with_hold(standing);
		standing->change = change_begin(&standing->pool, clock);
		change_return(standing->change, standing->hold,
					  memory_last_consumption(standing),
					  memory_taken(standing), qty, &request->note);
	}
	say_returned(standing, clock, qty, held_now(standing, clock));
}

static void
require_one_pool(const ReturnRequest *request, List *standings)
{
	int			pools = 0;
	ListCell   *lc;

	if (!request->partial || request->token.pool != NULL)
		return;
	foreach(lc, standings)
	{
		if (memory_taken(lfirst(lc)) > 0)
			pools++;
	}
	if (pools > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("qty needs a pool where a token consumed in several"),
				 errdetail("The token has consumed in %d pools.", pools),
				 errhint("Name the pool, or leave qty out to return everything.")));
}

static void
decide_return(Attempt *attempt, Snapshot snapshot, List *standings)
{
	ReturnRequest *request = attempt->request;
	ListCell   *lc;

	token_require_pool(&request->token, standings);
	if (!token_repeats(&request->token, standings, EVENT_RETURNED,
					   request->note.ref))
		require_one_pool(request, standings);
	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);

		if (standing->outcome == OUTCOME_NOT_FOUND)
			continue;
		if (memory_last_consumption(standing) == NULL &&
			standing->confirmed == NIL)
			standing->outcome = OUTCOME_NOT_FOUND;
		else
			return_units(standing, request, attempt->clock);
	}
}

/* Leaves out the pools in which the token never consumed. */
static List *
returned_only(List *standings)
{
	List	   *returned = NIL;
	ListCell   *lc;

	foreach(lc, standings)
	{
		if (((Standing *) lfirst(lc))->outcome == OUTCOME_RETURNED)
			returned = lappend(returned, lfirst(lc));
	}
	return returned;
}

/*
 * hold_return(token text, pool text, qty numeric, ref text)
 *		returns setof hold_settlement
 *
 * A cancelled booking: puts units back that the token consumed and has not
 * yet returned; one row a pool.  After a full return it may claim afresh.
 *
 * Errors: 22004 for a qty without a ref, 22023 for a qty without a pool where
 * the token consumed in several, 42704 for an unknown pool.  Locks the rows
 * of the pools until the transaction ends.
 */
Datum
hold_return(PG_FUNCTION_ARGS)
{
	ReturnRequest request = {0};
	Store		store;
	List	   *standings;

	request.token.token = argument_key(fcinfo, 0, "token");
	request.token.pool = argument_optional_key(fcinfo, 1, "pool");
	request.partial = !PG_ARGISNULL(2);
	if (request.partial)
		request.qty = argument_units(fcinfo, 2, "qty", QUANTITY_POSITIVE);
	request.note.ref = argument_optional_text(fcinfo, 3);
	if (request.partial && request.note.ref == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("ref must not be null where a qty is returned"),
				 errhint("Give each return a ref of its own, so that a retry returns nothing.")));

	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	standings = token_run(&store, &request.token, decide_return);
	token_answer(fcinfo, &store, &request.token, returned_only(standings), 0);
	store_close_after_writing(&store);
	return (Datum) 0;
}
