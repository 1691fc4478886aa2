/*-------------------------------------------------------------------------
 *
 * vacancy.c
 *	  What a pool could still give to a token.
 *
 * Expired holds count as free from the moment they expire.  They are counted
 * by walking the pool's holds in the order of their expiry, from the lower
 * bound that the pool's row keeps, so a pool on which nothing has expired
 * costs no step.  The row also keeps what those hold that a walk has met: the
 * next one leaps over them, so each costs its step once and not in each call.
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
	vacancy->summed_to = pool->expired_to;
	vacancy->summed = pool->expired;
	vacancy->retry_at = DT_NOEND;
}

/*
 * A walk over the expired holds of a row, in the order of their expiry.  Of
 * those up to a moment the row knows what they hold in all: where none of them
 * has to go, the walk leaps over them.
 */
typedef struct Tour
{
	HoldWalk	walk;
	const Pool *pool;
	const Hold *own;			/* or NULL */
	TimestampTz known_to;
	int64		ahead;			/* known, and others have it, and not yet met */
	int64		beyond;			/* met after what was known */
} Tour;

/* Up to when the row's sum tells of what has expired by the clock. */
static TimestampTz
known_to(const Pool *pool, TimestampTz clock)
{
	return rule_is_live(pool->expired_to, clock) ? DT_NOBEGIN :
		pool->expired_to;
}

static void
begin_tour(Tour *tour, Store *store, Snapshot snapshot, const Pool *pool,
		   const Hold *own, TimestampTz clock)
{
	tour->pool = pool;
	tour->own = own;
	tour->known_to = known_to(pool, clock);
	tour->ahead = tour->known_to == DT_NOBEGIN ? 0 : pool->expired;
	tour->beyond = 0;
	if (own != NULL && counts(pool, own->generation) &&
		own->expires_at <= tour->known_to)
		tour->ahead -= own->qty;
	holds_walk(&tour->walk, store, snapshot, pool->id, pool->next_expiry);
}

static bool
is_own(const Tour *tour)
{
	return tour->own != NULL &&
		ItemPointerEquals((ItemPointer) &tour->walk.tid,
						  (ItemPointer) &tour->own->tid);
}

/* What the hold that was met takes of the capacity, and others have. */
static int64
meet(Tour *tour)
{
	const HoldWalk *walk = &tour->walk;
	int64		units = counts(tour->pool, walk->generation) ? walk->qty : 0;

	if (walk->expires_at > tour->known_to)
		tour->beyond += units;
	if (is_own(tour))
		return 0;
	if (walk->expires_at <= tour->known_to)
		tour->ahead -= units;
	return units;
}

/* Leaps over what is known; returns what others have of it. */
static int64
leap(Tour *tour)
{
	HoldWalk   *walk = &tour->walk;
	Store	   *store = walk->store;
	Snapshot	snapshot = walk->snapshot;
	int64		ahead = tour->ahead;

	holds_walk_end(walk);
	holds_walk(walk, store, snapshot, tour->pool->id, tour->known_to + 1);
	tour->ahead = 0;
	return ahead;
}

static void
add_free(Vacancy *vacancy, int64 units)
{
	if (vacancy->limited)
		vacancy->could_have += units;
}

/* Takes note of an expired hold: it has to go, or only counts as free. */
static void
pass_expired(Vacancy *vacancy, Tour *tour, const Demand *demand)
{
	TimestampTz expires_at = tour->walk.expires_at;
	bool		enough = vacancy->could_have >= demand->qty &&
	list_length(vacancy->expired) >= EVICT_AT_LEAST;
	int64		units = meet(tour);

	if (is_own(tour))
		return;
	if (!enough)
		vacancy->expired = lappend(vacancy->expired,
								   holds_walk_take(&tour->walk));
	else
	{
		vacancy->next_expiry = Min(vacancy->next_expiry, expires_at);
		if (expires_at <= tour->known_to)
			units += leap(tour);
	}
	add_free(vacancy, units);
}

/* Walks over what has expired, up to the first hold that can be waited for. */
static void
walk_expired(Vacancy *vacancy, Store *store, Snapshot snapshot,
			 const Pool *pool, const Hold *own, const Demand *demand,
			 TimestampTz clock)
{
	Tour		tour;
	HoldWalk   *walk = &tour.walk;

	begin_tour(&tour, store, snapshot, pool, own, clock);
	vacancy->next_expiry = DT_NOEND;
	while (holds_walk_next(walk))
	{
		if (!rule_is_live(walk->expires_at, clock))
		{
			pass_expired(vacancy, &tour, demand);
			continue;
		}
		vacancy->next_expiry = Min(vacancy->next_expiry, walk->expires_at);
		if (is_own(&tour) || !counts(pool, walk->generation))
			continue;
		vacancy->retry_at = walk->expires_at;
		break;
	}
	holds_walk_end(walk);
	if (vacancy->expired == NIL)
		pools_learn_expiry(store, pool, vacancy->next_expiry);
	if (rule_is_live(pool->expired_to, clock))
		return;
	vacancy->summed_to = clock;
	vacancy->summed = pool->expired + tour.beyond;
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

/* Tells the row what a walk has summed; none of it has been ended yet. */
void
vacancy_tell(const Vacancy *vacancy, Change *change)
{
	change_expired(change, vacancy->summed_to, vacancy->summed);
}

/* The same, and clears away what has to go. */
void
vacancy_clear(const Vacancy *vacancy, Change *change)
{
	ListCell   *lc;

	vacancy_tell(vacancy, change);
	change_next_expiry(change, vacancy->next_expiry);
	foreach(lc, vacancy->expired)
	{
		change_expire(change, lfirst(lc));
	}
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

/*
 * Counts the holds that expired at "from" or later and were not settled, and
 * what they hold.
 */
static void
count_expired(Store *store, Snapshot snapshot, const Pool *row,
			  TimestampTz from, TimestampTz clock, int64 *holds, int64 *units)
{
	HoldWalk	walk;

	*holds = 0;
	*units = 0;
	if (rule_is_live(from, clock))
		return;
	holds_walk(&walk, store, snapshot, row->id, from);
	while (holds_walk_next(&walk) && !rule_is_live(walk.expires_at, clock))
	{
		(*holds)++;
		if (counts(row, walk.generation))
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
 * Returns the units that live holds have in the pool.  Costs a step for each
 * hold that has expired since the row was written last.
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
		TimestampTz known = known_to(row, clock);
		int64		holds;
		int64		units;

		count_expired(store, snapshot, row, Max(row->next_expiry, known + 1),
					  clock, &holds, &units);
		held += row->held - units;
		if (known != DT_NOBEGIN)
			held -= row->expired;
	}
	return held;
}

/* Returns how many live holds there are.  Costs a step an expired hold. */
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

		count_expired(store, snapshot, row, row->next_expiry, clock, &holds,
					  &units);
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
