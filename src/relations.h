/*-------------------------------------------------------------------------
 *
 * relations.h
 *	  The extension's own tables, indexes and enum values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_RELATIONS_H
#define HOLD_RELATIONS_H

#include "postgres.h"

#include "fmgr.h"

typedef enum OwnTable
{
	TABLE_POOLS,
	TABLE_HOLDS,
	TABLE_LEDGER,
	TABLE_CLASSES,
	TABLE_STAYS,
	NUM_TABLES
} OwnTable;

typedef enum OwnIndex
{
	POOLS_BY_ID,
	POOLS_BY_KEY,
	HOLDS_BY_TOKEN,
	HOLDS_BY_EXPIRY,
	LEDGER_BY_MEMORY,
	CLASSES_BY_ID,
	CLASSES_BY_PREFIX,
	STAYS_BY_ID,
	STAYS_BY_NIGHT,
	STAYS_BY_TOKEN,
	STAYS_BY_EXPIRY,
	NUM_INDEXES
} OwnIndex;

/* labels of the type hold_outcome, in its order */
typedef enum HoldOutcome
{
	OUTCOME_GRANTED,
	OUTCOME_RENEWED,
	OUTCOME_CHANGED,
	OUTCOME_ALREADY_CONSUMED,
	OUTCOME_CLOSED,
	OUTCOME_POOL_EXPIRED,
	OUTCOME_INSUFFICIENT,
	OUTCOME_STAY_TAKEN,
	OUTCOME_BLOCKED,
	OUTCOME_CONSUMED,
	OUTCOME_RELEASED,
	OUTCOME_ALREADY_RELEASED,
	OUTCOME_EXPIRED,
	OUTCOME_NOT_FOUND,
	OUTCOME_RETURNED,
	NUM_OUTCOMES
} HoldOutcome;

/* labels of the type hold_event, in its order */
typedef enum HoldEvent
{
	EVENT_CAPACITY,
	EVENT_OPENED,
	EVENT_CLOSED,
	EVENT_GENERATION,
	EVENT_GRANTED,
	EVENT_RENEWED,
	EVENT_CHANGED,
	EVENT_CONSUMED,
	EVENT_RELEASED,
	EVENT_EXPIRED,
	EVENT_RETURNED,
	EVENT_REPAIRED,
	NUM_EVENTS
} HoldEvent;

/* The object identifiers of one installed hold_ledger. */
typedef struct Relations
{
	Oid			schema;			/* InvalidOid: nothing is known */
	Oid			tables[NUM_TABLES];
	Oid			indexes[NUM_INDEXES];
	Oid			ids;			/* the sequence that numbers all rows */
	Oid			line_type;		/* hold_line */
	Oid			see_tokens;		/* who may execute this sees tokens */
	Oid			outcomes[NUM_OUTCOMES];
	Oid			events[NUM_EVENTS];
} Relations;

extern void relations_init(void);
extern Relations relations_of_function(FunctionCallInfo fcinfo);
extern bool relations_are_current(const Relations *relations);
extern HoldEvent relations_event(const Relations *relations, Oid value);

#endif							/* HOLD_RELATIONS_H */
