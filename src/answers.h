/*-------------------------------------------------------------------------
 *
 * answers.h
 *	  The rows that verbs answer with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_ANSWERS_H
#define HOLD_ANSWERS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "fmgr.h"
#include "nights.h"
#include "relations.h"
#include "utils/jsonb.h"

/* A row of type hold_grant.  Quantities are in units. */
typedef struct GrantAnswer
{
	HoldOutcome outcome;
	int			line;
	text	   *pool;			/* or NULL */
	bool		asked;			/* is there a qty? */
	int64		qty;
	bool		known;			/* is there an available? */
	int64		available;
	bool		held;			/* are there expires_at and version? */
	TimestampTz expires_at;
	int32		version;
	TimestampTz retry_at;		/* DT_NOEND: none */
} GrantAnswer;

/* A row of type hold_settlement.  Quantities are in units. */
typedef struct SettlementAnswer
{
	HoldOutcome outcome;
	int			line;
	text	   *pool;			/* or NULL */
	bool		known;			/* are there figures and a time? */
	int64		qty;
	int64		consumed;
	int64		refunded;
	int64		held;
	TimestampTz at;
	Jsonb	   *payload;		/* or NULL */
	bool		of_room;
	int64		room_id;		/* if of_room */
	bool		of_stay;
	Nights		nights;			/* if of_stay */
	bool		reserved;
	int64		reservation_id; /* if reserved */
} SettlementAnswer;

extern bool outcome_is_grant(HoldOutcome outcome);
extern Datum answer_grant(FunctionCallInfo fcinfo, const Relations *relations,
						  const GrantAnswer *answer);
extern void add_grant(FunctionCallInfo fcinfo, const Relations *relations,
					  const GrantAnswer *answer);
extern void add_settlement(FunctionCallInfo fcinfo, const Relations *relations,
						   const SettlementAnswer *answer);
extern void add_row(FunctionCallInfo fcinfo, Datum *values, bool *isnull);
extern void start_rows(FunctionCallInfo fcinfo);
extern void put_text(Datum *value, bool *isnull, text *string);
extern void put_time(Datum *value, bool *isnull, TimestampTz moment);
extern void put_units(Datum *value, bool *isnull, bool known, int64 units);

#endif							/* HOLD_ANSWERS_H */
