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
#include "memory.h"
#include "moves.h"
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
	TokenFacts *facts = facts_of_token(attempt->store, snapshot,
									   request->token, true);

	return list_make1(standing_in_room(attempt->store, snapshot, facts,
									   request->room_id));
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
	/* what was found */
	TimestampTz token_last_at;	/* of the newest entry of its token */
	/* the answer */
	Stay		stay;			/* as it is afterwards */
	HoldOutcome outcome;
	List	   *blocking;
} MoveRequest;

/* A room that the stay is in, is to go to, or was in before. */
typedef struct StayRoom
{
	Standing	standing;		/* must be first */
	const Entry *departure;		/* by which the stay left it, or NULL */
} StayRoom;

static StayRoom *
find_room(Attempt *attempt, Snapshot snapshot, const TokenFacts *facts,
		  int64 room_id, List *departures)
{
	StayRoom   *room = palloc0(sizeof(StayRoom));
	ListCell   *lc;

	room->standing = *standing_in_room(attempt->store, snapshot, facts,
									   room_id);
	foreach(lc, departures)
	{
		const Entry *departure = lfirst(lc);

		if (departure->room_id == room_id)
			room->departure = departure;
	}
	return room;
}

/*
 * The room that the stay is in, and the one that it is to go to, if another.
 * One that is to be cancelled goes out of all rooms that remember it.
 */
static List *
find_rooms(Attempt *attempt, Snapshot snapshot, const Stay *stay,
		   const TokenFacts *facts)
{
	MoveRequest *request = attempt->request;
	List	   *departures = moves_departures(facts->entries, stay);
	List	   *rooms = list_make1(find_room(attempt, snapshot, facts,
											 stay->room_id, NIL));
	ListCell   *lc;

	if (request->to_room && request->room_id != stay->room_id)
		rooms = lappend(rooms, find_room(attempt, snapshot, facts,
										 request->room_id, departures));
	if (!request->cancel)
		return rooms;
	foreach(lc, departures)
	{
		rooms = lappend(rooms, find_room(attempt, snapshot, facts,
										 ((const Entry *) lfirst(lc))->room_id,
										 departures));
	}
	return rooms;
}

static List *
find_stay(Attempt *attempt, Snapshot snapshot)
{
	MoveRequest *request = attempt->request;
	Store	   *store = attempt->store;
	Stay	   *stay = palloc(sizeof(Stay));
	TokenFacts	nobody = {0};
	TokenFacts *facts = &nobody;
	List	   *rooms;
	Standing   *from;

	if (!stays_find(store, snapshot, request->stay_id, stay) ||
		!stay->confirmed || !rule_same_text(stay->tenant, store->tenant))
		return NIL;
	if (stay->token != NULL)
		facts = facts_of_token(store, snapshot, stay->token, true);
	request->token_last_at = entries_last_at(facts->entries);
	rooms = find_rooms(attempt, snapshot, stay, facts);
	from = linitial(rooms);
	from->confirmed = list_make1(hold_of_stay(&from->pool, stay));
	return rooms;
}

/* What the token has left in a room without these units. */
static int64
taken_without(const Standing *standing, int64 qty)
{
	return Max(memory_taken(standing) - qty, 0);
}

/* The same without what the stay left behind there when it was moved. */
static int64
taken_without_left(const StayRoom *room)
{
	return taken_without(&room->standing,
						 room->departure == NULL ? 0 : room->departure->qty);
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

/*
 * Moves the stay; nothing is in the way any more.  What its token took in the
 * room that it leaves stays remembered there, until it comes back or is given
 * up.
 */
static void
move_stay(MoveRequest *request, Standing *from, Change *leave, StayRoom *to,
		  Change *arrive)
{
	Hold	   *held = linitial(from->confirmed);
	Note		left = note_of_departure(held->stay);
	Note		note = note_of_stay(held->stay);
	int64		taken = from == &to->standing ?
	taken_without(from, held->qty) : taken_without_left(to);

	request->stay.version++;
	change_leave_room(leave, held, memory_taken(from), &left);
	change_enter_room(arrive, hold_of_stay(&to->standing.pool, &request->stay),
					  taken, &note);
	from->change = leave;
	to->standing.change = arrive;
}

/*
 * The move's own moment, which both rooms tell of: by it the two entries are
 * known to belong together, also where the clock was set back.
 */
static TimestampTz
moment_of_move(const MoveRequest *request, const Standing *from,
			   const Standing *to, TimestampTz clock)
{
	TimestampTz last = Max(from->pool.last_at, to->pool.last_at);

	return Max(clock, Max(last, request->token_last_at) + 1);
}

static void
decide_move_to(Attempt *attempt, Snapshot snapshot, Standing *from,
			   StayRoom *room)
{
	MoveRequest *request = attempt->request;
	Standing   *to = &room->standing;
	Stay	   *stay = ((Hold *) linitial(from->confirmed))->stay;
	TimestampTz at = moment_of_move(request, from, to, attempt->clock);
	Change	   *leave = change_begin(&from->pool, at);
	Change	   *arrive = to == from ? leave : change_begin(&to->pool, at);

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
	move_stay(request, from, leave, room, arrive);
}

/* Gives the stay up where it is, and the memory of it where it was. */
static void
decide_cancel(Attempt *attempt, List *rooms)
{
	MoveRequest *request = attempt->request;
	Hold	   *held = linitial(((Standing *) linitial(rooms))->confirmed);
	Note		note = note_of_departure(held->stay);
	ListCell   *lc;

	foreach(lc, rooms)
	{
		StayRoom   *room = lfirst(lc);
		Standing   *standing = &room->standing;

		standing->change = change_begin(&standing->pool, attempt->clock);
		if (room->departure == NULL)
			change_give_up(standing->change, held,
						   taken_without(standing, held->qty), &note);
		else
			change_forget_stay(standing->change, room->departure, 0,
							   taken_without_left(room), &note);
	}
	request->outcome = OUTCOME_RETURNED;
}

static void
decide_move(Attempt *attempt, Snapshot snapshot, List *rooms)
{
	MoveRequest *request = attempt->request;

	request->outcome = OUTCOME_NOT_FOUND;
	request->blocking = NIL;
	if (rooms == NIL)
		return;
	if (request->cancel)
		decide_cancel(attempt, rooms);
	else
		decide_move_to(attempt, snapshot, linitial(rooms), llast(rooms));
}

static void
run_move(Store *store, MoveRequest *request)
{
	Attempt		attempt = {0};

	attempt.store = store;
	attempt.request = request;
	attempt.find = find_stay;
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
 * Gives up a confirmed stay, and what is remembered of it in rooms that it was
 * moved from; false if there is none of that id.
 *
 * Error 22004 for NULL.  Locks the rows of all these rooms until the
 * transaction ends.
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
