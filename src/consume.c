/*-------------------------------------------------------------------------
 *
 * consume.c
 *	  The verbs hold_consume and hold_consume_batch.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "batch.h"
#include "compat.h"
#include "ended.h"
#include "memory.h"
#include "rules.h"
#include "source.h"
#include "stripes.h"
#include "token.h"
#include "utils/timestamp.h"
#include "vacancy.h"

SQL_FUNCTION(hold_consume);
SQL_FUNCTION(hold_consume_batch);

typedef struct ConsumeRequest
{
	TokenRequest token;			/* must be first */
	bool		partial;		/* is there a qty? */
	int64		qty;
	bool		final;
	bool		late;
	Note		note;
} ConsumeRequest;

static int64
units_to_take(const ConsumeRequest *request, int64 held)
{
	return request->partial ? Min(request->qty, held) : held;
}

static void
say_consumed(Standing *standing, const ConsumeRequest *request, int64 before,
			 int64 taken, Jsonb *payload)
{
	Figures    *figures = &standing->figures;
	bool		nothing = request->final && taken == 0;

	standing->outcome = nothing ? OUTCOME_RELEASED : OUTCOME_CONSUMED;
	figures->at = standing->change->at;
	figures->before = before;
	figures->consumed = taken;
	figures->refunded = request->final ? before - taken : 0;
	figures->held = before - taken - figures->refunded;
	figures->payload = payload;
	figures->reserved = request->note.reserved;
	figures->reservation_id = request->note.reservation_id;
}

/* Stays are confirmed for something, and as a whole. */
static void
require_confirmation(Attempt *attempt)
{
	const ConsumeRequest *request = attempt->request;

	if (attempt_is_early(attempt))
		return;
	if (request->partial)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("qty cannot be given for a stay"),
				 errhint("Give nights back with hold_release_stay, and confirm the rest.")));
	if (!request->note.reserved && request->note.ref == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a stay needs a reservation_id or a ref"),
				 errhint("Say what the stay is confirmed for.")));
}

/* Confirms a stay, with all its pieces. */
static void
consume_stay(Attempt *attempt, Standing *standing)
{
	const ConsumeRequest *request = attempt->request;
	int64		taken = 0;
	ListCell   *lc;

	require_confirmation(attempt);
	standing->change = change_begin(&standing->pool, attempt->clock);
	foreach(lc, standing->holds)
	{
		Hold	   *piece = lfirst(lc);

		piece->consumed = taken;
		taken += piece->qty;
		piece->beside = standing_qty(standing) - taken;
		change_consume(standing->change, piece, piece->qty, true,
					   &request->note);
	}
	say_consumed(standing, request, taken, taken, standing->hold->payload);
}

static void
consume_live(Attempt *attempt, Standing *standing)
{
	const ConsumeRequest *request = attempt->request;
	Hold	   *hold = standing->hold;
	int64		taken = units_to_take(request, hold->qty);

	if (standing->pool.is_room)
	{
		consume_stay(attempt, standing);
		return;
	}
	standing->change = change_begin(&standing->pool, attempt->clock);
	if (request->final && taken == 0)
		change_release(standing->change, hold);
	else
		change_consume(standing->change, hold, taken, request->final,
					   &request->note);
	say_consumed(standing, request, hold->qty, taken, hold->payload);
}

/*
 * Would the units of an expired hold fit as a new claim?  In a pool without a
 * capacity of its own nobody can say so, unless a function tells it; that is
 * asked under the pool's lock, and till then they are taken to fit.
 */
static bool
lapsed_fits(Attempt *attempt, Snapshot snapshot, Standing *standing,
			const Hold *hold, Demand *demand, Vacancy **vacancy)
{
	const Pool *pool = &standing->pool;
	text	   *source = source_of_pool(attempt->store, snapshot, pool);
	bool		told = source == NULL || attempt->locked;

	*vacancy = NULL;
	if (source != NULL && told &&
		!source_limit(attempt->store, source, pool, demand))
		return false;
	attempt->needs_locks |= !told;
	*vacancy = stripes_vacancy(attempt->store, snapshot, standing, demand,
							   attempt->clock);
	(*vacancy)->spans |= source != NULL;
	if (pool->closed || !rule_is_live(pool->lease_end, attempt->clock) ||
		hold->generation != pool->generation || demand->qty == 0)
		return false;
	return !told || ((*vacancy)->limited &&
					 demand->qty <= (*vacancy)->could_have);
}

/* Consumes an expired hold if it fits as a new claim would; false if not. */
static bool
consume_lapsed(Attempt *attempt, Snapshot snapshot, Standing *standing)
{
	const ConsumeRequest *request = attempt->request;
	Pool	   *pool = &standing->pool;
	Hold	   *hold = held_or_lapsed(standing);
	Demand		demand = {0};
	Vacancy    *vacancy;

	demand.qty = units_to_take(request, hold->qty);
	if (!lapsed_fits(attempt, snapshot, standing, hold, &demand, &vacancy))
		return false;

	standing->change = change_begin(pool,
									stripes_clear(standing, attempt->clock));
	vacancy_clear(vacancy, standing->change);
	if (standing->hold != NULL && standing->hold->pool_id == pool->id)
		change_expire(standing->change, standing->hold);
	stripes_gather(standing, vacancy, demand.qty, attempt->clock);
	change_consume_late(standing->change, hold, demand.qty, &request->note);
	say_consumed(standing, request, demand.qty, demand.qty, hold->payload);
	return true;
}

static bool
is_among_stays(List *stays, const Stay *stay)
{
	ListCell   *lc;

	foreach(lc, stays)
	{
		if (((Stay *) lfirst(lc))->id == stay->id)
			return true;
	}
	return false;
}

/*
 * Are the nights of the pieces free?  Then *expired are the stays of others,
 * and of the token itself, that have to go.
 */
static bool
nights_are_free(Attempt *attempt, Snapshot snapshot, const Standing *standing,
				List *pieces, List **expired)
{
	ListCell   *lc;
	ListCell   *other;

	*expired = NIL;
	foreach(lc, pieces)
	{
		List	   *stays = stays_overlapping(attempt->store, snapshot,
											  standing->pool.room_id,
											  ((Hold *) lfirst(lc))->stay->nights);

		foreach(other, stays)
		{
			Stay	   *stay = lfirst(other);

			if (rule_is_live(stay->expires_at, attempt->clock))
				return false;
			if (!is_among_stays(*expired, stay))
				*expired = lappend(*expired, stay);
		}
	}
	return true;
}

/* Confirms a stay that expired, if its nights are still free; else false. */
static bool
consume_lapsed_stay(Attempt *attempt, Snapshot snapshot, Standing *standing)
{
	const ConsumeRequest *request = attempt->request;
	List	   *pieces = memory_pieces(standing);
	List	   *expired;
	int64		taken = 0;
	ListCell   *lc;

	if (!nights_are_free(attempt, snapshot, standing, pieces, &expired))
		return false;
	require_confirmation(attempt);
	standing->change = change_begin(&standing->pool, attempt->clock);
	foreach(lc, expired)
	{
		change_expire(standing->change,
					  hold_of_stay(&standing->pool, lfirst(lc)));
	}
	foreach(lc, pieces)
	{
		Hold	   *piece = lfirst(lc);

		piece->consumed = taken;
		change_consume_late(standing->change, piece, piece->qty,
							&request->note);
		taken += piece->qty;
	}
	say_consumed(standing, request, taken, taken,
				 ((Hold *) linitial(pieces))->payload);
	return true;
}

/* When the token's last hold there, which is not live, ended or lapsed. */
static TimestampTz
ended_at(const Standing *standing, TimestampTz clock)
{
	const Entry *end = memory_own_end(standing);

	if (memory_state(standing, clock) == OUTCOME_EXPIRED)
		return token_lapsed_at(standing);
	return end == NULL ? DT_NOBEGIN : end->at;
}

/*
 * Since when a hold must have been live for a late payment to reach it: as
 * long as the live ones are, or else as long as the one that ended last: if
 * that was consumed, a call that consumed it leaves nothing to its retry.
 */
static TimestampTz
late_since(List *standings, TimestampTz clock)
{
	TimestampTz since = token_live_since(standings, clock);
	TimestampTz last = DT_NOBEGIN;
	ListCell   *lc;

	if (since != DT_NOEND)
		return since;
	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);
		TimestampTz ended = ended_at(standing, clock);

		if (ended <= last)
			continue;
		last = ended;
		since = standing->hold != NULL ? standing->hold->held_since :
			memory_own_end(standing)->held_since;
	}
	return since;
}

/* Decides on one hold; false if it stands in the way of the others. */
static bool
consume_one(Attempt *attempt, Snapshot snapshot, Standing *standing,
			TimestampTz since)
{
	ConsumeRequest *request = attempt->request;
	const Entry *first = NULL;

	if (request->note.ref != NULL)
		first = memory_entry_with_ref(standing, EVENT_CONSUMED,
									  request->note.ref);
	if (first != NULL)
	{
		say_first_figures(standing, first);
		return true;
	}
	if (standing_is_live(standing, attempt->clock))
	{
		consume_live(attempt, standing);
		return true;
	}
	say_how_it_ended(standing, attempt->clock);
	if (!token_lapsed_beside(standing, since, attempt->clock))
		return true;
	if (!request->late)
		return false;
	return standing->pool.is_room ?
		consume_lapsed_stay(attempt, snapshot, standing) :
		consume_lapsed(attempt, snapshot, standing);
}

/* A quantity without a pool must not be able to mean several holds. */
static void
require_one_hold(Attempt *attempt, List *standings, TimestampTz since)
{
	const ConsumeRequest *request = attempt->request;
	TimestampTz clock = attempt->clock;
	int			reached = 0;
	ListCell   *lc;

	if (!request->partial || request->token.pool != NULL)
		return;
	foreach(lc, standings)
	{
		if (standing_is_live(lfirst(lc), clock) ||
			(request->late && token_lapsed_beside(lfirst(lc), since, clock)))
			reached++;
	}
	if (reached > 1 && !attempt_is_early(attempt))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("qty needs a pool where a token has several holds"),
				 errdetail("The token has %d holds.", reached),
				 errhint("Name the pool, or leave qty out to consume all of them.")));
}

static void
decide_consume(Attempt *attempt, Snapshot snapshot, List *standings)
{
	ConsumeRequest *request = attempt->request;
	TimestampTz clock = attempt->clock;
	TimestampTz since;
	bool		blocked = false;
	ListCell   *lc;

	token_require_pool(&request->token, standings);
	since = request->late ? late_since(standings, clock) :
		token_live_since(standings, clock);
	if (request->final ||
		!token_repeats(&request->token, standings, EVENT_CONSUMED,
					   request->note.ref))
		require_one_hold(attempt, standings, since);
	foreach(lc, standings)
	{
		if (((Standing *) lfirst(lc))->outcome != OUTCOME_NOT_FOUND)
			blocked |= !consume_one(attempt, snapshot, lfirst(lc), since);
	}
	if (!blocked)
		return;
	foreach(lc, standings)
	{
		if (((Standing *) lfirst(lc))->change != NULL)
			say_blocked(lfirst(lc), clock);
	}
}

static void
read_consume_request(FunctionCallInfo fcinfo, ConsumeRequest *request)
{
	request->token.token = argument_key(fcinfo, 0, "token");
	request->token.pool = argument_optional_key(fcinfo, 1, "pool");
	request->partial = !PG_ARGISNULL(2);
	if (request->partial)
		request->qty = argument_units(fcinfo, 2, "qty",
									  QUANTITY_NOT_NEGATIVE);
	request->final = argument_bool(fcinfo, 3, "final");
	request->note.ref = argument_optional_text(fcinfo, 4);
	request->late = argument_bool(fcinfo, 5, "late");
	request->note.reserved = !PG_ARGISNULL(6);
	if (request->note.reserved)
		request->note.reservation_id = PG_GETARG_INT64(6);

	if (!request->final && request->note.ref == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("ref must not be null where the rest stays held"),
				 errhint("Give each capture a ref of its own, so that a retry takes nothing.")));
	if (!request->final && request->partial && request->qty == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("qty must be greater than zero where the rest stays held"),
				 errhint("Give everything back with hold_release.")));
}

/*
 * hold_consume(token text, pool text, qty numeric, final boolean, ref text,
 *				late boolean, reservation_id bigint)
 *		returns setof hold_settlement
 *
 * Confirms what the token holds, in full or in part; one row a hold.  Without
 * a pool, all live holds or none: an expired one blocks the others.  The rest
 * is given back, or stays held if not final.  A retry is told the first
 * figures and takes nothing.
 *
 * Errors: 22004 and 22023 for bad arguments, 42704 for an unknown pool.
 * Locks the rows of the pools until the transaction ends.
 */
Datum
hold_consume(PG_FUNCTION_ARGS)
{
	ConsumeRequest request = {0};
	Store		store;
	List	   *standings;

	read_consume_request(fcinfo, &request);
	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	standings = token_run(&store, &request.token, decide_consume);
	token_answer(fcinfo, &store, &request.token, token_holds_told(standings),
				 0);
	store_close_after_writing(&store);
	return (Datum) 0;
}

/* --- many tokens at once --- */

/* Reads request number i + 1 of a batch. */
static void
read_batch_consume(const ArrayArgument *tokens, const ArrayArgument *qtys,
				   const ArrayArgument *refs, int i, ConsumeRequest *request)
{
	if (tokens->isnull[i])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("tokens must not contain nulls")));
	request->token.token = DatumGetTextPP(tokens->values[i]);
	rule_key(request->token.token, "token");
	request->final = true;
	request->partial = qtys->given && !qtys->isnull[i];
	if (request->partial)
		request->qty = rule_units(DatumGetNumeric(qtys->values[i]), "qty",
								  QUANTITY_NOT_NEGATIVE);
	if (refs->given && !refs->isnull[i])
		request->note.ref = DatumGetTextPP(refs->values[i]);
}

static ConsumeRequest *
read_batch(FunctionCallInfo fcinfo, int *count)
{
	ArrayArgument tokens;
	ArrayArgument qtys;
	ArrayArgument refs;
	ConsumeRequest *requests;

	require_argument(fcinfo, 0, "tokens");
	tokens = argument_array(fcinfo, 0, "tokens", MOST_REQUESTS);
	qtys = argument_array(fcinfo, 1, "qtys", MOST_REQUESTS);
	refs = argument_array(fcinfo, 2, "refs", MOST_REQUESTS);
	require_same_length(&qtys, tokens.count, "qtys", "tokens");
	require_same_length(&refs, tokens.count, "refs", "tokens");
	requests = palloc0(sizeof(ConsumeRequest) * (tokens.count + 1));
	for (int i = 0; i < tokens.count; i++)
	{
		PG_TRY();
		{
			read_batch_consume(&tokens, &qtys, &refs, i, &requests[i]);
		}
		PG_CATCH();
		{
			batch_rethrow(i + 1);
		}
		PG_END_TRY();
	}
	*count = tokens.count;
	return requests;
}

/*
 * hold_consume_batch(tokens text[], qtys numeric[], refs text[])
 *		returns setof hold_settlement
 *
 * hold_consume for many tokens, in request order; one row a hold, with the
 * number of the request as line.  A mistake in one is an error of the whole.
 *
 * Errors as hold_consume, with the number of the request in the detail.
 * Locks as hold_consume, for all tokens at once and in one order.
 */
Datum
hold_consume_batch(PG_FUNCTION_ARGS)
{
	int			count;
	ConsumeRequest *requests = read_batch(fcinfo, &count);
	List	   *attempts = NIL;
	ListCell   *lc;
	Store		store;

	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	for (int i = 0; i < count; i++)
	{
		Attempt    *attempt = palloc0(sizeof(Attempt));

		token_prepare(attempt, &store, &requests[i].token, decide_consume);
		attempt->number = i + 1;
		attempts = lappend(attempts, attempt);
	}
	attempts_run(attempts);
	foreach(lc, attempts)
	{
		Attempt    *attempt = lfirst(lc);

		token_answer(fcinfo, &store, attempt->request,
					 token_holds_told(attempt->standings), attempt->number);
	}
	store_close_after_writing(&store);
	return (Datum) 0;
}
