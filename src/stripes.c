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

#include "memory.h"
#include "rules.h"
#include "utils/timestamp.h"

/* --- which row --- */

/* In which row is what the token has, or took?  0: it is free to go home. */
static int64
row_of_token(const Standing *standing, TimestampTz clock)
{
	if (memory_taken(standing) > 0)
		return standing->hold != NULL ? standing->hold->pool_id :
			memory_last_entry(standing)->pool_id;
	return standing_is_live(standing, clock) ? standing->hold->pool_id : 0;
}

/* Makes the row with this id, or if it is 0 the token's home, the standing's. */
static void
place_in_row(Standing *standing, int64 id)
{
	int16		home = rule_home(standing->token_key, standing->pool.homes);
	ListCell   *lc;

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

/* Makes the counter row that the verb is about the standing's. */
void
stripes_place(Standing *standing, TimestampTz clock)
{
	if (standing->siblings != NIL)
		place_in_row(standing, row_of_token(standing, clock));
}

/* The same for what is about a hold, live or not, if there is one. */
void
stripes_place_with_hold(Standing *standing)
{
	if (standing->siblings != NIL && standing->hold != NULL)
		place_in_row(standing, standing->hold->pool_id);
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
		vacancy->could_have = rule_less(vacancy->could_have,
										-Max(sibling->vacancy->could_have,
											 -PG_INT64_MAX));
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
		Sibling    *sibling = lfirst(lc);
		Change	   *change;

		if (own_in_row(standing, &sibling->standing.pool) == NULL)
			continue;
		change = change_of_sibling(&sibling->standing, clock);
		if (sibling->vacancy != NULL)
			vacancy_tell(sibling->vacancy, change);
		change_expire(change, standing->hold);
		return change->at + 1;
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
 * Takes up to "wanted" units of a row, and half of what nobody holds there
 * then: so the next claim in the same home finds some.
 */
static int64
take_of_sibling(Sibling *sibling, int64 wanted, TimestampTz clock)
{
	Change	   *change = change_of_sibling(&sibling->standing, clock);
	int64		taken = Min(sibling->vacancy->could_have, wanted);
	int64		over;

	vacancy_clear(sibling->vacancy, change);
	over = rule_less(rule_less(change->pool.capacity, change->pool.held),
					 change->pool.consumed) - taken;
	over = Max(over, 0) / 2;
	taken += over - over % UNITS_PER_ONE;
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
