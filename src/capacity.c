/*-------------------------------------------------------------------------
 *
 * capacity.c
 *	  The operators' verbs on pools: hold_pool_set, hold_pool_add,
 *	  hold_pool_close, hold_pool_open, hold_pool_renew, hold_pool_drop.
 *
 * Each locks the pool's rows until the transaction ends.  Promises are kept
 * whatever becomes of the capacity: holds that are there can be consumed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arguments.h"
#include "change.h"
#include "compat.h"
#include "pools.h"
#include "rows.h"
#include "rules.h"
#include "session.h"
#include "store.h"
#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_pool_set);
SQL_FUNCTION(hold_pool_add);
SQL_FUNCTION(hold_pool_close);
SQL_FUNCTION(hold_pool_open);
SQL_FUNCTION(hold_pool_renew);
SQL_FUNCTION(hold_pool_drop);

/* What hold_pool_set is asked for. */
typedef struct PoolRequest
{
	text	   *pool;
	bool		counted;
	int64		capacity;		/* if counted */
	bool		leased;			/* is there a lease end? */
	TimestampTz lease_end;
	bool		striped;		/* is there a number of stripes? */
	int16		stripes;
} PoolRequest;

/* The same for a pool that has to be there.  Error 42704. */
static List *
require_rows(Store *store, const text *key)
{
	List	   *rows = rows_lock(store, key);

	if (rows == NIL || ((Pool *) linitial(rows))->retired)
		pool_raise_unknown(key, "Make it with hold_pool_set.");
	return rows;
}

/* --- setting --- */

static void
read_pool_request(FunctionCallInfo fcinfo, PoolRequest *request)
{
	request->pool = argument_key(fcinfo, 0, "pool");
	request->counted = !PG_ARGISNULL(1);
	if (request->counted)
		request->capacity = argument_units(fcinfo, 1, "capacity",
										   QUANTITY_NOT_NEGATIVE);
	request->leased = !PG_ARGISNULL(2);
	if (request->leased)
		request->lease_end = PG_GETARG_TIMESTAMPTZ(2);
	request->striped = !PG_ARGISNULL(3);
	request->stripes = argument_stripes(fcinfo, 3);
}

/* Makes the pool; false if it is there by now. */
static bool
make_pool(Store *store, const PoolRequest *request)
{
	Pool		pool;

	pool_init(&pool, store->tenant, request->pool);
	pool.counted = request->counted;
	pool.capacity = request->capacity;
	pool.stripes = request->stripes;
	if (request->leased)
		pool.lease_end = request->lease_end;
	if (!rows_make(store, &pool, session_clock()))
		return false;
	CommandCounterIncrement();
	return true;
}

/* Is the pool already what it is to be? */
static bool
is_as_requested(List *rows, const PoolRequest *request)
{
	const Pool *own = linitial(rows);

	return !own->retired && own->counted == request->counted &&
		(!own->counted || rows_capacity(rows) == request->capacity) &&
		(!request->leased || own->lease_end == request->lease_end) &&
		(!request->striped || own->stripes == request->stripes);
}

static void
require_capacity(const Pool *own, const PoolRequest *request)
{
	if (own->retired || !own->counted || request->counted)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("capacity must not be null"),
			 errdetail("Pool \"%s\" has a capacity of its own.",
					   text_to_cstring(own->key))));
}

static void
set_pool(Store *store, const PoolRequest *request, List *rows)
{
	List	   *changes;
	ListCell   *lc;

	require_capacity(linitial(rows), request);
	if (is_as_requested(rows, request))
		return;
	changes = rows_begin(rows, session_clock());
	if (((Pool *) linitial(rows))->retired)
		rows_reopen(changes);
	if (request->striped)
		changes = rows_resize(changes, request->stripes);
	foreach(lc, changes)
	{
		if (request->leased)
			((Change *) lfirst(lc))->pool.lease_end = request->lease_end;
	}
	if (request->counted)
		rows_share_out(changes, request->capacity, NULL);
	else
		rows_make_external(changes);
	rows_write(store, changes);
}

/*
 * hold_pool_set(pool text, capacity numeric, expires_at timestamptz,
 *				 stripes integer) returns bigint
 *
 * Makes the pool or changes it; returns its pool_id.  NULL for the last two
 * leaves them as they are.  NULL for capacity makes a new pool external.
 *
 * Errors: 22004 if a counted pool is set to NULL, 22023 and 22003 for values
 * out of their limits.
 */
Datum
hold_pool_set(PG_FUNCTION_ARGS)
{
	PoolRequest request = {0};
	Store		store;
	List	   *rows;

	read_pool_request(fcinfo, &request);
	store_open_for_writing(&store, fcinfo);
	while ((rows = rows_lock(&store, request.pool)) == NIL)
		(void) make_pool(&store, &request);
	set_pool(&store, &request, rows);
	store_close_after_writing(&store);
	PG_RETURN_INT64(((Pool *) linitial(rows))->id);
}

/* --- adding --- */

static bool
was_added_before(Store *store, const Pool *pool, const text *ref)
{
	bool		before;

	if (ref == NULL)
		return false;
	before = entries_has_ref(store, store_look(), pool->id, ref);
	store_look_away();
	return before;
}

static int64
added_capacity(List *rows, int64 delta)
{
	const Pool *pool = linitial(rows);
	int64		before = rows_capacity(rows);
	int64		capacity = rule_add(before, delta);

	if (!pool->counted)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pool \"%s\" has no capacity of its own",
						text_to_cstring(pool->key)),
				 errhint("Set one with hold_pool_set.")));
	if (capacity < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity must not be negative"),
				 errdetail("The capacity of pool \"%s\" is %s.",
						   text_to_cstring(pool->key),
						   numeric_normalize(rule_numeric(before)))));
	/* what hold_pool_set would refuse cannot be reached in steps either */
	(void) rule_units(rule_numeric(capacity), "capacity",
					  QUANTITY_NOT_NEGATIVE);
	return capacity;
}

/*
 * hold_pool_add(pool text, delta numeric, ref text) returns numeric
 *
 * Changes the capacity by delta and returns the new one; the same ref again
 * changes nothing.
 *
 * Errors: 42704 for an unknown pool, 55000 for one without a capacity, 22023
 * if it would be negative, 22003 if it would be too large.
 */
Datum
hold_pool_add(PG_FUNCTION_ARGS)
{
	text	   *key = argument_key(fcinfo, 0, "pool");
	int64		delta = argument_units(fcinfo, 1, "delta", QUANTITY_ANY);
	text	   *ref = argument_optional_text(fcinfo, 2);
	Store		store;
	List	   *rows;
	int64		capacity;

	store_open_for_writing(&store, fcinfo);
	rows = require_rows(&store, key);
	capacity = rows_capacity(rows);
	if (!was_added_before(&store, linitial(rows), ref))
	{
		List	   *changes = rows_begin(rows, session_clock());

		capacity = added_capacity(rows, delta);
		rows_share_out(changes, capacity, ref);
		rows_write(&store, changes);
	}
	store_close_after_writing(&store);
	PG_RETURN_NUMERIC(rule_numeric(capacity));
}

/* --- closing, opening, dropping --- */

static bool
set_closed(FunctionCallInfo fcinfo, bool closed)
{
	text	   *key = argument_key(fcinfo, 0, "pool");
	Store		store;
	List	   *rows;
	List	   *changes;
	ListCell   *lc;
	bool		differs;

	store_open_for_writing(&store, fcinfo);
	rows = require_rows(&store, key);
	differs = ((Pool *) linitial(rows))->closed != closed;
	if (differs)
	{
		changes = rows_begin(rows, session_clock());
		foreach(lc, changes)
		{
			((Change *) lfirst(lc))->pool.closed = closed;
		}
		change_pool(linitial(changes), closed ? EVENT_CLOSED : EVENT_OPENED,
					0, NULL);
		rows_write(&store, changes);
	}
	store_close_after_writing(&store);
	return differs;
}

/*
 * hold_pool_close(pool text) returns boolean
 *
 * Refuses new holds and renewals from now on; consume, release and expiry
 * still work.  True if that changed anything.  Error 42704.
 */
Datum
hold_pool_close(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(set_closed(fcinfo, true));
}

/*
 * hold_pool_open(pool text) returns boolean
 *
 * Takes holds again.  True if that changed anything.  Error 42704.
 */
Datum
hold_pool_open(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(set_closed(fcinfo, false));
}

/* Error 22023: a lease with that end began with another capacity. */
static void
raise_other_lease(const Pool *pool)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the lease of pool \"%s\" with that end has another capacity",
					text_to_cstring(pool->key)),
			 errhint("Change it with hold_pool_set or hold_pool_add.")));
}

/*
 * Has that lease begun before, or is the present one like it?  Then *generation
 * is its generation.
 */
static bool
lease_has_begun(Store *store, List *rows, int64 capacity,
				TimestampTz lease_end, int32 *generation)
{
	const Pool *pool = linitial(rows);
	Entry		entry;
	bool		found;

	found = entries_find_lease(store, store_look(), pool->id, lease_end,
							   &entry);
	store_look_away();
	*generation = found ? entry.generation : pool->generation;
	if (found && entry.qty == capacity)
		return true;
	if (!found && pool->lease_end != lease_end)
		return false;
	if (pool->lease_end != lease_end || !pool->counted ||
		rows_capacity(rows) != capacity)
		raise_other_lease(pool);
	*generation = pool->generation;
	return true;
}

/* Begins the next generation and returns its number. */
static int32
begin_lease(Store *store, List *rows, int64 capacity, TimestampTz lease_end)
{
	const Pool *pool = linitial(rows);
	TimestampTz clock = session_clock();
	List	   *changes = rows_begin(rows, clock);

	if (!rule_is_live(lease_end, clock))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lease of pool \"%s\" must end in the future",
						text_to_cstring(pool->key))));
	rows_next_lease(changes, capacity, lease_end);
	rows_write(store, changes);
	return ((Change *) linitial(changes))->pool.generation;
}

/*
 * hold_pool_renew(pool text, capacity numeric, expires_at timestamptz)
 *		returns integer
 *
 * Lets a successor lease begin and returns its generation.  Again with the
 * end of a lease that has begun, it changes nothing.
 *
 * Errors: 42704 for an unknown pool, 22004 for NULL, 22023 if that lease has
 * another capacity, or would be over already.
 */
Datum
hold_pool_renew(PG_FUNCTION_ARGS)
{
	text	   *key = argument_key(fcinfo, 0, "pool");
	int64		capacity = argument_units(fcinfo, 1, "capacity",
										  QUANTITY_NOT_NEGATIVE);
	TimestampTz lease_end;
	Store		store;
	List	   *rows;
	int32		generation;

	require_argument(fcinfo, 2, "expires_at");
	lease_end = PG_GETARG_TIMESTAMPTZ(2);
	store_open_for_writing(&store, fcinfo);
	rows = require_rows(&store, key);
	if (!lease_has_begun(&store, rows, capacity, lease_end, &generation))
		generation = begin_lease(&store, rows, capacity, lease_end);
	store_close_after_writing(&store);
	PG_RETURN_INT32(generation);
}

static void
require_no_live_hold(Store *store, const Pool *pool, TimestampTz clock)
{
	HoldWalk	walk;
	bool		live;

	holds_walk(&walk, store, store_look(), pool->id, clock + 1);
	live = holds_walk_next(&walk);
	holds_walk_end(&walk);
	store_look_away();
	if (live)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("pool \"%s\" has live holds",
						text_to_cstring(pool->key)),
				 errhint("Close it with hold_pool_close, and drop it when they have ended.")));
}

/*
 * hold_pool_drop(pool text) returns void
 *
 * Retires the pool: no verb knows it any more, its ledger stays, and
 * hold_pool_set of the same name revives it.
 *
 * Errors: 42704 for an unknown pool, 55006 while holds are live.
 */
Datum
hold_pool_drop(PG_FUNCTION_ARGS)
{
	text	   *key = argument_key(fcinfo, 0, "pool");
	Store		store;
	List	   *rows;
	List	   *changes;
	ListCell   *lc;
	TimestampTz clock;

	store_open_for_writing(&store, fcinfo);
	rows = require_rows(&store, key);
	clock = session_clock();
	foreach(lc, rows)
	{
		require_no_live_hold(&store, lfirst(lc), clock);
	}
	changes = rows_begin(rows, clock);
	foreach(lc, changes)
	{
		((Change *) lfirst(lc))->pool.retired = true;
	}
	change_pool(linitial(changes), EVENT_CLOSED, 0, NULL);
	rows_write(&store, changes);
	store_close_after_writing(&store);
	PG_RETURN_VOID();
}
