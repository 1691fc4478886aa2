/*-------------------------------------------------------------------------
 *
 * sweep.c
 *	  Tidying: hold_sweep and hold_sweep_all.
 *
 * Expired holds are free without it.  A sweep settles them, so that walks
 * over them stay short.  It works across tenants, waits for nobody and skips
 * the pools that are locked.
 *
 * No pool starves: a sweep starts at a pool drawn by lot, goes round, and
 * takes no more than a share of its batch from one pool while others wait.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "arguments.h"
#include "change.h"
#include "common/pg_prng.h"
#include "compat.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "rules.h"
#include "session.h"
#include "standing.h"
#include "store.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_sweep);
SQL_FUNCTION(hold_sweep_all);

/* one pool gets at most this part of a batch in one round */
#define POOL_SHARE 8

/* Builds the expiry of at most so many holds of a locked pool. */
static Change *
expire_holds(Store *store, Snapshot snapshot, const Pool *pool, int64 most)
{
	TimestampTz clock = session_clock();
	Change	   *change = change_begin(pool, clock);
	TimestampTz next = DT_NOEND;
	HoldWalk	walk;

	holds_walk(&walk, store, snapshot, pool->id, pool->next_expiry);
	while (holds_walk_next(&walk))
	{
		if (rule_is_live(walk.expires_at, clock) ||
			list_length(change->ended) >= most)
		{
			next = walk.expires_at;
			break;
		}
		change_expire(change, holds_walk_take(&walk));
	}
	holds_walk_end(&walk);
	change_next_expiry(change, next);
	return change;
}

/* Sweeps one pool unless it is locked; returns how many holds expired. */
static int64
sweep_pool_here(Store *store, int64 pool_id, int64 most)
{
	Pool		pool;
	Change	   *change;
	bool		locked;

	locked = pools_find_id(store, store_look(), pool_id, &pool) &&
		pools_lock(store, &pool, false);
	store_look_away();
	if (!locked)
		return 0;

	change = expire_holds(store, store_look(), &pool, most);
	if (change->ended != NIL && !change_write(store, change, true))
		elog(ERROR, "a pool changed under its lock");
	store_look_away();
	CommandCounterIncrement();
	return list_length(change->ended);
}

/* The same, without a trace in memory. */
static int64
sweep_pool(Store *store, int64 pool_id, int64 most)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "hold_ledger sweep",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	int64		swept = sweep_pool_here(store, pool_id, most);

	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return swept;
}

/*
 * Finds the next pool after *pool_id with something that has expired, up to
 * and including "last".
 */
static bool
next_pool_to_sweep(Store *store, int64 *pool_id, int64 last)
{
	Hold		hold;
	bool		found;
	TimestampTz clock = session_clock();

	do
	{
		CHECK_FOR_INTERRUPTS();
		found = holds_first_after(store, store_look(), *pool_id, &hold) &&
			hold.pool_id <= last;
		store_look_away();
		if (found)
			*pool_id = hold.pool_id;
	} while (found && rule_is_live(hold.expires_at, clock));
	return found;
}

/* Sweeps the pools after "from", up to "to". */
static int64
sweep_range(Store *store, int64 from, int64 to, int64 share, int64 most)
{
	int64		pool_id = from;
	int64		swept = 0;

	while (swept < most && next_pool_to_sweep(store, &pool_id, to))
		swept += sweep_pool(store, pool_id, Min(share, most - swept));
	return swept;
}

/* Expires one stay unless its room is locked or it was renewed. */
static int64
sweep_stay(Store *store, const Stay *seen)
{
	Pool		room;
	Stay		stay;
	Change	   *change;
	TimestampTz clock;
	bool		locked;

	locked = pools_find_room(store, store_look(), seen->tenant, seen->room_id,
							 &room) && pools_lock(store, &room, false);
	store_look_away();
	if (!locked)
		return 0;
	clock = session_clock();
	locked = stays_find(store, store_look(), seen->id, &stay) &&
		stay.room_id == seen->room_id && !stay.confirmed &&
		!rule_is_live(stay.expires_at, clock);
	store_look_away();
	if (!locked)
		return 0;
	change = change_begin(&room, clock);
	change_expire(change, hold_of_stay(&room, &stay));
	if (!change_write(store, change, true))
		elog(ERROR, "a room changed under its lock");
	CommandCounterIncrement();
	return 1;
}

static int64
sweep_stays(Store *store, int64 most)
{
	List	   *expired = stays_expired(store, store_look(), session_clock(),
										most);
	int64		swept = 0;
	ListCell   *lc;

	store_look_away();
	foreach(lc, expired)
	{
		CHECK_FOR_INTERRUPTS();
		swept += sweep_stay(store, lfirst(lc));
	}
	return swept;
}

/* Goes round the pools until the batch is full or nothing is left. */
static int64
sweep_batch(Store *store, int64 batch)
{
	int64		share = (batch + POOL_SHARE - 1) / POOL_SHARE;
	int64		last = holds_last_pool(store, store_look());
	int64		start;
	int64		swept = 0;
	int64		round;

	store_look_away();
	start = (int64) pg_prng_uint64_range(&pg_global_prng_state, 0, last);
	do
	{
		round = sweep_range(store, start, last, share, batch - swept);
		round += sweep_range(store, 0, start, share, batch - swept - round);
		swept += round;
	} while (round > 0 && swept < batch);
	return swept;
}

static int64
sweep_once(FunctionCallInfo fcinfo, int64 batch)
{
	Store		store;
	int64		swept;

	store_open_for_upkeep(&store, fcinfo);
	swept = batch == 0 ? 0 : sweep_batch(&store, batch);
	if (swept < batch)
		swept += sweep_stays(&store, batch - swept);
	store_close_after_writing(&store);
	return swept;
}

/*
 * hold_sweep(batch integer) returns bigint
 *
 * Expires at most batch holds whose time is over and returns how many.
 * Errors: 22004 for NULL, 22023 for a negative batch.  Locks the rows of the
 * pools that it tidies until the transaction ends; waits for none.
 */
Datum
hold_sweep(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(sweep_once(fcinfo, argument_batch(fcinfo, 0, "batch")));
}

/*
 * hold_sweep_all(batch integer, max_batches integer)
 *
 * Sweeps batch after batch, at most so many, until one is not full, and
 * commits after each.  Error 2D000 inside a transaction block.
 */
Datum
hold_sweep_all(PG_FUNCTION_ARGS)
{
	int64		batch = argument_batch(fcinfo, 0, "batch");
	int64		left = argument_batch(fcinfo, 1, "max_batches");
	bool		atomic = fcinfo->context == NULL ||
	!IsA(fcinfo->context, CallContext) ||
	castNode(CallContext, fcinfo->context)->atomic;

	SPI_connect_ext(atomic ? 0 : SPI_OPT_NONATOMIC);
	while (batch > 0 && left-- > 0)
	{
		bool		full = sweep_once(fcinfo, batch) == batch;

		SPI_commit();
		if (!full)
			break;
	}
	SPI_finish();
	PG_RETURN_VOID();
}
