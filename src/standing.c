/*-------------------------------------------------------------------------
 *
 * standing.c
 *	  How a token stands in its pools: its holds, and what the ledger
 *	  remembers of those that ended.
 *
 *-------------------------------------------------------------------------
 */
#include "standing.h"

#include "rules.h"
#include "utils/timestamp.h"

static int
compare_pool_ids(const void *a, const void *b)
{
	int64		first = *(const int64 *) a;
	int64		second = *(const int64 *) b;

	return first < second ? -1 : first > second;
}

/* By pool, and pieces of a stay by their nights. */
static int
compare_holds(const ListCell *a, const ListCell *b)
{
	const Hold *first = lfirst(a);
	const Hold *second = lfirst(b);

	if (first->pool_id != second->pool_id)
		return first->pool_id < second->pool_id ? -1 : 1;
	if (first->stay == NULL || second->stay == NULL)
		return 0;
	return first->stay->nights.first < second->stay->nights.first ? -1 : 1;
}

/* A stay as the hold that it is: its units are nights. */
Hold *
hold_of_stay(const Pool *room, Stay *stay)
{
	Hold	   *hold = palloc0(sizeof(Hold));

	hold->pool_id = room->id;
	hold->qty = nights_count(stay->nights) * UNITS_PER_ONE;
	hold->expires_at = stay->expires_at;
	hold->held_since = stay->held_since;
	hold->version = stay->version;
	hold->generation = room->generation;
	hold->token = stay->token;
	hold->ref = stay->ref;
	hold->payload = stay->payload;
	hold->stay = stay;
	return hold;
}

static void
add_stays(TokenFacts *facts, Store *store, Snapshot snapshot,
		  const text *token)
{
	ListCell   *lc;

	foreach(lc, stays_of_token(store, snapshot, token))
	{
		Stay	   *stay = lfirst(lc);
		Pool		room;

		if (!pools_find_room(store, snapshot, store->tenant, stay->room_id,
							 &room))
			elog(ERROR, "room " INT64_FORMAT " has stays and no row",
				 stay->room_id);
		facts->holds = lappend(facts->holds, hold_of_stay(&room, stay));
	}
}

/*
 * Reads all that a token has, with or without its stays, and all that the
 * ledger remembers of it.
 */
TokenFacts *
facts_of_token(Store *store, Snapshot snapshot, const text *token, bool stays)
{
	TokenFacts *facts = palloc(sizeof(TokenFacts));

	facts->holds = holds_of_token(store, snapshot, token);
	if (stays)
		add_stays(facts, store, snapshot, token);
	facts->entries = entries_of_token(store, snapshot, token, 0);
	list_sort(facts->holds, compare_holds);
	return facts;
}

/*
 * Adds a hold, or a piece of a stay, to what the token has there.  A stay
 * that is confirmed is held no more.
 */
void
standing_add_hold(Standing *standing, Hold *hold)
{
	if (hold->stay != NULL && hold->stay->confirmed)
	{
		standing->confirmed = lappend(standing->confirmed, hold);
		return;
	}
	if (standing->hold == NULL)
		standing->hold = hold;
	standing->holds = lappend(standing->holds, hold);
}

/* Is the stay a piece of what the token holds there? */
bool
standing_holds_stay(const Standing *standing, const Stay *stay)
{
	ListCell   *lc;

	foreach(lc, standing->holds)
	{
		if (((Hold *) lfirst(lc))->stay->id == stay->id)
			return true;
	}
	return false;
}

static int64
hold_pool_at(const TokenFacts *facts, int i)
{
	return i < list_length(facts->holds) ?
		((Hold *) list_nth(facts->holds, i))->pool_id : PG_INT64_MAX;
}

static int64
entry_pool_at(const TokenFacts *facts, int i)
{
	return i < list_length(facts->entries) ?
		((Entry *) list_nth(facts->entries, i))->pool_id : PG_INT64_MAX;
}

/* The first place in facts from which on pools are not below the given one. */
static int
first_place(const TokenFacts *facts, int64 pool_id, int count,
			int64 (*pool_at) (const TokenFacts *facts, int i))
{
	int			low = 0;
	int			high = count;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (pool_at(facts, middle) < pool_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Puts into the standing what the facts say of a counter row. */
static void
fill_from_row(Standing *standing, const TokenFacts *facts, int64 pool_id)
{
	int			h = first_place(facts, pool_id, list_length(facts->holds),
								hold_pool_at);
	int			e = first_place(facts, pool_id, list_length(facts->entries),
								entry_pool_at);

	for (; hold_pool_at(facts, h) == pool_id; h++)
		standing_add_hold(standing, list_nth(facts->holds, h));
	for (; entry_pool_at(facts, e) == pool_id; e++)
		standing->entries = lappend(standing->entries,
									list_nth(facts->entries, e));
}

/* Puts into the standing what the facts say of its pool. */
void
standing_fill(Standing *standing, const TokenFacts *facts)
{
	ListCell   *lc;

	fill_from_row(standing, facts, standing->pool.id);
	if (standing->siblings == NIL)
		return;
	foreach(lc, standing->siblings)
	{
		fill_from_row(standing, facts, ((Standing *) lfirst(lc))->pool.id);
	}
	list_sort(standing->entries, entries_compare_by_time);
}

/* Finds the other counter rows of the pool, if it has any. */
void
standing_find_siblings(Store *store, Snapshot snapshot, const text *token,
					   Standing *standing)
{
	ListCell   *lc;

	standing->siblings = NIL;
	if (standing->pool.rows <= 1)
		return;
	standing->token_key = rule_token_key(standing->pool.tenant, token);
	foreach(lc, pools_find_stripes(store, snapshot, &standing->pool))
	{
		Pool	   *row = lfirst(lc);
		Sibling    *sibling;

		if (row->id == standing->pool.id)
			continue;
		sibling = palloc0(sizeof(Sibling));
		sibling->standing.pool = *row;
		standing->siblings = lappend(standing->siblings, sibling);
	}
}

/* The id by which the pool is known: that of its own counter row. */
int64
standing_pool_id(const Standing *standing)
{
	ListCell   *lc;

	foreach(lc, standing->siblings)
	{
		const Pool *row = &((Standing *) lfirst(lc))->pool;

		if (row->stripe == 0)
			return row->id;
	}
	return standing->pool.id;
}

/* Is it a pool that the current tenant knows? */
static bool
is_known(Store *store, Snapshot snapshot, int64 pool_id, Pool *pool)
{
	return pools_find_id(store, snapshot, pool_id, pool) && !pool->retired &&
		rule_same_text(pool->tenant, store->tenant);
}

/* The next pool after the given one of which the facts say something, or 0. */
static int64
next_pool(const TokenFacts *facts, int64 pool_id)
{
	int			h = first_place(facts, pool_id + 1,
								list_length(facts->holds), hold_pool_at);
	int			e = first_place(facts, pool_id + 1,
								list_length(facts->entries), entry_pool_at);
	int64		next = Min(hold_pool_at(facts, h), entry_pool_at(facts, e));

	return next == PG_INT64_MAX ? 0 : next;
}

/* For sorting into the order of locks. */
int
standings_compare(const ListCell *a, const ListCell *b)
{
	return pools_compare_for_locks(&((Standing *) lfirst(a))->pool,
								   &((Standing *) lfirst(b))->pool);
}

/* Has another counter row of the pool brought it in? */
static bool
is_told(List *standings, const Pool *pool)
{
	ListCell   *lc;

	if (pool->is_room || pool->rows <= 1)
		return false;
	foreach(lc, standings)
	{
		const Pool *other = &((Standing *) lfirst(lc))->pool;

		if (!other->is_room && rule_same_text(other->key, pool->key))
			return true;
	}
	return false;
}

/*
 * Returns how a token stands in all of its pools and rooms, pools first, in
 * the order of their ids.
 */
List *
standings_of_token(Store *store, Snapshot snapshot, const text *token)
{
	TokenFacts *facts = facts_of_token(store, snapshot, token, true);
	List	   *standings = NIL;

	for (int64 pool_id = next_pool(facts, 0); pool_id != 0;
		 pool_id = next_pool(facts, pool_id))
	{
		Standing   *standing = palloc0(sizeof(Standing));

		if (!is_known(store, snapshot, pool_id, &standing->pool) ||
			is_told(standings, &standing->pool))
			continue;
		if (standing->pool.stripe > 0)
			(void) pools_find(store, snapshot, standing->pool.key,
							  &standing->pool);
		standing_find_siblings(store, snapshot, token, standing);
		standing_fill(standing, facts);
		standings = lappend(standings, standing);
	}
	list_sort(standings, standings_compare);
	return standings;
}

/*
 * Returns how the token of these facts stands in a room, which need not have a
 * row yet.
 */
Standing *
standing_in_room(Store *store, Snapshot snapshot, const TokenFacts *facts,
				 int64 room_id)
{
	Standing   *standing = palloc0(sizeof(Standing));

	if (pools_find_room(store, snapshot, store->tenant, room_id,
						&standing->pool))
		standing_fill(standing, facts);
	return standing;
}

/* All that the token holds there. */
int64
standing_qty(const Standing *standing)
{
	return holds_qty(standing->holds);
}

/* The ids of the standings' pools, in order. */
PoolSet *
standings_pools(List *standings)
{
	PoolSet    *pools = palloc(sizeof(PoolSet));
	ListCell   *lc;

	pools->count = 0;
	pools->ids = palloc(sizeof(int64) * (list_length(standings) + 1));
	foreach(lc, standings)
	{
		pools->ids[pools->count++] = ((Standing *) lfirst(lc))->pool.id;
	}
	qsort(pools->ids, pools->count, sizeof(int64), compare_pool_ids);
	return pools;
}

bool
standing_is_among(const Standing *standing, const PoolSet *pools)
{
	return bsearch(&standing->pool.id, pools->ids, pools->count,
				   sizeof(int64), compare_pool_ids) != NULL;
}

bool
standing_is_live(const Standing *standing, TimestampTz clock)
{
	return standing->hold != NULL &&
		rule_is_live(standing->hold->expires_at, clock);
}

/*
 * The version of the live hold that the token has there, or 0.  It is asked
 * apart, as gcc 14 makes of "live ? hold->version + 1 : 1" a read of the hold
 * that there is not.
 */
int32
standing_version(const Standing *standing, TimestampTz clock)
{
	if (!standing_is_live(standing, clock))
		return 0;
	return standing->hold->version;
}
