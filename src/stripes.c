/*-------------------------------------------------------------------------
 *
 * stripes.c
 *	  Pools with several counter rows.
 *
 * A hot pool is striped: each counter row has a share of the capacity, holds
 * of its own and entries of its own, and is locked alone.  The pool's figures
 * are the sums.  A token has one home among the rows, by its hash; what it
 * claims afresh it claims there, and so two calls of it meet there.  A hold
 * stays in the row where it was granted, and what the token does with it, and
 * with what it took of it, happens there.
 *
 * What a row has free may be given out under the lock of that row alone, for
 * no row owes anything: where one does, as the capacity was set below what is
 * held, or where the home has not enough, all rows are locked and capacity
 * moves between them.  Then nobody is refused while the pool has any.
 *
 * Whoever changes what all rows must know, such as their number or the end of
 * the lease, rewrites all of them: who has read a row before, and comes to
 * write it, finds that it is not the newest.
 *
 * Locks: rows of a pool in the order of their ids, as all counter rows.
 *
 *-------------------------------------------------------------------------
 */
#include "stripes.h"

#include "rules.h"
#include "utils/timestamp.h"

/* --- which row --- */

/* In which row is what the token has, or took?  0: it is free to go home. */
static int64
row_of_token(const Standing *standing, TimestampTz clock)
{
	if (standing_taken(standing) > 0)
		return standing->hold != NULL ? standing->hold->pool_id :
			standing_last_entry(standing)->pool_id;
	return standing_is_live(standing, clock) ? standing->hold->pool_id : 0;
}

/* Makes the counter row that the verb is about the standing's. */
void
stripes_place(Standing *standing, TimestampTz clock)
{
	int64		id;
	int16		home;
	ListCell   *lc;

	if (standing->siblings == NIL)
		return;
	id = row_of_token(standing, clock);
	home = rule_home(standing->token_key, standing->pool.homes);
	foreach(lc, standing->siblings)
	{
		Pool	   *row = &((Standing *) lfirst(lc))->pool;

		if (id == 0 ? row->stripe == home : row->id == id)
		{
			Pool		first = standing->pool;

			standing->pool = *row;
			*row = first;
			return;
		}
	}
}

/* --- what there is --- */

static const Hold *
own_in_row(const Standing *standing, const Pool *row)
{
	return standing->hold != NULL && standing->hold->pool_id == row->id ?
		standing->hold : NULL;
}

/* What live holds of others have in all rows. */
static int64
held_by_others(Store *store, Snapshot snapshot, const Standing *standing,
			   TimestampTz clock)
{
	int64		held = vacancy_held(store, snapshot, &standing->pool, clock);

	if (standing_is_live(standing, clock) &&
		standing->hold->generation == standing->pool.generation)
		held -= standing->hold->qty;
	return held;
}

/* Looks what the other rows could give, if "missing" were taken of each. */
static void
add_siblings(Vacancy *vacancy, Store *store, Snapshot snapshot,
			 Standing *standing, int64 missing, TimestampTz clock)
{
	Demand		demand = {0};
	ListCell   *lc;

	demand.qty = missing;
	foreach(lc, standing->siblings)
	{
		Sibling    *sibling = lfirst(lc);
		Pool	   *row = &sibling->standing.pool;

		sibling->vacancy = vacancy_for(store, snapshot, row,
									   own_in_row(standing, row), &demand,
									   clock);
		vacancy->could_have = rule_add(vacancy->could_have,
									   sibling->vacancy->could_have);
		vacancy->spans |= sibling->vacancy->could_have < 0;
	}
}

/* The first moment at which a hold of another can expire, in any row. */
static TimestampTz
first_retry(Store *store, Snapshot snapshot, const Standing *standing,
			TimestampTz clock)
{
	TimestampTz first = vacancy_retry_at(store, snapshot, &standing->pool,
										 standing->hold, clock);
	ListCell   *lc;

	foreach(lc, standing->siblings)
	{
		first = Min(first, vacancy_retry_at(store, snapshot,
											&((Standing *) lfirst(lc))->pool,
											standing->hold, clock));
	}
	return first;
}

/*
 * Judges what the pool could give to the token.  "spans" says that it takes
 * the locks of all rows to have it.
 */
Vacancy *
stripes_vacancy(Store *store, Snapshot snapshot, Standing *standing,
				const Demand *demand, TimestampTz clock)
{
	Pool	   *pool = &standing->pool;
	Demand		units = {0};
	Vacancy    *vacancy;

	if (standing->siblings == NIL)
		return vacancy_for(store, snapshot, pool, standing->hold, demand,
						   clock);
	units.qty = demand->qty;
	vacancy = vacancy_for(store, snapshot, pool, own_in_row(standing, pool),
						  &units, clock);
	if (pool->counted)
	{
		vacancy->spans = vacancy->here < demand->qty;
		add_siblings(vacancy, store, snapshot, standing,
					 Max(rule_less(demand->qty, vacancy->here), 0), clock);
	}
	if (demand->budgeted)
	{
		vacancy->limited = true;
		vacancy->spans = true;
		vacancy->could_have = Min(vacancy->could_have,
								  rule_less(demand->budget,
											held_by_others(store, snapshot,
														   standing, clock)));
	}
	if (vacancy->could_have < demand->qty)
		vacancy->retry_at = first_retry(store, snapshot, standing, clock);
	return vacancy;
}

/* --- taking it --- */

static Change *
change_of_sibling(Standing *sibling, TimestampTz clock)
{
	if (sibling->change == NULL)
		sibling->change = change_begin(&sibling->pool, clock);
	return sibling->change;
}

/*
 * Ends a lapsed hold of the token that lies in another row than the one where
 * it claims afresh.  Returns the time from which that can be told: after it.
 */
TimestampTz
stripes_clear(Standing *standing, TimestampTz clock)
{
	ListCell   *lc;

	foreach(lc, standing->siblings)
	{
		Standing   *sibling = lfirst(lc);

		if (own_in_row(standing, &sibling->pool) != NULL)
		{
			change_expire(change_of_sibling(sibling, clock), standing->hold);
			standing->hold = NULL;
			return sibling->change->at + 1;
		}
	}
	return clock;
}

static int
compare_by_vacancy(const ListCell *a, const ListCell *b)
{
	int64		first = ((Sibling *) lfirst(a))->vacancy->could_have;
	int64		second = ((Sibling *) lfirst(b))->vacancy->could_have;

	return first > second ? -1 : first < second;
}

static void
move_capacity(Change *change, int64 units)
{
	change->pool.capacity = rule_add(change->pool.capacity, units);
	change_pool(change, EVENT_CAPACITY, units, NULL);
}

/*
 * Takes up to "wanted" units of a row, and of what is over, half: so the next
 * claim in the same home finds some.
 */
static int64
take_of_sibling(Sibling * sibling, int64 wanted, TimestampTz clock)
{
	Change	   *change = change_of_sibling(&sibling->standing, clock);
	int64		has = sibling->vacancy->could_have;
	int64		over = Max(has - wanted, 0) / 2;
	int64		taken = Min(has, wanted) + over - over % UNITS_PER_ONE;
	ListCell   *lc;

	foreach(lc, sibling->vacancy->expired)
	{
		change_expire(change, lfirst(lc));
	}
	change_next_expiry(change, sibling->vacancy->next_expiry);
	move_capacity(change, -taken);
	return taken;
}

/* Gives the rows that owe something what they owe; returns how much. */
static int64
pay_debts(List *siblings, TimestampTz clock)
{
	int64		paid = 0;
	ListCell   *lc;

	foreach(lc, siblings)
	{
		Sibling    *sibling = lfirst(lc);
		int64		debt = -sibling->vacancy->could_have;

		if (debt <= 0)
			continue;
		move_capacity(change_of_sibling(&sibling->standing, clock), debt);
		paid = rule_add(paid, debt);
	}
	return paid;
}

/*
 * Moves capacity to the standing's row, whose change has begun, so that it can
 * give "qty" to the token.
 */
void
stripes_gather(Standing *standing, const Vacancy *vacancy, int64 qty,
			   TimestampTz clock)
{
	int64		missing = rule_less(qty, vacancy->here);
	int64		wanted;
	int64		taken = 0;
	List	   *donors;
	ListCell   *lc;

	standing->spans = vacancy->spans;
	if (!vacancy->spans || !standing->pool.counted)
		return;
	wanted = rule_add(Max(missing, 0), pay_debts(standing->siblings, clock));
	donors = list_copy(standing->siblings);
	list_sort(donors, compare_by_vacancy);
	foreach(lc, donors)
	{
		if (taken >= wanted ||
			((Sibling *) lfirst(lc))->vacancy->could_have <= 0)
			break;
		taken += take_of_sibling(lfirst(lc), wanted - taken, clock);
	}
	taken -= wanted - Max(missing, 0);
	if (taken != 0)
		move_capacity(standing->change, taken);
}

/* A retired pool is known again, as an external one, in all its rows. */
void
stripes_revive(Standing *standing, TimestampTz clock)
{
	List	   *changes = list_make1(standing->change);
	ListCell   *lc;

	foreach(lc, standing->siblings)
	{
		changes = lappend(changes, change_of_sibling(lfirst(lc), clock));
	}
	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);

		change->pool.retired = false;
		change->pool.closed = false;
		change->pool.counted = false;
		change->pool.capacity = 0;
		change->pool.lease_end = DT_NOEND;
		change_pool(change, EVENT_OPENED, 0, NULL);
	}
}

/* --- all rows at once --- */

/*
 * Begins a change of each row, its own first.  What is told of several rows is
 * later than all that was told of any.
 */
List *
stripes_begin(List *rows, TimestampTz clock)
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
stripes_capacity(List *rows)
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
	row.stripe = stripe;
	row.capacity = 0;
	return row;
}

/*
 * Spreads the pool over so many rows, 0 for adaptive, and adds those that are
 * missing.  Rows that are not used any more keep what is in them.
 */
List *
stripes_resize(List *changes, int16 stripes)
{
	Change	   *own = linitial(changes);
	int16		homes = stripes;
	ListCell   *lc;

	if (stripes == 0)
		homes = own->pool.stripes == 0 ? own->pool.homes : 1;
	own->pool.stripes = stripes;
	own->pool.homes = homes;
	own->pool.rows = Max(own->pool.rows, homes);
	for (int16 i = list_length(changes); i < homes; i++)
	{
		Pool		row = further_row(&own->pool, i);

		changes = lappend(changes, change_begin(&row, own->at));
	}
	foreach(lc, changes)
	{
		Pool	   *row = &((Change *) lfirst(lc))->pool;

		row->stripes = stripes;
		row->homes = homes;
		row->rows = own->pool.rows;
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
stripes_share_out(List *changes, int64 capacity, text *ref)
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
stripes_next_lease(List *changes, int64 capacity, TimestampTz lease_end)
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
stripes_make_external(List *changes)
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

/* Writes all rows, which are locked, and inserts those that are new. */
void
stripes_write(Store *store, List *changes)
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

/*
 * Makes a pool or a room that is not there, with all its counter rows.
 * Returns false if somebody else has made it meanwhile.
 */
bool
stripes_make(Store *store, Pool *pool, TimestampTz clock)
{
	Pool		empty = *pool;
	List	   *changes;

	empty.counted = false;
	empty.capacity = 0;
	changes = stripes_resize(list_make1(change_begin(&empty, clock)),
							 pool->stripes);
	if (pool->is_room)
		change_pool(linitial(changes), EVENT_OPENED, 0, NULL);
	else if (pool->counted)
		stripes_share_out(changes, pool->capacity, NULL);
	else
		stripes_make_external(changes);
	if (!change_insert(store, linitial(changes)))
		return false;
	*pool = ((Change *) linitial(changes))->pool;
	stripes_write(store, list_copy_tail(changes, 1));
	return true;
}
