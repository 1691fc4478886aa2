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
 * keys; then pools are locked in the order of their ids, then rooms.  All of it is rolled
 * back, with a subtransaction, where the answer is a refusal after all, and
 * where the locks show a pool that was not known before: then it starts again.
 *
 *-------------------------------------------------------------------------
 */
#include "attempt.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "rules.h"
#include "session.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/* so often the locks may show something new before it is 40001 */
#define MOST_STARTS 10

static bool
same_pools(List *before, List *after)
{
	ListCell   *a,
			   *b;

	if (list_length(before) != list_length(after))
		return false;
	forboth(a, before, b, after)
	{
		Pool	   *first = &((Standing *) lfirst(a))->pool;
		Pool	   *second = &((Standing *) lfirst(b))->pool;

		if (first->id != second->id ||
			(first->id != 0 &&
			 !ItemPointerEquals(&first->tid, &second->tid)))
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

static List *
look_and_decide(Attempt *attempt)
{
	Snapshot	snapshot = store_look();
	List	   *standings = attempt->find(attempt, snapshot);

	require_current(attempt, standings);
	attempt->clock = session_clock();
	attempt->decide(attempt, snapshot, standings);
	store_look_away();
	return standings;
}

static List *
standings_to_write(List *standings)
{
	List	   *written = NIL;
	ListCell   *lc;

	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);

		if (standing->change != NULL)
			written = lappend(written, standing);
	}
	return written;
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

/* Makes the pools that are missing, in the byte order of their keys. */
static void
make_missing(Attempt *attempt, List *standings)
{
	List	   *ordered = list_copy(standings);
	ListCell   *lc;

	list_sort(ordered, compare_keys);
	foreach(lc, ordered)
	{
		Pool	   *pool = &((Standing *) lfirst(lc))->pool;

		if (pool->id == 0)
			(void) change_make_pool(attempt->store, pool, session_clock());
	}
	CommandCounterIncrement();
}

static int
compare_for_locks(const ListCell *a, const ListCell *b)
{
	const Pool *first = &((Standing *) lfirst(a))->pool;
	const Pool *second = &((Standing *) lfirst(b))->pool;

	if (first->is_room != second->is_room)
		return first->is_room ? 1 : -1;
	if (first->is_room)
		return first->room_id < second->room_id ? -1 :
			first->room_id > second->room_id;
	return first->id < second->id ? -1 : first->id > second->id;
}

/* Locks the pools in the order of their ids, then the rooms. */
static void
lock_pools(Attempt *attempt, List *standings)
{
	ListCell   *lc;

	list_sort(standings, compare_for_locks);
	foreach(lc, standings)
	{
		(void) pools_lock(attempt->store, &((Standing *) lfirst(lc))->pool,
						  true);
	}
}

/* Was every pool that is to be written locked before it was read? */
static bool
all_locked(List *written, List *locked)
{
	PoolSet    *pools = standings_pools(locked);
	ListCell   *lc;

	foreach(lc, written)
	{
		if (!standing_is_among(lfirst(lc), pools))
			return false;
	}
	return true;
}

/*
 * One start under locks on the pools of "wanted".  Returns false, with
 * nothing written, if a pool turned up that is not locked.
 */
static bool
start_under_locks(Attempt *attempt, List *wanted, List **standings)
{
	List	   *written;
	ListCell   *lc;

	if (any_missing(wanted))
	{
		make_missing(attempt, wanted);
		wanted = standings_to_write(look_and_decide(attempt));
	}
	lock_pools(attempt, wanted);

	attempt->locked = true;
	*standings = look_and_decide(attempt);
	attempt->locked = false;
	written = standings_to_write(*standings);
	if (!all_locked(written, wanted))
		return false;
	foreach(lc, written)
	{
		if (!change_write(attempt->store, ((Standing *) lfirst(lc))->change,
						  true))
			elog(ERROR, "a pool changed under its lock");
	}
	return true;
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
 * written: pools that were made vanish and locks are let go.
 */
static bool
start_in_subtransaction(Attempt *attempt, List *wanted, List **standings)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		done = start_under_locks(attempt, wanted, standings);
		if (done && standings_to_write(*standings) != NIL)
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

static List *
run_under_locks(Attempt *attempt, List *written)
{
	List	   *standings;

	store_prepare_to_write(attempt->store);
	for (int i = 0; i < MOST_STARTS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (start_in_subtransaction(attempt, written, &standings))
			return standings;
		written = standings_to_write(look_and_decide(attempt));
	}
	raise_outdated();
	return NIL;
}

/*
 * Runs the verb to its end and returns the standings with their outcomes.
 * Errors 40001 where the transaction's snapshot is outdated, or where pools
 * of the token keep turning up; those of lock waits pass through.
 */
List *
attempt_run(Attempt *attempt)
{
	List	   *standings = look_and_decide(attempt);
	List	   *written = standings_to_write(standings);

	if (written == NIL)
		return standings;
	if (list_length(written) == 1 && !attempt->needs_locks &&
		!any_missing(written) &&
		change_write(attempt->store, ((Standing *) linitial(written))->change,
					 false))
		return standings;
	return run_under_locks(attempt, written);
}
