/*-------------------------------------------------------------------------
 *
 * vacancy.c
 *	  What a pool could still give to a token.
 *
 * Expired holds count as free from the moment they expire.  They are counted
 * by walking the pool's holds in the order of their expiry, from the lower
 * bound that the pool's row keeps, so a pool on which nothing has expired
 * costs no step.
 *
 * Most here is about one counter row.  What is asked of the pool as a whole is
 * the sum over its rows.
 *
 *-------------------------------------------------------------------------
 */
#include "vacancy.h"

#include "rules.h"
#include "utils/timestamp.h"

/* a claim clears away this many expired holds, or as many as it needs */
#define EVICT_AT_LEAST 4

static bool
counts(const Pool *pool, int32 generation)
{
	return pool->generation == generation;
}

/* The most that the token could hold, leaving aside what has expired. */
static void
start_vacancy(Vacancy *vacancy, const Pool *pool, const Hold *own,
			  const Demand *demand)
{
	vacancy->limited = pool->counted || demand->budgeted;
	vacancy->could_have = PG_INT64_MAX;
	if (pool->counted)
		vacancy->could_have = rule_less(rule_less(pool->capacity, pool->held),
										pool->consumed);
	if (demand->budgeted)
		vacancy->could_have = Min(vacancy->could_have,
								  rule_less(demand->budget, pool->held));
	if (vacancy->limited && own != NULL && counts(pool, own->generation))
		vacancy->could_have += own->qty;
	vacancy->next_expiry = pool->next_expiry;
	vacancy->retry_at = DT_NOEND;
}

/* Takes note of an expired hold: it has to go, or only counts as free. */
static void
pass_expired(Vacancy *vacancy, HoldWalk *walk, const Pool *pool,
			 const Demand *demand)
{
	if (vacancy->could_have < demand->qty ||
		list_length(vacancy->expired) < EVICT_AT_LEAST)
		vacancy->expired = lappend(vacancy->expired, holds_walk_take(walk));
	else
		vacancy->next_expiry = Min(vacancy->next_expiry, walk->expires_at);
	if (vacancy->limited && counts(pool, walk->generation))
		vacancy->could_have += walk->qty;
}

/* Walks over what has expired, up to the first hold that can be waited for. */
static void
walk_expired(Vacancy *vacancy, Store *store, Snapshot snapshot,
			 const Pool *pool, const Hold *own, const Demand *demand,
			 TimestampTz clock)
{
	HoldWalk	walk;

	holds_walk(&walk, store, snapshot, pool->id, pool->next_expiry);
	vacancy->next_expiry = DT_NOEND;
	while (holds_walk_next(&walk))
	{
		bool		mine = own != NULL &&
		ItemPointerEquals(&walk.tid, (ItemPointer) &own->tid);

		if (rule_is_live(walk.expires_at, clock))
		{
			vacancy->next_expiry = Min(vacancy->next_expiry, walk.expires_at);
			if (mine || !counts(pool, walk.generation))
				continue;
			vacancy->retry_at = walk.expires_at;
			break;
		}
		if (!mine)
			pass_expired(vacancy, &walk, pool, demand);
	}
	holds_walk_end(&walk);
}

/*
 * Judges what the pool could give to a token that has "own" there, or NULL.
 * Which expired holds of others have to go for it is part of the answer.
 */
Vacancy *
vacancy_for(Store *store, Snapshot snapshot, const Pool *pool, const Hold *own,
			const Demand *demand, TimestampTz clock)
{
	Vacancy    *vacancy = palloc0(sizeof(Vacancy));

	start_vacancy(vacancy, pool, own, demand);
	if (pool->id != 0 && (!rule_is_live(pool->next_expiry, clock) ||
						  vacancy->could_have < demand->qty))
		walk_expired(vacancy, store, snapshot, pool, own, demand, clock);
	vacancy->here = vacancy->could_have;
	return vacancy;
}

/* When a hold in the row can first expire that is not the token's own. */
TimestampTz
vacancy_retry_at(Store *store, Snapshot snapshot, const Pool *row,
				 const Hold *own, TimestampTz clock)
{
	TimestampTz first = DT_NOEND;
	HoldWalk	walk;

	holds_walk(&walk, store, snapshot, row->id, Max(clock, row->next_expiry));
	while (first == DT_NOEND && holds_walk_next(&walk))
	{
		if (rule_is_live(walk.expires_at, clock) &&
			counts(row, walk.generation) &&
			(own == NULL ||
			 !ItemPointerEquals(&walk.tid, (ItemPointer) &own->tid)))
			first = walk.expires_at;
	}
	holds_walk_end(&walk);
	return first;
}

/* Counts what has expired and was not settled: holds, and units of theirs. */
static void
count_expired(Store *store, Snapshot snapshot, const Pool *pool,
			  TimestampTz clock, int64 *holds, int64 *units)
{
	HoldWalk	walk;

	*holds = 0;
	*units = 0;
	if (rule_is_live(pool->next_expiry, clock))
		return;
	holds_walk(&walk, store, snapshot, pool->id, pool->next_expiry);
	while (holds_walk_next(&walk) && !rule_is_live(walk.expires_at, clock))
	{
		(*holds)++;
		if (counts(pool, walk.generation))
			*units += walk.qty;
	}
	holds_walk_end(&walk);
}

/* All counter rows of a pool, from one of them. */
static List *
all_rows(Store *store, Snapshot snapshot, const Pool *pool)
{
	return pool->rows <= 1 ? list_make1((void *) pool) :
		pools_find_stripes(store, snapshot, pool);
}

/*
 * Returns the units that live holds have in the pool.  Costs a step an expired
 * hold.
 */
int64
vacancy_held(Store *store, Snapshot snapshot, const Pool *pool,
			 TimestampTz clock)
{
	int64		held = 0;
	ListCell   *lc;

	foreach(lc, all_rows(store, snapshot, pool))
	{
		Pool	   *row = lfirst(lc);
		int64		holds;
		int64		units;

		count_expired(store, snapshot, row, clock, &holds, &units);
		held += row->held - units;
	}
	return held;
}

/* Returns how many live holds there are, at the same cost. */
int64
vacancy_count(Store *store, Snapshot snapshot, const Pool *pool,
			  TimestampTz clock)
{
	int64		live = 0;
	ListCell   *lc;

	foreach(lc, all_rows(store, snapshot, pool))
	{
		Pool	   *row = lfirst(lc);
		int64		holds;
		int64		units;

		count_expired(store, snapshot, row, clock, &holds, &units);
		live += row->holds - holds;
	}
	return live;
}

/* What is neither confirmed nor promised for good, in all rows. */
static int64
unconsumed(Store *store, Snapshot snapshot, const Pool *pool)
{
	int64		units = 0;
	ListCell   *lc;

	foreach(lc, all_rows(store, snapshot, pool))
	{
		Pool	   *row = lfirst(lc);

		units += rule_less(row->capacity, row->consumed);
	}
	return units;
}

/*
 * Returns what a new claim could have of a counted pool: nothing when it is
 * closed or past its lease.
 */
int64
vacancy_available(Store *store, Snapshot snapshot, const Pool *pool,
				  TimestampTz clock)
{
	if (pool->closed || !rule_is_live(pool->lease_end, clock))
		return 0;
	return Max(rule_less(unconsumed(store, snapshot, pool),
						 vacancy_held(store, snapshot, pool, clock)), 0);
}
