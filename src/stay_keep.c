/*-------------------------------------------------------------------------
 *
 * stay_keep.c
 *	  The verbs on stays that are there: hold_release_stay, hold_move_stay,
 *	  hold_cancel_stay.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "attempt.h"
#include "compat.h"
#include "rules.h"
#include "stay_answers.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_release_stay);
SQL_FUNCTION(hold_move_stay);
SQL_FUNCTION(hold_cancel_stay);

/* --- releasing nights --- */

typedef struct ReleaseRequest
{
	text	   *token;
	int64		room_id;
	bool		partial;		/* are there nights? */
	Nights		nights;
	int64		released;		/* the answer */
} ReleaseRequest;

static List *
find_own_room(Attempt *attempt, Snapshot snapshot)
{
	ReleaseRequest *request = attempt->request;

	return list_make1(standing_in_room(attempt->store, snapshot,
									   request->token, request->room_id));
}

/* The part of a stay that is to be given back; false if there is none. */
static bool
common_nights(Nights stay, const ReleaseRequest *request, Nights *common)
{
	*common = stay;
	if (request->partial)
	{
		common->first = Max(stay.first, request->nights.first);
		common->departure = Min(stay.departure, request->nights.departure);
	}
	return common->first < common->departure;
}

static void
decide_release_nights(Attempt *attempt, Snapshot snapshot, List *standings)
{
	ReleaseRequest *request = attempt->request;
	Standing   *standing = linitial(standings);
	int64		remaining = standing_qty(standing);
	ListCell   *lc;

	request->released = 0;
	if (!standing_is_live(standing, attempt->clock))
		return;
	foreach(lc, standing->holds)
	{
		Hold	   *piece = lfirst(lc);
		Nights		cut;

		if (!common_nights(piece->stay->nights, request, &cut))
			continue;
		if (standing->change == NULL)
			standing->change = change_begin(&standing->pool, attempt->clock);
		request->released += nights_count(cut);
		remaining -= nights_count(cut) * UNITS_PER_ONE;
		change_cut(standing->change, piece, cut, remaining);
	}
}

/*
 * hold_release_stay(token text, room_id bigint, nights daterange)
 *		returns integer
 *
 * Gives back those of the nights that the token still holds, all of them for
 * NULL, and returns how many.  The rest stays held, also in two pieces.
 *
 * Errors: 22004 and 22023 for bad arguments.  Locks the room's row until the
 * transaction ends.
 */
Datum
hold_release_stay(PG_FUNCTION_ARGS)
{
	ReleaseRequest request = {0};
	Attempt		attempt = {0};
	Store		store;

	request.token = argument_key(fcinfo, 0, "token");
	require_argument(fcinfo, 1, "room_id");
	request.room_id = PG_GETARG_INT64(1);
	request.partial = !PG_ARGISNULL(2);
	if (request.partial)
		request.nights = nights_of_argument(fcinfo, 2, "nights");

	store_open_for_writing(&store, fcinfo);
	attempt.store = &store;
	attempt.request = &request;
	attempt.find = find_own_room;
	attempt.decide = decide_release_nights;
	(void) attempt_run(&attempt);
	store_close_after_writing(&store);
	PG_RETURN_INT32((int32) request.released);
}

/* --- moving and cancelling a confirmed stay --- */

typedef struct MoveRequest
{
	int64		stay_id;
	bool		cancel;
	bool		to_room;		/* is there a room? */
	int64		room_id;
	bool		to_nights;		/* are there nights? */
	Nights		nights;
	/* the answer */
	Stay		stay;			/* as it is afterwards */
	HoldOutcome outcome;
	List	   *blocking;
} MoveRequest;

/* The room that the stay is in and the one that it is to go to, if another. */
static List *
find_both_rooms(Attempt *attempt, Snapshot snapshot)
{
	MoveRequest *request = attempt->request;
	Store	   *store = attempt->store;
	Standing   *from = palloc0(sizeof(Standing));
	Standing   *to;
	Stay	   *stay = palloc(sizeof(Stay));

	if (!stays_find(store, snapshot, request->stay_id, stay) ||
		!stay->confirmed || !rule_same_text(stay->tenant, store->tenant))
		return NIL;
	(void) pools_find_room(store, snapshot, store->tenant, stay->room_id,
						   &from->pool);
	if (stay->token != NULL)
		from->entries = entries_of_token(store, snapshot, stay->token,
										 from->pool.id);
	from->confirmed = list_make1(hold_of_stay(&from->pool, stay));
	if (!request->to_room || request->room_id == stay->room_id)
		return list_make1(from);
	to = standing_in_room(store, snapshot, stay->token, request->room_id);
	return list_make2(from, to);
}

/* What the token of a stay has left in its room without it. */
static int64
taken_without(const Standing *from, const Stay *stay)
{
	return Max(standing_taken(from) -
			   nights_count(stay->nights) * UNITS_PER_ONE, 0);
}

/* Sorts what is there on those nights: in the way, or expired. */
static void
survey_target(Attempt *attempt, Snapshot snapshot, Change *change,
			  const Standing *to, const Stay *stay)
{
	MoveRequest *request = attempt->request;
	ListCell   *lc;

	foreach(lc, stays_overlapping(attempt->store, snapshot,
								  to->pool.room_id, request->nights))
	{
		Stay	   *other = lfirst(lc);

		if (other->id == stay->id)
			continue;
		if (rule_is_live(other->expires_at, attempt->clock))
			request->blocking = lappend(request->blocking, other);
		else if (!standing_holds_stay(to, other))
			change_expire(change, hold_of_stay(&to->pool, other));
	}
}

/*
 * Expires what the token itself held there, whatever its nights: a token has
 * one stay in a room, and its next entry there is about the one that comes.
 */
static void
expire_own(Change *change, const Standing *to)
{
	ListCell   *lc;

	foreach(lc, to->holds)
	{
		change_expire(change, lfirst(lc));
	}
}

/* A token has one stay in a room. */
static bool
has_a_stay(const Standing *standing, TimestampTz clock)
{
	return standing->confirmed != NIL || standing_is_live(standing, clock);
}

/* What the stay is to be. */
static void
plan_stay(MoveRequest *request, const Stay *stay, const Pool *room)
{
	request->stay = *stay;
	request->stay.room_id = room->room_id;
	if (request->to_nights)
		request->stay.nights = request->nights;
	request->nights = request->stay.nights;
}

static bool
is_where_it_should_be(const MoveRequest *request, const Stay *stay)
{
	return request->stay.room_id == stay->room_id &&
		request->nights.first == stay->nights.first &&
		request->nights.departure == stay->nights.departure;
}

/* What the ledger notes of a stay beside its nights. */
static Note
note_of_stay(const Stay *stay)
{
	Note		note = {0};

	note.ref = stay->ref;
	note.reserved = stay->reserved;
	note.reservation_id = stay->reservation_id;
	return note;
}

/*
 * What it notes where the stay goes away.  There the ref of a token is one
 * that was given to hold_return, which has to know its own again.
 */
static Note
note_of_departure(const Stay *stay)
{
	Note		note = note_of_stay(stay);

	if (stay->token != NULL)
		note.ref = NULL;
	return note;
}

/* Moves the stay; nothing is in the way any more. */
static void
move_stay(MoveRequest *request, Standing *from, Change *leave, Standing *to,
		  Change *arrive)
{
	Hold	   *held = linitial(from->confirmed);
	Note		left = note_of_departure(held->stay);
	Note		note = note_of_stay(held->stay);
	int64		without = taken_without(from, held->stay);

	request->stay.version++;
	if (from == to)
	{
		change_leave_room(leave, held, without, &left);
		change_enter_room(arrive, hold_of_stay(&to->pool, &request->stay),
						  without, &note);
	}
	else
	{
		/* what the token took in the room that it leaves stays remembered */
		change_leave_room(leave, held, standing_taken(from), &left);
		change_enter_room(arrive, hold_of_stay(&to->pool, &request->stay),
						  standing_taken(to), &note);
	}
	from->change = leave;
	to->change = arrive;
}

static void
decide_move_to(Attempt *attempt, Snapshot snapshot, Standing *from,
			   Standing *to)
{
	MoveRequest *request = attempt->request;
	Stay	   *stay = ((Hold *) linitial(from->confirmed))->stay;
	Change	   *leave = change_begin(&from->pool, attempt->clock);
	Change	   *arrive = to == from ? leave :
	change_begin(&to->pool, attempt->clock);

	plan_stay(request, stay, &to->pool);
	request->outcome = OUTCOME_RENEWED;
	if (is_where_it_should_be(request, stay))
		return;
	survey_target(attempt, snapshot, arrive, to, stay);
	request->outcome = OUTCOME_STAY_TAKEN;
	if (request->blocking != NIL)
		return;
	request->outcome = OUTCOME_BLOCKED;
	if (to != from && has_a_stay(to, attempt->clock))
		return;
	request->outcome = OUTCOME_CHANGED;
	expire_own(arrive, to);
	move_stay(request, from, leave, to, arrive);
}

static void
decide_move(Attempt *attempt, Snapshot snapshot, List *standings)
{
	MoveRequest *request = attempt->request;
	Standing   *from;
	Hold	   *held;
	Note		note;

	request->outcome = OUTCOME_NOT_FOUND;
	request->blocking = NIL;
	if (standings == NIL)
		return;
	from = linitial(standings);
	if (!request->cancel)
	{
		decide_move_to(attempt, snapshot, from, llast(standings));
		return;
	}
	held = linitial(from->confirmed);
	note = note_of_departure(held->stay);
	from->change = change_begin(&from->pool, attempt->clock);
	change_give_up(from->change, held, taken_without(from, held->stay), &note);
	request->outcome = OUTCOME_RETURNED;
}

static void
run_move(Store *store, MoveRequest *request)
{
	Attempt		attempt = {0};

	attempt.store = store;
	attempt.request = request;
	attempt.find = find_both_rooms;
	attempt.decide = decide_move;
	(void) attempt_run(&attempt);
}

/*
 * hold_move_stay(stay_id bigint, room_id bigint, stay daterange)
 *
 * Moves a confirmed stay to another room, to other nights, or both; its own
 * nights are never in its way.  Answers as hold_try_stay does: changed, or
 * renewed if it is there already; not_found for a stay that is not there or
 * not confirmed; blocked where its token has another stay in that room.
 *
 * Errors: 22004 and 22023 for bad arguments.  Locks the rows of both rooms
 * until the transaction ends.
 */
Datum
hold_move_stay(PG_FUNCTION_ARGS)
{
	MoveRequest request = {0};
	StayAnswer	answer = {0};
	Store		store;

	require_argument(fcinfo, 0, "stay_id");
	request.stay_id = PG_GETARG_INT64(0);
	request.to_room = !PG_ARGISNULL(1);
	if (request.to_room)
		request.room_id = PG_GETARG_INT64(1);
	request.to_nights = !PG_ARGISNULL(2);
	if (request.to_nights)
		request.nights = nights_of_argument(fcinfo, 2, "stay");

	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	run_move(&store, &request);
	answer.outcome = request.outcome;
	answer.expires_at = DT_NOEND;
	answer.unknown = request.outcome == OUTCOME_NOT_FOUND;
	if (!answer.unknown)
	{
		answer.room_id = request.stay.room_id;
		answer.nights = request.stay.nights;
		answer.blocking = request.blocking;
		answer.held = true;
		answer.version = request.stay.version;
	}
	add_stay_answer(fcinfo, &store.relations, &answer);
	store_close_after_writing(&store);
	return (Datum) 0;
}

/*
 * hold_cancel_stay(stay_id bigint) returns boolean
 *
 * Gives up a confirmed stay; false if there is none of that id.
 */
Datum
hold_cancel_stay(PG_FUNCTION_ARGS)
{
	MoveRequest request = {0};
	Store		store;

	require_argument(fcinfo, 0, "stay_id");
	request.stay_id = PG_GETARG_INT64(0);
	request.cancel = true;
	store_open_for_writing(&store, fcinfo);
	run_move(&store, &request);
	store_close_after_writing(&store);
	PG_RETURN_BOOL(request.outcome == OUTCOME_RETURNED);
}
