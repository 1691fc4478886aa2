/*-------------------------------------------------------------------------
 *
 * stay_answers.c
 *	  The rows that verbs on stays answer with.
 *
 *-------------------------------------------------------------------------
 */
#include "stay_answers.h"

#include "answers.h"
#include "catalog/pg_type.h"
#include "counters.h"
#include "stays.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#define STAY_COLUMNS 8

static bool
is_taken(List *blocking, DateADT night)
{
	ListCell   *lc;

	foreach(lc, blocking)
	{
		const Stay *stay = lfirst(lc);

		if (night >= stay->nights.first && night < stay->nights.departure)
			return true;
	}
	return false;
}

/* The nights that are not free, in order. */
static Datum
taken_nights(const StayAnswer *answer)
{
	Datum	   *taken = palloc(sizeof(Datum) * nights_count(answer->nights));
	int			count = 0;

	for (DateADT night = answer->nights.first;
		 night < answer->nights.departure; night++)
	{
		if (is_taken(answer->blocking, night))
			taken[count++] = DateADTGetDatum(night);
	}
	return PointerGetDatum(construct_array(taken, count, DATEOID, 4, true,
										   TYPALIGN_INT));
}

/* When the last stay in the way can come free; never, if one is confirmed. */
static TimestampTz
retry_at(const StayAnswer *answer)
{
	TimestampTz last = DT_NOBEGIN;
	ListCell   *lc;

	if (answer->outcome != OUTCOME_STAY_TAKEN)
		return DT_NOEND;
	foreach(lc, answer->blocking)
	{
		last = Max(last, ((Stay *) lfirst(lc))->expires_at);
	}
	return last;
}

void
add_stay_answer(FunctionCallInfo fcinfo, const Relations *relations,
				const StayAnswer *answer)
{
	Datum		values[STAY_COLUMNS];
	bool		isnull[STAY_COLUMNS] = {0};

	counters_refusal(answer->outcome);
	values[0] = BoolGetDatum(outcome_is_grant(answer->outcome));
	values[1] = ObjectIdGetDatum(relations->outcomes[answer->outcome]);
	values[2] = Int64GetDatum(answer->room_id);
	isnull[2] = answer->unknown;
	isnull[3] = answer->unknown;
	if (!answer->unknown)
		values[3] = nights_range(answer->nights);
	values[4] = taken_nights(answer);
	put_time(&values[5], &isnull[5], answer->expires_at);
	isnull[5] |= !answer->held;
	values[6] = Int32GetDatum(answer->version);
	isnull[6] = !answer->held;
	put_time(&values[7], &isnull[7], retry_at(answer));
	add_row(fcinfo, values, isnull);
}
