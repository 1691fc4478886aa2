/*-------------------------------------------------------------------------
 *
 * stay_try.c
 *	  The verbs hold_try_stay and hold_try_stays.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "attempt.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "memory.h"
#include "rules.h"
#include "settings.h"
#include "stay_answers.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_try_stay);
SQL_FUNCTION(hold_try_stays);

/* A token's claim on one room. */
typedef struct StayClaim
{
	Standing	standing;		/* must be first */
	List	   *blocking;		/* stays of others in the way, of Stay */
	List	   *expired;		/* such as are in nobody's way, of Stay */
	TimestampTz expires_at;		/* of the hold that it gets */
} StayClaim;

typedef struct StayRequest
{
	text	   *token;
	int64	   *rooms;			/* none twice */
	int			count;
	Nights		nights;
	int64		ttl;
	Jsonb	   *payload;		/* or NULL */
} StayRequest;

/* --- finding --- */

static List *
find_rooms(Attempt *attempt, Snapshot snapshot)
{
	StayRequest *request = attempt->request;
	TokenFacts *facts = facts_of_token(attempt->store, snapshot,
									   request->token, true);
	List	   *claims = NIL;

	for (int i = 0; i < request->count; i++)
	{
		StayClaim  *claim = palloc0(sizeof(StayClaim));

		claim->standing = *standing_in_room(attempt->store, snapshot, facts,
											request->rooms[i]);
		claims = lappend(claims, claim);
	}
	return claims;
}

/* Sorts the stays of others that have a night in common with the request. */
static void
survey_room(Attempt *attempt, Snapshot snapshot, StayClaim *claim)
{
	StayRequest *request = attempt->request;
	Standing   *standing = &claim->standing;
	ListCell   *lc;

	claim->expires_at = attempt->clock + request->ttl;
	if (standing_is_live(standing, attempt->clock))
		claim->expires_at = Max(claim->expires_at, standing->hold->expires_at);
	foreach(lc, stays_overlapping(attempt->store, snapshot,
								  standing->pool.room_id, request->nights))
	{
		Stay	   *stay = lfirst(lc);

		if (standing_holds_stay(standing, stay))
			continue;
		if (rule_is_live(stay->expires_at, attempt->clock))
			claim->blocking = lappend(claim->blocking, stay);
		else
			claim->expired = lappend(claim->expired, stay);
	}
}

/* --- judging --- */

static bool
has_same_nights(const Standing *standing, Nights nights)
{
	const Hold *hold = standing->hold;

	return list_length(standing->holds) == 1 &&
		hold->stay->nights.first == nights.first &&
		hold->stay->nights.departure == nights.departure;
}

static HoldOutcome
judge_room(const StayClaim *claim, Nights nights, TimestampTz clock)
{
	const Standing *standing = &claim->standing;
	bool		live = standing_is_live(standing, clock);

	if (!live && (standing->confirmed != NIL || memory_taken(standing) > 0))
		return OUTCOME_ALREADY_CONSUMED;
	if (claim->blocking != NIL)
		return OUTCOME_STAY_TAKEN;
	if (!live)
		return OUTCOME_GRANTED;
	return has_same_nights(standing, nights) ?
		OUTCOME_RENEWED : OUTCOME_CHANGED;
}

/* --- changing --- */

static void
grant_room(Change *change, const StayRequest *request, const StayClaim *claim,
		   TimestampTz clock)
{
	Stay	   *stay = palloc0(sizeof(Stay));

	stay->room_id = claim->standing.pool.room_id;
	stay->nights = request->nights;
	stay->expires_at = claim->expires_at;
	stay->held_since = clock;
	stay->version = 1;
	stay->token = request->token;
	stay->payload = request->payload;
	change_grant(change, hold_of_stay(&change->pool, stay));
}

/*
 * Moves a live stay to the nights that are asked for.  Of several pieces the
 * first is moved, after the others were given back.
 */
static void
move_room(Change *change, const StayRequest *request, const StayClaim *claim)
{
	const Standing *standing = &claim->standing;
	int64		remaining = standing_qty(standing);

	for (int i = list_length(standing->holds) - 1; i > 0; i--)
	{
		Hold	   *piece = list_nth(standing->holds, i);

		remaining -= piece->qty;
		change_cut(change, piece, piece->stay->nights, remaining);
	}
	change_move(change, standing->hold, request->nights, claim->expires_at,
				request->payload);
}

static Change *
change_of_room(Store *store, const StayRequest *request,
			   const StayClaim *claim, TimestampTz clock)
{
	const Standing *standing = &claim->standing;
	Change	   *change = change_begin(&standing->pool, clock);
	ListCell   *lc;

	foreach(lc, claim->expired)
	{
		change_expire(change, hold_of_stay(&standing->pool, lfirst(lc)));
	}
	switch (standing->outcome)
	{
		case OUTCOME_RENEWED:
			change_renew(change, standing->hold, standing->hold->qty,
						 claim->expires_at, request->payload);
			break;
		case OUTCOME_CHANGED:
			move_room(change, request, claim);
			break;
		default:
			foreach(lc, standing->holds)
			{
				change_expire(change, lfirst(lc));
			}
			grant_room(change, request, claim, clock);
			break;
	}
	return change;
}

static void
decide_rooms(Attempt *attempt, Snapshot snapshot, List *claims)
{
	StayRequest *request = attempt->request;
	bool		refused = false;
	ListCell   *lc;

	foreach(lc, claims)
	{
		StayClaim  *claim = lfirst(lc);

		survey_room(attempt, snapshot, claim);
		claim->standing.outcome = judge_room(claim, request->nights,
											 attempt->clock);
		refused |= !outcome_is_grant(claim->standing.outcome);
	}
	foreach(lc, claims)
	{
		StayClaim  *claim = lfirst(lc);

		if (!refused)
			claim->standing.change = change_of_room(attempt->store, request,
													claim, attempt->clock);
		else if (outcome_is_grant(claim->standing.outcome))
			claim->standing.outcome = OUTCOME_BLOCKED;
	}
}

/* --- answering --- */

static StayAnswer
answer_of_room(const StayRequest *request, const StayClaim *claim,
			   TimestampTz clock)
{
	StayAnswer	answer = {0};
	const Standing *standing = &claim->standing;
	const Hold *hold = standing->hold;
	bool		live = standing_is_live(standing, clock);

	answer.outcome = standing->outcome;
	answer.room_id = standing->pool.room_id;
	answer.nights = request->nights;
	answer.blocking = claim->blocking;
	answer.held = live || outcome_is_grant(answer.outcome);
	if (outcome_is_grant(answer.outcome))
	{
		answer.expires_at = claim->expires_at;
		answer.version = standing_version(standing, clock) + 1;
	}
	else if (live)
	{
		answer.expires_at = hold->expires_at;
		answer.version = hold->version;
	}
	return answer;
}

static void
run_stays(FunctionCallInfo fcinfo, StayRequest *request)
{
	Attempt		attempt = {0};
	Store		store;
	ListCell   *lc;

	request->nights = nights_of_argument(fcinfo, 2, "stay");
	request->ttl = argument_ttl(fcinfo, 3);
	if (request->ttl == 0)
		request->ttl = usual_ttl();
	request->payload = argument_payload(fcinfo, 4);

	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	attempt.store = &store;
	attempt.request = request;
	attempt.find = find_rooms;
	attempt.decide = decide_rooms;
	foreach(lc, attempt_run(&attempt))
	{
		StayAnswer	answer = answer_of_room(request, lfirst(lc), attempt.clock);

		add_stay_answer(fcinfo, &store.relations, &answer);
	}
	store_close_after_writing(&store);
}

/*
 * hold_try_stay(token text, room_id bigint, stay daterange, ttl interval,
 *				 payload jsonb)
 *
 * Holds every night of the room for the token, or none.  Again with the same
 * nights renews, with others moves.  A refusal names the nights that are
 * taken.
 *
 * Errors: 22004 and 22023 for bad arguments.  Locks the room's row until the
 * transaction ends.
 */
Datum
hold_try_stay(PG_FUNCTION_ARGS)
{
	StayRequest request = {0};
	int64		room;

	request.token = argument_key(fcinfo, 0, "token");
	require_argument(fcinfo, 1, "room_id");
	room = PG_GETARG_INT64(1);
	request.rooms = &room;
	request.count = 1;
	run_stays(fcinfo, &request);
	return (Datum) 0;
}

static int
compare_rooms(const void *a, const void *b)
{
	int64		first = *(const int64 *) a;
	int64		second = *(const int64 *) b;

	return first < second ? -1 : first > second;
}

static void
refuse_twice(const int64 *rooms, int count)
{
	int64	   *ordered = palloc(sizeof(int64) * count);

	memcpy(ordered, rooms, sizeof(int64) * count);
	qsort(ordered, count, sizeof(int64), compare_rooms);
	for (int i = 1; i < count; i++)
	{
		if (ordered[i] == ordered[i - 1])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("room_ids must not name a room twice"),
					 errdetail("Room " INT64_FORMAT " is named twice.",
							   ordered[i])));
	}
	pfree(ordered);
}

static void
read_rooms(FunctionCallInfo fcinfo, int number, StayRequest *request)
{
	ArrayArgument array;

	require_argument(fcinfo, number, "room_ids");
	array = argument_array(fcinfo, number, "room_ids", setting_max_lines);
	if (array.count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("room_ids must not be empty"),
				 errdetail("A request has 1 to %d rooms.", setting_max_lines)));
	request->count = array.count;
	request->rooms = palloc(sizeof(int64) * array.count);
	for (int i = 0; i < array.count; i++)
	{
		if (array.isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("room_ids must not contain nulls"),
					 errdetail("Element %d is null.", i + 1)));
		request->rooms[i] = DatumGetInt64(array.values[i]);
	}
	refuse_twice(request->rooms, request->count);
}

/*
 * hold_try_stays(token text, room_ids bigint[], stay daterange, ttl interval,
 *				  payload jsonb)
 *
 * The same for several rooms, all or none; one row a room, in request
 * order.
 */
Datum
hold_try_stays(PG_FUNCTION_ARGS)
{
	StayRequest request = {0};

	request.token = argument_key(fcinfo, 0, "token");
	read_rooms(fcinfo, 1, &request);
	run_stays(fcinfo, &request);
	return (Datum) 0;
}
