/*-------------------------------------------------------------------------
 *
 * stay_insert.c
 *	  The trigger by which applications insert confirmed stays directly.
 *
 * It locks the room first, makes way where an expired hold stands, and writes
 * the ledger; then the exclusion constraint has the last word.  A row that
 * brings its stay_id along comes from a dump, with its ledger, and is left as
 * it is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "attempt.h"
#include "commands/trigger.h"
#include "compat.h"
#include "executor/spi.h"
#include "rules.h"
#include "session.h"
#include "settings.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_insert_stay);

typedef struct InsertRequest
{
	text	   *tenant;			/* as given, or NULL */
	Stay		stay;
	bool		conflict;		/* the constraint will refuse it */
} InsertRequest;

/* --- reading the row --- */

static Datum
column(TriggerData *trigger, const char *name, bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(trigger->tg_relation);

	return SPI_getbinval(trigger->tg_trigtuple, desc, SPI_fnumber(desc, name),
						 isnull);
}

static bool
is_given(TriggerData *trigger, const char *name)
{
	bool		isnull;

	(void) column(trigger, name, &isnull);
	return !isnull;
}

static void
require_given(TriggerData *trigger, const char *name)
{
	if (!is_given(trigger, name))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

static void
refuse_given(TriggerData *trigger, const char *name)
{
	if (is_given(trigger, name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot be given for a confirmed stay", name),
				 errhint("Hold a room with hold_try_stay.")));
}

static void
read_row(TriggerData *trigger, InsertRequest *request)
{
	Stay	   *stay = &request->stay;
	bool		isnull;
	Datum		value;

	require_given(trigger, "room_id");
	require_given(trigger, "stay");
	refuse_given(trigger, "token");
	refuse_given(trigger, "token_key");
	refuse_given(trigger, "expires_at");
	stay->room_id = DatumGetInt64(column(trigger, "room_id", &isnull));
	stay->nights = nights_of_range(DatumGetRangeTypeP(column(trigger, "stay", &isnull)),
								   setting_max_nights);
	value = column(trigger, "tenant", &isnull);
	request->tenant = isnull ? NULL : DatumGetTextPP(value);
	value = column(trigger, "reservation_id", &isnull);
	stay->reserved = !isnull;
	stay->reservation_id = isnull ? 0 : DatumGetInt64(value);
	value = column(trigger, "ref", &isnull);
	stay->ref = isnull ? NULL : DatumGetTextPP(value);
	stay->confirmed = true;
	stay->expires_at = DT_NOEND;
	if (!stay->reserved && stay->ref == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a stay needs a reservation_id or a ref"),
				 errhint("One of them makes it confirmed; hold a room with hold_try_stay.")));
}

/* --- making way --- */

static List *
find_room(Attempt *attempt, Snapshot snapshot)
{
	InsertRequest *request = attempt->request;
	Standing   *standing = palloc0(sizeof(Standing));

	(void) pools_find_room(attempt->store, snapshot, attempt->store->tenant,
						   request->stay.room_id, &standing->pool);
	return list_make1(standing);
}

/*
 * Expires what is in nobody's way.  Where a stay of somebody is in the way,
 * only that is done: the constraint speaks next.
 */
static void
decide_insert(Attempt *attempt, Snapshot snapshot, List *standings)
{
	InsertRequest *request = attempt->request;
	Standing   *standing = linitial(standings);
	Change	   *change = change_begin(&standing->pool, attempt->clock);
	Note		note = {0};
	ListCell   *lc;

	request->conflict = false;
	foreach(lc, stays_overlapping(attempt->store, snapshot,
								  request->stay.room_id,
								  request->stay.nights))
	{
		Stay	   *other = lfirst(lc);

		if (rule_is_live(other->expires_at, attempt->clock))
			request->conflict = true;
		else
			change_expire(change, hold_of_stay(&standing->pool, other));
	}
	note.ref = request->stay.ref;
	note.reserved = request->stay.reserved;
	note.reservation_id = request->stay.reservation_id;
	request->stay.held_since = attempt->clock;
	if (!request->conflict)
		change_note_stay(change, hold_of_stay(&standing->pool,
											  &request->stay), &note);
	standing->change = change;
}

/* --- the row as it is stored --- */

static HeapTuple
stored_row(TriggerData *trigger, Store *store, const Stay *stay)
{
	TupleDesc	desc = RelationGetDescr(trigger->tg_relation);
	int			columns[4];
	Datum		values[4];
	bool		isnull[4] = {0};

	columns[0] = SPI_fnumber(desc, "stay_id");
	values[0] = Int64GetDatum(stays_next_id(store));
	columns[1] = SPI_fnumber(desc, "tenant");
	values[1] = PointerGetDatum(store->tenant);
	columns[2] = SPI_fnumber(desc, "held_since");
	values[2] = TimestampTzGetDatum(stay->held_since);
	columns[3] = SPI_fnumber(desc, "version");
	values[3] = Int32GetDatum(1);
	return heap_modify_tuple_by_cols(trigger->tg_trigtuple, desc, 4, columns,
									 values, isnull);
}

static void
require_own_tenant(const InsertRequest *request, const Store *store)
{
	if (request->tenant != NULL &&
		!rule_same_text(request->tenant, store->tenant))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot insert a stay of another tenant")));
}

/*
 * hold_insert_stay() returns trigger
 *
 * BEFORE INSERT of each row of room_stays.  Errors 22004 and 22023 for values
 * out of their limits, 42501 for another tenant.  Locks the room's row until
 * the transaction ends.
 */
Datum
hold_insert_stay(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	InsertRequest request = {0};
	Attempt		attempt = {0};
	Store		store;
	HeapTuple	row;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be called as a trigger",
						"hold_insert_stay")));
	if (is_given(trigger, "stay_id"))
		return PointerGetDatum(trigger->tg_trigtuple);

	read_row(trigger, &request);
	store_open_for_writing(&store, fcinfo);
	require_own_tenant(&request, &store);
	attempt.store = &store;
	attempt.request = &request;
	attempt.needs_locks = true;
	attempt.find = find_room;
	attempt.decide = decide_insert;
	(void) attempt_run(&attempt);
	row = stored_row(trigger, &store, &request.stay);
	store_close_after_writing(&store);
	return PointerGetDatum(row);
}
