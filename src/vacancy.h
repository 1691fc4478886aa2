/*-------------------------------------------------------------------------
 *
 * vacancy.h
 *	  What a pool could still give to a token.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_VACANCY_H
#define HOLD_VACANCY_H

#include "postgres.h"

#include "change.h"
#include "holds.h"
#include "pools.h"
#include "store.h"

/* What a claim brings along. */
typedef struct Demand
{
	int64		qty;
	bool		budgeted;
	int64		budget;			/* if budgeted */
} Demand;

typedef struct Vacancy
{
	bool		limited;		/* false: nobody said how much there is */
	int64		could_have;		/* the most that the token could hold */
	int64		here;			/* the same, from this counter row alone */
	bool		spans;			/* it takes the locks of all rows to have it */
	List	   *expired;		/* holds of others that have to go, of Hold */
	TimestampTz next_expiry;	/* of the holds that stay, at the earliest */
	TimestampTz summed_to;		/* what expired up to then holds: */
	int64		summed;			/* as much as this, with what has to go */
	TimestampTz retry_at;		/* when a hold of another can first expire */
} Vacancy;

extern Vacancy *vacancy_for(Store *store, Snapshot snapshot, const Pool *pool,
							const Hold *own, const Demand *demand,
							TimestampTz clock);
extern void vacancy_tell(const Vacancy *vacancy, Change *change);
extern void vacancy_clear(const Vacancy *vacancy, Change *change);
extern TimestampTz vacancy_retry_at(Store *store, Snapshot snapshot,
									const Pool *row, const Hold *own,
									TimestampTz clock);
extern int64 vacancy_held(Store *store, Snapshot snapshot, const Pool *pool,
						  TimestampTz clock);
extern int64 vacancy_count(Store *store, Snapshot snapshot, const Pool *pool,
						   TimestampTz clock);
extern int64 vacancy_available(Store *store, Snapshot snapshot,
							   const Pool *pool, TimestampTz clock);

#endif							/* HOLD_VACANCY_H */
