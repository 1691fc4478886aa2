/*-------------------------------------------------------------------------
 *
 * counters.h
 *	  How often what has happened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_COUNTERS_H
#define HOLD_COUNTERS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "relations.h"

/* First the events of the ledger, in their order, then these. */
enum
{
	COUNTER_EVICTED = NUM_EVENTS,	/* expired, not by a sweep */
	COUNTER_REFUSED,			/* and the other outcomes, in their order */
	NUM_COUNTERS = COUNTER_REFUSED + NUM_OUTCOMES
};

/* What was counted. */
typedef struct Counts
{
	bool		shared;			/* by all sessions, or by this one? */
	TimestampTz since;
	int64		counts[NUM_COUNTERS];
} Counts;

extern void counters_init(void);
extern void counters_event(HoldEvent event, bool sweeping);
extern void counters_refusal(HoldOutcome outcome);
extern void counters_read(Counts *counts);

#endif							/* HOLD_COUNTERS_H */
