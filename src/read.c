/*-------------------------------------------------------------------------
 *
 * read.c
 *	  What can be asked: hold_available, hold_available_many, hold_count,
 *	  hold_get.
 *
 * Readers judge by the snapshot of the statement that calls them, write
 * nothing and lock nothing, so they work in a read-only transaction and on a
 * standby.  Expired holds are free for them, swept or not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "answers.h"
#include "arguments.h"
#include "compat.h"
#include "classes.h"
#include "memory.h"
#include "rules.h"
#include "session.h"
#include "source.h"
#include "standing.h"
#include "store.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "vacancy.h"

SQL_FUNCTION(hold_available);
SQL_FUNCTION(hold_available_many);
SQL_FUNCTION(hold_count);
SQL_FUNCTION(hold_get);
SQL_FUNCTION(hold_units);
SQL_FUNCTION(hold_token_key);

/* Finds the pool, or what a class would make of that name. */
static bool
find_pool(Store *store, text *key, Pool *pool)
{
	Snapshot	snapshot = GetActiveSnapshot();
	PoolClass	class;
	bool		found = pools_find(store, snapshot, key, pool);
	int64		consumed;

	if (found && !pool->retired)
		return true;
	if (!classes_find_for_pool(store, snapshot, key, &class))
		return false;
	consumed = found ? pools_consumed(store, snapshot, pool) : 0;
	pool_init(pool, store->tenant, key);
	classes_shape_pool(&class, pool);
	pool->consumed = consumed;
	return true;
}

static void
require_pool(Store *store, text *key, Pool *pool)
{
	if (!find_pool(store, key, pool))
		pool_raise_unknown(key, NULL);
}

/*
 * hold_available(pool text) returns numeric
 *
 * What the next hold_try could have; NULL where the capacity lives elsewhere.
 * Error 42704 for an unknown pool.
 */
Datum
hold_available(PG_FUNCTION_ARGS)
{
	text	   *key = argument_key(fcinfo, 0, "pool");
	Store		store;
	Pool		pool;
	int64		available;
	bool		known;
	bool		exists;

	store_open_for_reading(&store, fcinfo);
	require_pool(&store, key, &pool);
	known = source_available(&store, GetActiveSnapshot(), &pool,
							 session_clock(), &available, &exists);
	if (!exists)
		pool_raise_unknown(key, NULL);
	store_close(&store);
	if (!known)
		PG_RETURN_NULL();
	PG_RETURN_NUMERIC(rule_numeric(available));
}

static text *
element_key(const ArrayArgument *keys, int i)
{
	text	   *key;

	if (keys->isnull[i])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("pools must not contain nulls"),
				 errdetail("Element %d is null.", i + 1)));
	key = DatumGetTextPP(keys->values[i]);
	rule_key(key, "pool");
	return key;
}

static void
add_availability(FunctionCallInfo fcinfo, Store *store, text *key,
				 TimestampTz clock)
{
	Snapshot	snapshot = GetActiveSnapshot();
	Pool		pool;
	bool		found = find_pool(store, key, &pool);
	Datum		values[4];
	bool		isnull[4] = {false, true, true, true};
	int64		available = 0;
	bool		known = found && source_available(store, snapshot, &pool, clock,
												  &available, &found);

	values[0] = PointerGetDatum(key);
	if (found)
	{
		put_units(&values[1], &isnull[1], known, available);
		put_units(&values[2], &isnull[2], true,
				  vacancy_held(store, snapshot, &pool, clock));
		values[3] = BoolGetDatum(pool.closed);
		isnull[3] = false;
	}
	add_row(fcinfo, values, isnull);
}

/*
 * hold_available_many(pools text[])
 *		returns table (pool, available, held, closed)
 *
 * One row an element, in order, all of one moment; NULL for an unknown pool.
 */
Datum
hold_available_many(PG_FUNCTION_ARGS)
{
	ArrayArgument keys;
	Store		store;
	TimestampTz clock = session_clock();

	require_argument(fcinfo, 0, "pools");
	keys = argument_array(fcinfo, 0, "pools", INT_MAX);
	start_rows(fcinfo);
	store_open_for_reading(&store, fcinfo);
	for (int i = 0; i < keys.count; i++)
		add_availability(fcinfo, &store, element_key(&keys, i), clock);
	store_close(&store);
	return (Datum) 0;
}

/*
 * hold_count(pool text) returns bigint
 *
 * How many live holds the pool has.  Error 42704 for an unknown pool.
 */
Datum
hold_count(PG_FUNCTION_ARGS)
{
	text	   *key = argument_key(fcinfo, 0, "pool");
	Store		store;
	Pool		pool;
	int64		count;

	store_open_for_reading(&store, fcinfo);
	require_pool(&store, key, &pool);
	count = vacancy_count(&store, GetActiveSnapshot(), &pool,
						  session_clock());
	store_close(&store);
	PG_RETURN_INT64(count);
}

#define GET_COLUMNS 14

static void
fill_ended(const Standing *standing, Datum *values, bool *isnull)
{
	const Entry *entry = memory_last_word(standing);
	const Entry *consumed = memory_last_consumption(standing);

	values[3] = Int32GetDatum(entry->generation);
	put_units(&values[4], &isnull[4], true, 0);
	put_time(&values[7], &isnull[7], entry->expires_at);
	values[8] = Int32GetDatum(entry->version);
	values[9] = PointerGetDatum(entry->payload);
	isnull[9] = entry->payload == NULL;
	put_text(&values[10], &isnull[10],
			 consumed != NULL && consumed->held_since == entry->held_since ?
			 consumed->ref : NULL);
	values[13] = Int64GetDatum(entry->reservation_id);
	isnull[13] = !entry->reserved;
}

static void
fill_held(const Hold *hold, bool live, Datum *values, bool *isnull)
{
	values[3] = Int32GetDatum(hold->generation);
	put_units(&values[4], &isnull[4], true, live ? hold->qty : 0);
	values[7] = TimestampTzGetDatum(hold->expires_at);
	values[8] = Int32GetDatum(hold->version);
	values[9] = PointerGetDatum(hold->payload);
	isnull[9] = hold->payload == NULL;
	put_text(&values[10], &isnull[10], hold->ref);
	isnull[13] = true;
}

/* Fills in what is the same for all that a token has in one place. */
static void
fill_place(Store *store, const Standing *standing, Datum *values,
		   bool *isnull)
{
	const Pool *pool = &standing->pool;

	memset(isnull, 0, sizeof(bool) * GET_COLUMNS);
	values[0] = CStringGetTextDatum(pool->is_room ? "stay" : "pool");
	values[1] = PointerGetDatum(pool->key);
	isnull[1] = pool->is_room;
	values[2] = Int64GetDatum(standing_pool_id(standing));
	isnull[2] = pool->is_room;
	put_units(&values[5], &isnull[5], true, memory_taken(standing));
	values[11] = Int64GetDatum(pool->room_id);
	isnull[11] = !pool->is_room;
	isnull[12] = true;
}

static void
fill_nights(Nights nights, Datum *values, bool *isnull)
{
	values[12] = nights_range(nights);
	isnull[12] = false;
}

static void
add_held(FunctionCallInfo fcinfo, Store *store, const Standing *standing,
		 const Hold *hold, bool live)
{
	Datum		values[GET_COLUMNS];
	bool		isnull[GET_COLUMNS];
	Nights		nights;

	fill_place(store, standing, values, isnull);
	values[6] = ObjectIdGetDatum(store->relations.outcomes[live ?
														   OUTCOME_GRANTED :
														   OUTCOME_EXPIRED]);
	fill_held(hold, live, values, isnull);
	if (hold->stay != NULL && live)
		fill_nights(hold->stay->nights, values, isnull);
	else if (memory_nights(standing, &nights))
		fill_nights(nights, values, isnull);
	add_row(fcinfo, values, isnull);
}

/*
 * A stay has a row for each piece that is held.  Once it has expired it is told
 * as one, since pieces may have been cleared away.
 */
static void
add_all_held(FunctionCallInfo fcinfo, Store *store, const Standing *standing,
			 TimestampTz clock)
{
	bool		live = standing_is_live(standing, clock);
	ListCell   *lc;

	foreach(lc, standing->holds)
	{
		add_held(fcinfo, store, standing, lfirst(lc), live);
		if (!live)
			break;
	}
}

static void
add_confirmed(FunctionCallInfo fcinfo, Store *store, const Standing *standing,
			  const Hold *hold)
{
	Datum		values[GET_COLUMNS];
	bool		isnull[GET_COLUMNS];

	fill_place(store, standing, values, isnull);
	fill_held(hold, false, values, isnull);
	put_units(&values[5], &isnull[5], true, hold->qty);
	values[6] = ObjectIdGetDatum(store->relations.outcomes[OUTCOME_CONSUMED]);
	isnull[7] = true;
	fill_nights(hold->stay->nights, values, isnull);
	values[13] = Int64GetDatum(hold->stay->reservation_id);
	isnull[13] = !hold->stay->reserved;
	add_row(fcinfo, values, isnull);
}

static void
add_ended(FunctionCallInfo fcinfo, Store *store, const Standing *standing,
		  TimestampTz clock)
{
	HoldOutcome state = memory_state(standing, clock);
	Datum		values[GET_COLUMNS];
	bool		isnull[GET_COLUMNS];
	Nights		nights;

	fill_place(store, standing, values, isnull);
	values[6] = ObjectIdGetDatum(store->relations.outcomes[state]);
	fill_ended(standing, values, isnull);
	if (memory_nights(standing, &nights))
		fill_nights(nights, values, isnull);
	add_row(fcinfo, values, isnull);
}

/* Was the token's stay moved to another room?  It is told there. */
static bool
was_moved_away(const Standing *standing, TimestampTz clock)
{
	return standing->pool.is_room &&
		memory_state(standing, clock) == OUTCOME_CONSUMED;
}

static void
add_standing(FunctionCallInfo fcinfo, Store *store, const Standing *standing,
			 TimestampTz clock)
{
	ListCell   *lc;

	add_all_held(fcinfo, store, standing, clock);
	foreach(lc, standing->confirmed)
	{
		add_confirmed(fcinfo, store, standing, lfirst(lc));
	}
	if (standing->holds == NIL && standing->confirmed == NIL &&
		!was_moved_away(standing, clock))
		add_ended(fcinfo, store, standing, clock);
}

/*
 * hold_get(token text) returns setof record
 *
 * What the token holds, and how what it held has ended; one row a pool,
 * and a stay.
 */
Datum
hold_get(PG_FUNCTION_ARGS)
{
	text	   *token = argument_key(fcinfo, 0, "token");
	Store		store;
	TimestampTz clock = session_clock();
	ListCell   *lc;

	start_rows(fcinfo);
	store_open_for_reading(&store, fcinfo);
	foreach(lc, standings_of_token(&store, GetActiveSnapshot(), token))
	{
		add_standing(fcinfo, &store, lfirst(lc), clock);
	}
	store_close(&store);
	return (Datum) 0;
}

/*
 * hold_units(units bigint) returns numeric
 *
 * A quantity from the millionths that the tables keep.
 */
Datum
hold_units(PG_FUNCTION_ARGS)
{
	PG_RETURN_NUMERIC(rule_numeric(PG_GETARG_INT64(0)));
}

/*
 * hold_token_key(tenant text, token text) returns bigint
 *
 * The key under which the tables find a tenant's token.
 */
Datum
hold_token_key(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(rule_token_key(PG_GETARG_TEXT_PP(0),
								   PG_GETARG_TEXT_PP(1)));
}
