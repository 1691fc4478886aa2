/*-------------------------------------------------------------------------
 *
 * guard.c
 *	  The constraint trigger hold_require_consumed for the applications' own
 *	  tables.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "compat.h"
#include "executor/spi.h"
#include "moves.h"
#include "rules.h"
#include "standing.h"
#include "store.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

SQL_FUNCTION(hold_require_consumed);

static void
require_trigger(FunctionCallInfo fcinfo)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_AFTER(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be called by a constraint trigger for insert or update of each row",
						"hold_require_consumed")));
	if (trigger->tg_trigger->tgnargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("function \"%s\" takes the name of the token's column",
						"hold_require_consumed")));
}

/* The number of the column that the trigger names.  Error 42703. */
static int
token_column(TriggerData *trigger)
{
	Relation	rel = trigger->tg_relation;
	char	   *name = trigger->tg_trigger->tgargs[0];
	int			column = SPI_fnumber(RelationGetDescr(rel), name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(rel))));
	return column;
}

/* A column's value as text, whatever its type; NULL for NULL. */
static text *
column_text(TriggerData *trigger, TupleTableSlot *slot, int column)
{
	Oid			type = TupleDescAttr(RelationGetDescr(trigger->tg_relation),
									 column - 1)->atttypid;
	Oid			output;
	bool		varlena;
	bool		isnull;
	Datum		value = slot_getattr(slot, column, &isnull);

	if (isnull)
		return NULL;
	if (type == BPCHAROID)		/* its blanks at the end mean nothing */
		value = DirectFunctionCall1(rtrim1, value);
	getTypeOutputInfo(type, &output, &varlena);
	return cstring_to_text(OidOutputFunctionCall(output, value));
}

/* Was the row updated without a change of its token? */
static bool
token_is_unchanged(TriggerData *trigger, int column, const text *token)
{
	text	   *before;

	if (!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		return false;
	before = column_text(trigger, trigger->tg_trigslot, column);
	return before != NULL && rule_same_text(before, token);
}

/* The row as the statement left it. */
static TupleTableSlot *
new_row(TriggerData *trigger)
{
	return TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ?
		trigger->tg_newslot : trigger->tg_trigslot;
}

/*
 * Does the row still have this token, in its newest version?  It can have been
 * updated since, and what became of it counts; or it is gone.
 */
static bool
row_has_token(TriggerData *trigger, int column, const text *token)
{
	Relation	rel = trigger->tg_relation;
	ItemPointerData tid = new_row(trigger)->tts_tid;
	TupleTableSlot *newest = table_slot_create(rel, NULL);
	text	   *its_token = NULL;

	CommandCounterIncrement();	/* the row may be of the last command */
	if (row_find_newest(rel, &tid, store_look(), newest))
		its_token = column_text(trigger, newest, column);
	store_look_away();
	ExecDropSingleTupleTableSlot(newest);
	return its_token != NULL && rule_same_text(its_token, token);
}

/* The entry by which a stay came that left with this one, or NULL. */
static const Entry *
find_arrival(List *entries, const Entry *departure)
{
	ListCell   *lc;

	foreach(lc, entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry_is_arrival(entry) &&
			moves_departure(entries, entry) == departure)
			return entry;
	}
	return NULL;
}

/*
 * What of this transaction's consumption is left after such an entry.  A stay
 * that is moved stays what it was.
 */
static int64
left_after_return(List *entries, const Entry *returned, int64 taken)
{
	const Entry *arrival = find_arrival(entries, returned);

	if (arrival == NULL)
		return Max(taken - returned->qty, 0);
	return taken < returned->qty ? taken :
		taken - returned->qty + arrival->qty;
}

/*
 * What this transaction consumed, as these entries tell in order, net of what it
 * returned since.  A return before that was of older units.
 */
static int64
taken_by_us(List *entries)
{
	int64		taken = 0;
	ListCell   *lc;

	foreach(lc, entries)
	{
		const Entry *entry = lfirst(lc);

		if (!entry->ours)
			continue;
		if (entry->event == EVENT_CONSUMED && !entry_is_arrival(entry))
			taken += entry->qty;
		else if (entry->event == EVENT_RETURNED)
			taken = left_after_return(entries, entry, taken);
	}
	return taken;
}

/* Those of the entries that are about holds made when that one was made. */
static List *
of_same_hold(List *entries, const Entry *consumed)
{
	List	   *found = NIL;
	ListCell   *lc;

	foreach(lc, entries)
	{
		if (((const Entry *) lfirst(lc))->held_since == consumed->held_since)
			found = lappend(found, lfirst(lc));
	}
	return found;
}

/*
 * The same of rooms.  They count together, as a stay can be consumed in one and
 * returned in another; but what is returned of an older stay is not taken off.
 */
static bool
stays_taken_by_us(List *entries)
{
	ListCell   *lc;

	list_sort(entries, entries_compare_by_time);
	foreach(lc, entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry->ours && entry->event == EVENT_CONSUMED &&
			taken_by_us(of_same_hold(entries, entry)) > 0)
			return true;
	}
	return false;
}

static bool
is_consumed_by_us(Store *store, const text *token)
{
	bool		consumed = false;
	List	   *of_rooms = NIL;
	ListCell   *lc;

	foreach(lc, standings_of_token(store, store_look(), token))
	{
		const Standing *standing = lfirst(lc);

		if (standing->pool.is_room)
			of_rooms = list_concat(of_rooms, standing->entries);
		else
			consumed |= taken_by_us(standing->entries) > 0;
	}
	store_look_away();
	return consumed || stays_taken_by_us(of_rooms);
}

/*
 * hold_require_consumed('token_column') returns trigger
 *
 * For CREATE CONSTRAINT TRIGGER ... AFTER INSERT OR UPDATE ... DEFERRABLE
 * INITIALLY DEFERRED FOR EACH ROW.  Error 23514 unless the row's token was
 * consumed in the same transaction.  NULL passes, and so does a row that is
 * gone by then or whose token did not change.  What is returned after the
 * check is not seen by it.  Reads only; takes no row lock.
 */
Datum
hold_require_consumed(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Store		store;
	text	   *token;
	int			column;
	bool		consumed;

	require_trigger(fcinfo);
	column = token_column(trigger);
	token = column_text(trigger, new_row(trigger), column);
	if (token == NULL || token_is_unchanged(trigger, column, token) ||
		!row_has_token(trigger, column, token))
		return PointerGetDatum(NULL);

	store_open_for_reading(&store, fcinfo);
	consumed = is_consumed_by_us(&store, token);
	store_close(&store);
	if (!consumed)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("row of table \"%s\" has a token that was not consumed in this transaction",
						RelationGetRelationName(trigger->tg_relation)),
				 errhint("Call hold_consume for it in the same transaction."),
				 errtable(trigger->tg_relation)));
	return PointerGetDatum(NULL);
}
