/*-------------------------------------------------------------------------
 *
 * attempt.c
 *	  Look, decide, lock, decide again, write: the way of every verb.
 *
 * First the request is judged by one snapshot, without a lock.  If nothing is
 * to be written, that is the answer: a refusal locks nothing and writes
 * nothing.  If one pool is to be written and nobody has it locked, it is
 * written on the spot, provided it is still the version that was read; the
 * clock was read with no wait in between.  In all other cases the pools are
 * locked, everything is read anew, the clock too, and judged again.
 *
 * Locks: pools that are missing are made first, in the byte order of their
 * keys; then pools are locked in the order of their ids, then rooms.  All of
 * it is rolled back, with a subtransaction, where the answer is a refusal
 * after all, and where the locks show a pool that was not known before: then
 * it starts again.
 *
 * A batch goes the same way.  Each of its requests is judged alone, all that
 * they would write is locked, and then they are judged and written one after
 * the other.  The counters of a pool are written once, at the end.
 *
 *-------------------------------------------------------------------------
 */
#include "attempt.h"

#include "access/xact.h"
#include "batch.h"
#include "miscadmin.h"
#include "rows.h"
#include "rules.h"
#include "session.h"
#include "stripes.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/* so often the locks may show something new before it is 40001 */
#define MOST_STARTS 10

/* Do they tell of the same versions of the same rows? */
static bool
same_pools(List *before, List *after)
{
	ListCell   *a,
			   *b;

	if (list_length(before) != list_length(after))
		return false;
	forboth(a, before, b, after)
	{
		Standing   *first = lfirst(a);
		Standing   *second = lfirst(b);

		if (first->pool.id != second->pool.id ||
			(first->pool.id != 0 &&
			 !ItemPointerEquals(&first->pool.tid, &second->pool.tid)) ||
			!same_pools(first->siblings, second->siblings))
			return false;
	}
	return true;
}

/*
 * Where the transaction has one snapshot, the request must find the same in
 * what is committed now; else 40001.  The versions of the pools' rows tell:
 * nothing about their holds and entries changes without them.
 */
static void
require_current(Attempt *attempt, List *standings)
{
	List	   *latest;

	if (!store_has_one_snapshot())
		return;
	latest = attempt->find(attempt, store_look_at_latest());
	store_look_away();
	if (!same_pools(standings, latest))
		raise_outdated();
}

static void
look_and_decide(Attempt *attempt)
{
	Snapshot	snapshot = store_look();
	ListCell   *lc;

	attempt->standings = attempt->find(attempt, snapshot);
	require_current(attempt, attempt->standings);
	if (!attempt->locked)
		attempt->clock = session_clock();
	foreach(lc, attempt->standings)
	{
		stripes_place(lfirst(lc), attempt->clock);
	}
	attempt->decide(attempt, snapshot, attempt->standings);
	store_look_away();
}

/* The same; in a batch, a mistake says which request it is. */
static void
judge(Attempt *attempt)
{
	PG_TRY();
	{
		look_and_decide(attempt);
	}
	PG_CATCH();
	{
		if (attempt->number > 0)
			batch_rethrow(attempt->number);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/*
 * Is it too early to call something a mistake?  In a batch an earlier request
 * may make the pool that is missing, or settle what is too many: only when those
 * have been written, under locks, is it certain.  To be asked before raising.
 */
bool
attempt_is_early(Attempt *attempt)
{
	if (attempt->number == 0 || attempt->locked)
		return false;
	attempt->needs_locks = true;
	return true;
}

/*
 * The standings, and other counter rows of their pools, that have a change to
 * be written, or need to be locked for one; or all rows of their pools.
 */
static List *
standings_to_write(List *standings, bool all_rows)
{
	List	   *written = NIL;
	ListCell   *lc;
	ListCell   *other;

	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);

		if (standing->change == NULL)
			continue;
		written = lappend(written, standing);
		foreach(other, standing->siblings)
		{
			Standing   *sibling = lfirst(other);

			if (sibling->change != NULL || standing->spans || all_rows)
				written = lappend(written, sibling);
		}
	}
	return written;
}

/*
 * Judges each as if it were alone; returns all that is to be written, or all
 * rows of the pools in which something is.
 */
static List *
judge_all(List *attempts, bool all_rows)
{
	List	   *wanted = NIL;
	ListCell   *lc;

	foreach(lc, attempts)
	{
		Attempt    *attempt = lfirst(lc);

		judge(attempt);
		wanted = list_concat(wanted, standings_to_write(attempt->standings,
														all_rows));
	}
	return wanted;
}

static bool
any_missing(List *standings)
{
	ListCell   *lc;

	foreach(lc, standings)
	{
		if (((Standing *) lfirst(lc))->pool.id == 0)
			return true;
	}
	return false;
}

static int
compare_keys(const ListCell *a, const ListCell *b)
{
	return rule_compare_text(((Standing *) lfirst(a))->pool.key,
							 ((Standing *) lfirst(b))->pool.key);
}

/* Makes a pool, unless somebody has, or brings it back. */
static void
make_pool(Store *store, Pool *pool)
{
	if (!rows_make(store, pool, session_clock()))
		rows_restore(store, pool);
}

/* Makes the pools that are missing, in the byte order of their keys. */
static void
make_missing(Store *store, List *standings)
{
	List	   *ordered = list_copy(standings);
	ListCell   *lc;

	list_sort(ordered, compare_keys);
	foreach(lc, ordered)
	{
		Pool	   *pool = &((Standing *) lfirst(lc))->pool;

		if (pool->id == 0)
			make_pool(store, pool);
	}
	CommandCounterIncrement();
}

/* Locks the pools in the order of their ids, then the rooms. */
static void
lock_pools(Store *store, List *standings)
{
	int64		last = 0;
	ListCell   *lc;

	list_sort(standings, standings_compare);
	foreach(lc, standings)
	{
		Pool	   *pool = &((Standing *) lfirst(lc))->pool;

		if (pool->id != last)
			(void) pools_lock(store, pool, true);
		last = pool->id;
	}
}

/* Was every pool that is to be written locked before it was read? */
static bool
all_locked(List *written, const PoolSet *locked)
{
	ListCell   *lc;

	foreach(lc, written)
	{
		if (!standing_is_among(lfirst(lc), locked))
			return false;
	}
	return true;
}

/*
 * Judges by this clock and writes, under the locks on these pools.  Returns
 * false, with nothing written, if a pool turned up that is not locked.
 */
static bool
run_locked(Attempt *attempt, const PoolSet *locked, TimestampTz clock)
{
	List	   *written;
	ListCell   *lc;

	if (attempt->needs_locks)	/* a function will look at the tables */
		pools_flush(attempt->store);
	attempt->clock = clock;
	attempt->locked = true;
	judge(attempt);
	attempt->locked = false;
	written = standings_to_write(attempt->standings, false);
	if (!all_locked(written, locked))
		return false;
	foreach(lc, written)
	{
		Change	   *change = ((Standing *) lfirst(lc))->change;

		if (change != NULL && !change_write(attempt->store, change, true))
			elog(ERROR, "a pool changed under its lock");
	}
	CommandCounterIncrement();
	return true;
}

/*
 * Runs them in turn, as of one moment, under the locks on the pools of *wanted;
 * false, with what else is wanted, as run_locked.
 */
static bool
run_all_locked(List *attempts, List **wanted)
{
	PoolSet    *locked = standings_pools(*wanted);
	TimestampTz clock = session_clock();
	ListCell   *lc;

	foreach(lc, attempts)
	{
		Attempt    *attempt = lfirst(lc);

		if (!run_locked(attempt, locked, clock))
		{
			*wanted = list_concat(*wanted,
								  standings_to_write(attempt->standings, true));
			return false;
		}
	}
	return true;
}

/*
 * Finds the pools of these standings anew.  Those that were missing are found
 * by whoever wants them; and rows that a start has made may be rolled back.
 */
static List *
find_again(Store *store, List *standings)
{
	Snapshot	snapshot = store_look();
	List	   *found = NIL;
	ListCell   *lc;

	foreach(lc, standings)
	{
		Pool	   *pool = &((Standing *) lfirst(lc))->pool;

		if (pool->id != 0 && pools_find_id(store, snapshot, pool->id, pool))
			found = lappend(found, lfirst(lc));
	}
	store_look_away();
	return found;
}

/* What is wanted by now, and all that was wanted before. */
static List *
want_more(List *attempts, Store *store, List *wanted, bool all_rows)
{
	return list_concat(judge_all(attempts, all_rows),
					   find_again(store, wanted));
}

/* The same where it may be many: their counters are written at the end. */
static bool
run_and_flush(List *attempts, Store *store, List **wanted)
{
	bool		done;

	if (list_length(attempts) == 1)
		return run_all_locked(attempts, wanted);
	pools_defer(store);
	done = run_all_locked(attempts, wanted);
	if (done)
		pools_flush(store);
	pools_stop_deferring(store);
	return done;
}

/*
 * One start under locks on the pools of *wanted.  Returns false, with what
 * else is wanted, if a pool turned up that is not locked.
 */
static bool
start_under_locks(List *attempts, Store *store, List **wanted)
{
	if (any_missing(*wanted))
	{
		make_missing(store, *wanted);
		*wanted = want_more(attempts, store, *wanted, false);
	}
	lock_pools(store, *wanted);
	return run_and_flush(attempts, store, wanted);
}

static bool
any_written(List *attempts)
{
	ListCell   *lc;

	foreach(lc, attempts)
	{
		if (standings_to_write(((Attempt *) lfirst(lc))->standings, false) != NIL)
			return true;
	}
	return false;
}

/* Rolls the subtransaction back and lets the error go on. */
static void
rethrow_from_subtransaction(MemoryContext context, ResourceOwner owner)
{
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	ReThrowError(error);
}

/*
 * The same inside a subtransaction, which is rolled back unless something was
 * written and is to be kept: pools that were made vanish and locks are let go.
 */
static bool
start_in_subtransaction(List *attempts, Store *store, List **wanted, bool keep)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		done = start_under_locks(attempts, store, wanted);
		if (done && keep && any_written(attempts))
			ReleaseCurrentSubTransaction();
		else
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		rethrow_from_subtransaction(context, owner);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return done;
}

/*
 * One start.  Within a savepoint it is only tried out in a subtransaction, and
 * then done in the savepoint itself: whoever waits for a row that a finished
 * subtransaction has locked waits for the whole transaction, and would not be
 * woken when the caller rolls back to the savepoint.  Only what is refused then,
 * as somebody came in between, keeps its locks till the savepoint ends.  Of many,
 * some may have been written when another wants more: only a subtransaction
 * takes that back.
 */
static bool
start(List *attempts, Store *store, List **wanted)
{
	bool		within = GetCurrentTransactionNestLevel() > 1 &&
	list_length(attempts) == 1;
	bool		done = start_in_subtransaction(attempts, store, wanted,
											   !within);

	if (!done || !within || !any_written(attempts))
		return done;
	*wanted = want_more(attempts, store, *wanted, true);
	return start_under_locks(attempts, store, wanted);
}

/*
 * Starts until all that is to be written has been locked before it was read.
 * Nothing that was wanted once is let go of: so it comes to an end, although
 * what one request of a batch does can change which rows another needs.
 */
static void
run_under_locks(List *attempts, List *wanted)
{
	Store	   *store = ((Attempt *) linitial(attempts))->store;

	store_prepare_to_write(store);
	for (int i = 0; i < MOST_STARTS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (start(attempts, store, &wanted))
			return;
		wanted = want_more(attempts, store, wanted, true);
	}
	raise_outdated();
}

/*
 * Writes a change of one pool on the spot; false, with nothing written, if that
 * takes locks, or if somebody was faster.
 */
static bool
write_at_once(Attempt *attempt, List *written)
{
	if (list_length(written) > 1 || attempt->needs_locks ||
		any_missing(written))
		return false;
	attempt->waited = !change_write(attempt->store,
									((Standing *) linitial(written))->change,
									false);
	return !attempt->waited;
}

/*
 * Runs the verb to its end and returns the standings with their outcomes.
 * Errors 40001 where the transaction's snapshot is outdated, or where pools
 * of the token keep turning up; those of lock waits pass through.
 */
List *
attempt_run(Attempt *attempt)
{
	List	   *written;

	judge(attempt);
	written = standings_to_write(attempt->standings, false);
	if (written == NIL || write_at_once(attempt, written))
		return attempt->standings;
	run_under_locks(list_make1(attempt), written);
	return attempt->standings;
}

static bool
any_needs_locks(List *attempts)
{
	ListCell   *lc;

	foreach(lc, attempts)
	{
		if (((Attempt *) lfirst(lc))->needs_locks)
			return true;
	}
	return false;
}

/*
 * Runs many, each judged after those before it have been written, and leaves
 * the outcomes in their standings.  All or none; errors as attempt_run.
 */
void
attempts_run(List *attempts)
{
	List	   *wanted = judge_all(attempts, false);

	if (wanted != NIL || any_needs_locks(attempts))
		run_under_locks(attempts, wanted);
}
