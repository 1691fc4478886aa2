/*-------------------------------------------------------------------------
 *
 * capacity.c
 *	  The operators' verbs on pools: hold_pool_set, hold_pool_add,
 *	  hold_pool_close, hold_pool_open, hold_pool_renew, hold_pool_drop.
 *
 * Each locks the pool's row until the transaction ends.  Promises are kept
 * whatever becomes of the capacity: holds that are there can be consumed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arguments.h"
#include "change.h"
#include "compat.h"
#include "pools.h"
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
} PoolRequest;

/*
 * Finds the pool, retired or not, and locks it; false if there is none.  With
 * one snapshot, a pool that was made or changed since is error 40001.
 */
static bool
lock_pool(Store *store, const text *key, Pool *pool)
{
	bool		found = pools_find(store, store_look(), key, pool);

	if (found)
		(void) pools_lock(store, pool, true);
	store_look_away();
	if (found || !store_has_one_snapshot())
		return found;

	found = pools_find(store, store_look_at_latest(), key, pool);
	store_look_away();
	if (found)
		raise_outdated();
	return false;
}

/* The same for a pool that has to be there.  Error 42704. */
static void
require_pool(Store *store, const text *key, Pool *pool)
{
	if (!lock_pool(store, key, pool) || pool->retired)
		pool_raise_unknown(key, "Make it with hold_pool_set.");
}

/* Writes a change of a pool whose row is locked. */
static void
write_locked(Store *store, Change *change)
{
	if (!change_write(store, change, true))
		elog(ERROR, "a pool changed under its lock");
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
	(void) argument_stripes(fcinfo, 3);
}

static void
apply_request(Pool *pool, const PoolRequest *request)
{
	pool->counted = request->counted;
	pool->capacity = request->capacity;
	if (request->leased)
		pool->lease_end = request->lease_end;
}

static bool
make_pool(Store *store, const PoolRequest *request, Pool *pool)
{
	pool_init(pool, store->tenant, request->pool);
	apply_request(pool, request);
	return change_make_pool(store, pool, session_clock());
}

/* A pool that was dropped comes back open, with its numbering and memory. */
static void
revive_pool(Change *change)
{
	change->pool.retired = false;
	change->pool.closed = false;
	change->pool.lease_end = DT_NOEND;
	change_pool(change, EVENT_OPENED, 0, NULL);
}

static void
set_pool(Store *store, const PoolRequest *request, const Pool *pool)
{
	Change	   *change = change_begin(pool, session_clock());
	int64		before = pool->capacity;

	if (pool->retired)
		revive_pool(change);
	else if (pool->counted && !request->counted)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("capacity must not be null"),
				 errdetail("Pool \"%s\" has a capacity of its own.",
						   text_to_cstring(pool->key))));
	else if (pool->counted == request->counted &&
			 pool->capacity == request->capacity &&
			 (!request->leased || pool->lease_end == request->lease_end))
		return;
	apply_request(&change->pool, request);
	change_pool(change, EVENT_CAPACITY, change->pool.capacity - before, NULL);
	write_locked(store, change);
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
	Pool		pool;

	read_pool_request(fcinfo, &request);
	store_open_for_writing(&store, fcinfo);
	for (;;)
	{
		if (lock_pool(&store, request.pool, &pool))
		{
			set_pool(&store, &request, &pool);
			break;
		}
		if (make_pool(&store, &request, &pool))
			break;
	}
	store_close_after_writing(&store);
	PG_RETURN_INT64(pool.id);
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
added_capacity(const Pool *pool, int64 delta)
{
	int64		capacity = rule_add(pool->capacity, delta);

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
						   numeric_normalize(rule_numeric(pool->capacity)))));
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
	Pool		pool;
	int64		capacity;

	store_open_for_writing(&store, fcinfo);
	require_pool(&store, key, &pool);
	capacity = pool.capacity;
	if (!was_added_before(&store, &pool, ref))
	{
		Change	   *change = change_begin(&pool, session_clock());

		capacity = added_capacity(&pool, delta);
		change->pool.capacity = capacity;
		change_pool(change, EVENT_CAPACITY, delta, ref);
		write_locked(&store, change);
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
	Pool		pool;
	bool		changes;

	store_open_for_writing(&store, fcinfo);
	require_pool(&store, key, &pool);
	changes = pool.closed != closed;
	if (changes)
	{
		Change	   *change = change_begin(&pool, session_clock());

		change->pool.closed = closed;
		change_pool(change, closed ? EVENT_CLOSED : EVENT_OPENED, 0, NULL);
		write_locked(&store, change);
	}
	store_close_after_writing(&store);
	return changes;
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
require_same_lease(const Pool *pool, bool counted, int64 before,
				   int64 capacity)
{
	if (counted && before == capacity)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the lease of pool \"%s\" with that end has another capacity",
					text_to_cstring(pool->key)),
			 errhint("Change it with hold_pool_set or hold_pool_add.")));
}

/* Has that lease begun before?  Then *generation is its generation. */
static bool
lease_has_begun(Store *store, const Pool *pool, int64 capacity,
				TimestampTz lease_end, int32 *generation)
{
	Entry		entry;
	bool		found;

	*generation = pool->generation;
	if (pool->lease_end == lease_end)
	{
		require_same_lease(pool, pool->counted, pool->capacity, capacity);
		return true;
	}
	found = entries_find_lease(store, store_look(), pool->id, lease_end,
							   &entry);
	store_look_away();
	if (!found)
		return false;
	require_same_lease(pool, entry.counted, entry.capacity, capacity);
	*generation = entry.generation;
	return true;
}

/* Begins the next generation and returns its number. */
static int32
begin_lease(Store *store, const Pool *pool, int64 capacity,
			TimestampTz lease_end)
{
	TimestampTz clock = session_clock();
	Change	   *change = change_begin(pool, clock);

	if (!rule_is_live(lease_end, clock))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lease of pool \"%s\" must end in the future",
						text_to_cstring(pool->key))));
	change_generation(change, capacity, lease_end);
	write_locked(store, change);
	return change->pool.generation;
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
	Pool		pool;
	int32		generation;

	require_argument(fcinfo, 2, "expires_at");
	lease_end = PG_GETARG_TIMESTAMPTZ(2);
	store_open_for_writing(&store, fcinfo);
	require_pool(&store, key, &pool);
	if (!lease_has_begun(&store, &pool, capacity, lease_end, &generation))
		generation = begin_lease(&store, &pool, capacity, lease_end);
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
	Pool		pool;
	TimestampTz clock;
	Change	   *change;

	store_open_for_writing(&store, fcinfo);
	require_pool(&store, key, &pool);
	clock = session_clock();
	require_no_live_hold(&store, &pool, clock);
	change = change_begin(&pool, clock);
	change->pool.retired = true;
	change_pool(change, EVENT_CLOSED, 0, NULL);
	write_locked(&store, change);
	store_close_after_writing(&store);
	PG_RETURN_VOID();
}
