/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  All counter rows of a pool at once: making them, sharing the capacity
 *	  out among them, and adapting their number.
 *
 * Most pools have one.  What all rows must know is written into all of them,
 * under the locks of all.
 *
 * An adaptive pool begins with one row and has its claims count how often they
 * wait for it.  A claim that finds they wait too often splits the pool, and one
 * that finds it quiet, or nearly full, merges it; only if nobody is in the way,
 * so that it costs no wait and no order of locks.
 *
 * Locks: rows of a pool in the order of their ids, as all counter rows.
 *
 *-------------------------------------------------------------------------
 */
#include "rows.h"

#include "access/xact.h"
#include "rules.h"
#include "session.h"
#include "utils/timestamp.h"

/* an adaptive pool splits into so many rows when so many claims waited ... */
#define ADAPTIVE_HOMES 16
#define SPLIT_AFTER 8
/* ... and there is enough for so many claims a row; */
#define PLENTY 4
/* it merges when nobody came for so long, in microseconds */
#define QUIET_AFTER (10 * USECS_PER_SEC)

static int
compare_for_locks(const ListCell *a, const ListCell *b)
{
	return pools_compare_for_locks(lfirst(a), lfirst(b));
}

static int
compare_stripes(const ListCell *a, const ListCell *b)
{
	return ((Pool *) lfirst(a))->stripe - ((Pool *) lfirst(b))->stripe;
}

/* Finds all counter rows of the pool, retired or not; NIL if there is none. */
static List *
find_rows(Store *store, Snapshot snapshot, const text *key)
{
	Pool	   *own = palloc(sizeof(Pool));

	if (!pools_find(store, snapshot, key, own))
		return NIL;
	return own->rows == 1 ? list_make1(own) :
		pools_find_stripes(store, snapshot, own);
}

/*
 * Finds the pool, retired or not, and locks its counter rows, its own the first
 * of the list; NIL if there is none.  With one snapshot, a pool that was made
 * or changed since is error 40001.
 */
List *
rows_lock(Store *store, const text *key)
{
	List	   *rows;
	ListCell   *lc;

	do
	{
		rows = find_rows(store, store_look(), key);
		list_sort(rows, compare_for_locks);
		foreach(lc, rows)
		{
			(void) pools_lock(store, lfirst(lc), true);
		}
		list_sort(rows, compare_stripes);
		store_look_away();
	} while (rows != NIL &&
			 list_length(rows) < ((Pool *) linitial(rows))->rows);
	if (rows != NIL || !store_has_one_snapshot())
		return rows;

	rows = find_rows(store, store_look_at_latest(), key);
	store_look_away();
	if (rows != NIL)
		raise_outdated();
	return NIL;
}

/*
 * Begins a change of each row, its own first.  What is told of several rows is
 * later than all that was told of any.
 */
List *
rows_begin(List *rows, TimestampTz clock)
{
	List	   *changes = NIL;
	ListCell   *lc;

	foreach(lc, rows)
	{
		Pool	   *row = lfirst(lc);

		if (list_length(rows) > 1)
			clock = Max(clock, row->last_at + 1);
	}
	foreach(lc, rows)
	{
		changes = lappend(changes, change_begin(lfirst(lc), clock));
	}
	return changes;
}

/* The capacity of the pool: the shares of its rows. */
int64
rows_capacity(List *rows)
{
	int64		capacity = 0;
	ListCell   *lc;

	foreach(lc, rows)
	{
		capacity += ((Pool *) lfirst(lc))->capacity;
	}
	return capacity;
}

/* A row that is not there yet, beside the pool's own. */
static Pool
further_row(const Pool *own, int16 stripe)
{
	Pool		row = *own;

	row.id = 0;
	row.consumed = 0;
	row.held = 0;
	row.holds = 0;
	row.seq = 0;
	row.first_seq = 1;
	row.next_expiry = DT_NOEND;
	row.expired_to = DT_NOBEGIN;
	row.expired = 0;
	row.stripe = stripe;
	row.capacity = 0;
	return row;
}

/* Spreads new holds over so many rows, and adds those that are missing. */
static List *
spread_over(List *changes, int16 homes)
{
	Change	   *own = linitial(changes);
	int16		rows = Max(own->pool.rows, homes);
	ListCell   *lc;

	for (int16 i = list_length(changes); i < homes; i++)
	{
		Pool		row = further_row(&own->pool, i);

		changes = lappend(changes, change_begin(&row, own->at));
	}
	foreach(lc, changes)
	{
		Pool	   *row = &((Change *) lfirst(lc))->pool;

		row->homes = homes;
		row->rows = rows;
		row->waits = 0;
	}
	return changes;
}

/*
 * Sets how many rows the pool has, 0 for adaptive.  Rows that are not used any
 * more keep what is in them.
 */
List *
rows_resize(List *changes, int16 stripes)
{
	const Pool *own = &((Change *) linitial(changes))->pool;
	int16		homes = stripes;
	ListCell   *lc;

	if (stripes == 0)
		homes = own->stripes == 0 ? own->homes : 1;
	changes = spread_over(changes, homes);
	foreach(lc, changes)
	{
		((Change *) lfirst(lc))->pool.stripes = stripes;
	}
	return changes;
}

/* What of "free" a row gets: whole units each, its own row the rest. */
static int64
part_of_row(const Pool *row, int64 free)
{
	int64		part = free / row->homes;

	part -= part % UNITS_PER_ONE;
	if (row->stripe >= row->homes)
		return 0;
	return row->stripe > 0 ? part : free - part * (row->homes - 1);
}

/* What is held and consumed in a row; no more than can be counted. */
static int64
used_in_row(const Pool *row)
{
	int64		most = PG_INT64_MAX - row->consumed;

	return row->held > most ? PG_INT64_MAX : row->held + row->consumed;
}

/*
 * The share of a row in a capacity of which so much is free.  Where nothing is,
 * promises are covered in turn, as far as what is left goes.
 */
static int64
share_of_row(const Pool *row, int64 free, int64 left)
{
	if (row->rows == 1)
		return left;
	return free >= 0 ? used_in_row(row) + part_of_row(row, free) :
		Min(used_in_row(row), left);
}

/*
 * Gives the pool this capacity: each row what is held and consumed there and a
 * part of what is free.
 */
void
rows_share_out(List *changes, int64 capacity, text *ref)
{
	int64		free = capacity;
	int64		left = capacity;
	ListCell   *lc;

	foreach(lc, changes)
	{
		free = rule_less(free, used_in_row(&((Change *) lfirst(lc))->pool));
	}
	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);
		Pool	   *row = &change->pool;
		int64		before = row->counted ? row->capacity : 0;

		row->counted = true;
		row->capacity = share_of_row(row, free, left);
		left -= row->capacity;
		change_pool(change, EVENT_CAPACITY, row->capacity - before,
					row->stripe == 0 ? ref : NULL);
	}
}

/* Begins a lease in all rows.  The pool's own entry tells the capacity. */
void
rows_next_lease(List *changes, int64 capacity, TimestampTz lease_end)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);
		int64		share = part_of_row(&change->pool, capacity);

		change_generation(change, share, lease_end,
						  change->pool.stripe == 0 ? capacity : share);
	}
}

/* Takes the capacity of its own away from the pool. */
void
rows_make_external(List *changes)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);
		int64		before = change->pool.counted ? change->pool.capacity : 0;

		change->pool.counted = false;
		change->pool.capacity = 0;
		change_pool(change, EVENT_CAPACITY, -before, NULL);
	}
}

/* --- adaptive pools --- */

/* Remembers in an adaptive pool's only row how often claims had to wait. */
void
rows_count_wait(Change *change, bool waited)
{
	Pool	   *pool = &change->pool;

	if (pool->stripes == 0 && pool->homes == 1)
		pool->waits = waited ? Min(pool->waits + 1, SPLIT_AFTER) :
			Max(pool->waits - 1, 0);
}

/* Has nobody been there for a while, in any row? */
static bool
is_quiet(const Standing *standing)
{
	TimestampTz newest = standing->pool.last_at;
	ListCell   *lc;

	foreach(lc, standing->siblings)
	{
		newest = Max(newest, ((Standing *) lfirst(lc))->pool.last_at);
	}
	return newest < standing->change->at - QUIET_AFTER;
}

/*
 * Over how many rows new holds should be spread: over one while nobody waits,
 * or where so little is left that claims would lock all rows.
 */
static int16
better_homes(const Standing *standing, int64 claims_left)
{
	const Pool *row = &standing->change->pool;

	if (row->homes == 1)
		return row->waits >= SPLIT_AFTER &&
			claims_left >= ADAPTIVE_HOMES * PLENTY ? ADAPTIVE_HOMES : 1;
	return is_quiet(standing) ||
		(standing->spans && claims_left < row->homes) ? 1 : row->homes;
}

/* Locks all rows of a pool without waiting; NIL if somebody is in the way. */
static List *
try_lock(Store *store, const Pool *pool)
{
	List	   *rows = pools_find_stripes(store, store_look(), pool);
	bool		locked = true;
	ListCell   *lc;

	foreach(lc, rows)
	{
		locked = locked && pools_lock(store, lfirst(lc), false);
	}
	store_look_away();
	return locked ? rows : NIL;
}

/*
 * Splits or merges an adaptive pool after a claim, if that is better and nobody
 * is in the way; "claims_left" says for how many like it there is enough.
 */
void
rows_adapt(Store *store, const Standing *standing, int64 claims_left)
{
	const Pool *row = &standing->change->pool;
	int16		homes = better_homes(standing, claims_left);
	List	   *rows;
	List	   *changes;

	if (homes == row->homes || !row->counted || store_has_one_snapshot())
		return;
	CommandCounterIncrement();
	rows = try_lock(store, row);
	if (rows == NIL || list_length(rows) < ((Pool *) linitial(rows))->rows)
		return;
	changes = spread_over(rows_begin(rows, session_clock()), homes);
	rows_share_out(changes, rows_capacity(rows), NULL);
	rows_write(store, changes);
}

/* --- making pools, and bringing them back --- */

/* A pool that was dropped comes back open, with its numbering and memory. */
void
rows_reopen(List *changes)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		Pool	   *row = &((Change *) lfirst(lc))->pool;

		row->retired = false;
		row->closed = false;
		row->lease_end = DT_NOEND;
	}
	change_pool(linitial(changes), EVENT_OPENED, 0, NULL);
}

/* Writes all rows, which are locked, and inserts those that are new. */
void
rows_write(Store *store, List *changes)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);

		if (change->pool.id == 0 ? !change_insert(store, change) :
			!change_write(store, change, true))
			elog(ERROR, "a pool changed under its lock");
	}
}

/* Gives all rows of the pool what "shape" says of capacity and class. */
static void
take_shape(List *changes, const Pool *shape)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		((Change *) lfirst(lc))->pool.class_id = shape->class_id;
	}
	if (shape->is_room)
		change_pool(linitial(changes), EVENT_OPENED, 0, NULL);
	else if (shape->counted)
		rows_share_out(changes, shape->capacity, NULL);
	else
		rows_make_external(changes);
}

/*
 * Makes a pool or a room that is not there, with all its counter rows.
 * Returns false if somebody else has made it meanwhile.
 */
bool
rows_make(Store *store, Pool *pool, TimestampTz clock)
{
	Pool		empty = *pool;
	List	   *changes;

	empty.counted = false;
	empty.capacity = 0;
	empty.consumed = 0;
	changes = rows_resize(list_make1(change_begin(&empty, clock)),
						  pool->stripes);
	take_shape(changes, pool);
	if (!change_insert(store, linitial(changes)))
		return false;
	*pool = ((Change *) linitial(changes))->pool;
	rows_write(store, list_copy_tail(changes, 1));
	return true;
}

/* Is it there, but dropped?  Locks nothing: whoever made it has it locked. */
static bool
was_dropped(Store *store, const text *key)
{
	Pool		pool;
	bool		dropped = pools_find(store, store_look(), key, &pool) &&
	pool.retired;

	store_look_away();
	return dropped;
}

/* Brings a pool that was dropped back in a new shape; if it is, no more. */
void
rows_restore(Store *store, const Pool *shape)
{
	List	   *rows;
	List	   *changes;

	if (!was_dropped(store, shape->key))
		return;
	rows = rows_lock(store, shape->key);
	if (rows == NIL || !((Pool *) linitial(rows))->retired)
		return;
	changes = rows_begin(rows, session_clock());
	rows_reopen(changes);
	changes = rows_resize(changes, shape->stripes);
	take_shape(changes, shape);
	rows_write(store, changes);
	/* another request of a batch may ask for the same pool */
	CommandCounterIncrement();
}
