/*-------------------------------------------------------------------------
 *
 * sweep.c
 *	  Tidying: hold_sweep and hold_sweep_all.
 *
 * Expired holds are free without it.  A sweep settles them, so that walks
 * over them stay short.  It works across tenants, waits for nobody and skips
 * the pools that are locked.
 *
 * No pool starves: a sweep starts at a pool drawn by lot, goes round once, and
 * takes no more than a share of its batch from one pool at a time.  Going round
 * passes every pool with holds, so pools that had more are remembered and
 * visited again till the batch is full; and in hold_sweep_all the next batch
 * goes on where the last one stopped.
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

/* What a sweep has still to do; the last two are kept from batch to batch. */
typedef struct Sweep
{
	Store	   *store;
	int64		share;			/* what one pool gets at a time */
	int64		left;			/* of the batch */
	int64		reached;		/* the pool that was visited last, or 0 */
	List	   *unfinished;		/* pools that may have more, of int64 * */
} Sweep;

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

/* Gives a pool its share of the sweep. */
static void
sweep_share(Sweep *sweep, int64 pool_id)
{
	int64		most = Min(sweep->share, sweep->left);
	int64		swept = sweep_pool(sweep->store, pool_id, most);
	int64	   *unfinished;

	sweep->left -= swept;
	if (swept < most)
		return;
	unfinished = palloc(sizeof(int64));
	*unfinished = pool_id;
	sweep->unfinished = lappend(sweep->unfinished, unfinished);
}

/* Sweeps the pools after "from", up to "to". */
static void
sweep_range(Sweep *sweep, int64 from, int64 to)
{
	int64		pool_id = from;

	while (sweep->left > 0 && next_pool_to_sweep(sweep->store, &pool_id, to))
	{
		sweep->reached = pool_id;
		sweep_share(sweep, pool_id);
	}
}

/* Visits the pools that had more, again and again. */
static void
sweep_unfinished(Sweep *sweep)
{
	while (sweep->left > 0 && sweep->unfinished != NIL)
	{
		int64	   *pool_id = linitial(sweep->unfinished);

		sweep->unfinished = list_delete_first(sweep->unfinished);
		sweep_share(sweep, *pool_id);
	}
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
	(void) store_look();
	if (!change_write(store, change, true))
		elog(ERROR, "a room changed under its lock");
	store_look_away();
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

/*
 * Goes once round the pools, from where it stopped before, or from one that is
 * drawn by lot.
 */
static void
sweep_round(Sweep *sweep)
{
	int64		last = holds_last_pool(sweep->store, store_look());
	int64		start;

	store_look_away();
	start = sweep->reached != 0 ? Min(sweep->reached, last) :
		(int64) pg_prng_uint64_range(&pg_global_prng_state, 0, last);
	sweep_range(sweep, start, last);
	sweep_range(sweep, 0, start);
}

/* Sweeps a batch and returns how many holds and stays expired. */
static int64
sweep_batch(FunctionCallInfo fcinfo, int64 batch, Sweep *sweep)
{
	Store		store;

	store_open_for_upkeep(&store, fcinfo);
	store.sweeping = true;
	sweep->store = &store;
	sweep->share = (batch + POOL_SHARE - 1) / POOL_SHARE;
	sweep->left = batch;
	sweep_unfinished(sweep);
	if (sweep->left > 0)
		sweep_round(sweep);
	sweep_unfinished(sweep);
	if (sweep->left > 0)
		sweep->left -= sweep_stays(&store, sweep->left);
	store_close_after_writing(&store);
	sweep->store = NULL;
	return batch - sweep->left;
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
	int64		batch = argument_batch(fcinfo, 0, "batch");
	Sweep		sweep = {0};

	PG_RETURN_INT64(sweep_batch(fcinfo, batch, &sweep));
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
	Sweep		sweep = {0};

	SPI_connect_ext(atomic ? 0 : SPI_OPT_NONATOMIC);
	while (batch > 0 && left-- > 0)
	{
		bool		full = sweep_batch(fcinfo, batch, &sweep) == batch;

		SPI_commit();
		if (!full)
			break;
	}
	SPI_finish();
	PG_RETURN_VOID();
}
