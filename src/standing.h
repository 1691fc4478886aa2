/*-------------------------------------------------------------------------
 *
 * standing.h
 *	  How a token stands in a pool.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_STANDING_H
#define HOLD_STANDING_H

#include "postgres.h"

#include "change.h"
#include "entries.h"
#include "holds.h"
#include "pools.h"
#include "store.h"

/* What a settlement says of one hold. */
typedef struct Figures
{
	TimestampTz at;
	int64		before;			/* what was held */
	int64		consumed;
	int64		refunded;
	int64		held;
	Jsonb	   *payload;		/* or NULL */
	bool		reserved;
	int64		reservation_id; /* if reserved */
	bool		of_stay;
	Nights		nights;			/* if of_stay; from the first to the last */
} Figures;

/*
 * All that a token has in one pool, and what a verb makes of it.  Where a pool
 * has several counter rows, "pool" is the one that the verb is about: first
 * the pool's own, then the one that the token belongs to.
 */
typedef struct Standing
{
	Pool		pool;
	List	   *siblings;		/* the other counter rows, of Sibling */
	int64		token_key;		/* if there are any */
	bool		spans;			/* it takes a lock on all of them */
	Hold	   *hold;			/* NULL: none that has not ended */
	List	   *holds;			/* all of them: a stay can be in pieces */
	List	   *confirmed;		/* its confirmed stays, of Hold */
	List	   *entries;		/* what the ledger remembers, in order */
	HoldOutcome outcome;		/* the verb's answer */
	Figures		figures;		/* the same, of a settlement */
	const Entry *told;			/* by which it was consumed, if it is told so */
	int64		available;		/* the same, of a renewal */
	Change	   *change;			/* what the verb does, or NULL */
} Standing;

/* Another counter row of a pool, and what a verb does there. */
typedef struct Sibling
{
	Standing	standing;		/* must be first; without holds and entries */
	struct Vacancy *vacancy;
} Sibling;

/* All that a token has and had, by pool. */
typedef struct TokenFacts
{
	List	   *holds;			/* of Hold */
	List	   *entries;		/* of Entry, by number within a pool */
} TokenFacts;

/* Ids of pools, in order. */
typedef struct PoolSet
{
	int			count;
	int64	   *ids;
} PoolSet;

extern int	standings_compare(const ListCell *a, const ListCell *b);
extern PoolSet *standings_pools(List *standings);
extern bool standing_is_among(const Standing *standing,
							  const PoolSet *pools);
extern TokenFacts *facts_of_token(Store *store, Snapshot snapshot,
								  const text *token, bool stays);
extern void standing_find_siblings(Store *store, Snapshot snapshot,
								   const text *token, Standing *standing);
extern int64 standing_pool_id(const Standing *standing);
extern void standing_fill(Standing *standing, const TokenFacts *facts);
extern List *standings_of_token(Store *store, Snapshot snapshot,
								const text *token);
extern Standing *standing_in_room(Store *store, Snapshot snapshot,
								  const TokenFacts *facts, int64 room_id);
extern void standing_add_hold(Standing *standing, Hold *hold);
extern bool standing_holds_stay(const Standing *standing, const Stay *stay);
extern int64 standing_qty(const Standing *standing);
extern Hold *hold_of_stay(const Pool *room, Stay *stay);
extern bool standing_is_live(const Standing *standing, TimestampTz clock);
extern int32 standing_version(const Standing *standing, TimestampTz clock);

#endif							/* HOLD_STANDING_H */
