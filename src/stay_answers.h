/*-------------------------------------------------------------------------
 *
 * stay_answers.h
 *	  The rows that verbs on stays answer with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_STAY_ANSWERS_H
#define HOLD_STAY_ANSWERS_H

#include "postgres.h"

#include "fmgr.h"
#include "nights.h"
#include "nodes/pg_list.h"
#include "relations.h"

typedef struct StayAnswer
{
	HoldOutcome outcome;
	bool		unknown;		/* no room and no nights to tell */
	int64		room_id;
	Nights		nights;			/* what was asked for */
	List	   *blocking;		/* stays in the way, of Stay */
	bool		held;			/* are there expires_at and version? */
	TimestampTz expires_at;		/* DT_NOEND: confirmed */
	int32		version;
} StayAnswer;

extern void add_stay_answer(FunctionCallInfo fcinfo,
							const Relations *relations,
							const StayAnswer *answer);

#endif							/* HOLD_STAY_ANSWERS_H */
