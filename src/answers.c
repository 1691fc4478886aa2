/*-------------------------------------------------------------------------
 *
 * answers.c
 *	  The rows that verbs answer with.
 *
 *-------------------------------------------------------------------------
 */
#include "answers.h"

#include "access/htup_details.h"
#include "counters.h"
#include "funcapi.h"
#include "nodes/execnodes.h"
#include "rules.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define GRANT_COLUMNS 9
#define SETTLEMENT_COLUMNS 12

bool
outcome_is_grant(HoldOutcome outcome)
{
	return outcome <= OUTCOME_CHANGED;
}

void
put_text(Datum *value, bool *isnull, text *string)
{
	*value = PointerGetDatum(string);
	*isnull = string == NULL;
}

/* A moment; DT_NOEND is no moment. */
void
put_time(Datum *value, bool *isnull, TimestampTz moment)
{
	*value = TimestampTzGetDatum(moment);
	*isnull = moment == DT_NOEND;
}

void
put_units(Datum *value, bool *isnull, bool known, int64 units)
{
	*isnull = !known;
	if (known)
		*value = NumericGetDatum(rule_numeric(units));
}

/* Fills in an answer, which is given then: a refusal is counted. */
static void
fill_grant(const Relations *relations, const GrantAnswer *answer,
		   Datum *values, bool *isnull)
{
	counters_refusal(answer->outcome);
	memset(isnull, 0, sizeof(bool) * GRANT_COLUMNS);
	values[0] = BoolGetDatum(outcome_is_grant(answer->outcome));
	values[1] = ObjectIdGetDatum(relations->outcomes[answer->outcome]);
	values[2] = Int32GetDatum(answer->line);
	put_text(&values[3], &isnull[3], answer->pool);
	put_units(&values[4], &isnull[4], answer->asked, answer->qty);
	put_units(&values[5], &isnull[5], answer->known, answer->available);
	values[6] = TimestampTzGetDatum(answer->expires_at);
	isnull[6] = !answer->held;
	values[7] = Int32GetDatum(answer->version);
	isnull[7] = !answer->held;
	put_time(&values[8], &isnull[8], answer->retry_at);
}

/* Returns the one row of a function that does not return a set. */
Datum
answer_grant(FunctionCallInfo fcinfo, const Relations *relations,
			 const GrantAnswer *answer)
{
	TupleDesc	desc;
	Datum		values[GRANT_COLUMNS];
	bool		isnull[GRANT_COLUMNS];

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	fill_grant(relations, answer, values, isnull);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 isnull));
}

/* Makes ready for the rows of a function that returns a set. */
void
start_rows(FunctionCallInfo fcinfo)
{
	InitMaterializedSRF(fcinfo, 0);
}

void
add_row(FunctionCallInfo fcinfo, Datum *values, bool *isnull)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	tuplestore_putvalues(result->setResult, result->setDesc, values, isnull);
}

void
add_grant(FunctionCallInfo fcinfo, const Relations *relations,
		  const GrantAnswer *answer)
{
	Datum		values[GRANT_COLUMNS];
	bool		isnull[GRANT_COLUMNS];

	fill_grant(relations, answer, values, isnull);
	add_row(fcinfo, values, isnull);
}

void
add_settlement(FunctionCallInfo fcinfo, const Relations *relations,
			   const SettlementAnswer *answer)
{
	Datum		values[SETTLEMENT_COLUMNS];
	bool		isnull[SETTLEMENT_COLUMNS] = {0};

	values[0] = ObjectIdGetDatum(relations->outcomes[answer->outcome]);
	values[1] = Int32GetDatum(answer->line);
	put_text(&values[2], &isnull[2], answer->pool);
	put_units(&values[3], &isnull[3], answer->known, answer->qty);
	put_units(&values[4], &isnull[4], answer->known, answer->consumed);
	put_units(&values[5], &isnull[5], answer->known, answer->refunded);
	put_units(&values[6], &isnull[6], answer->known, answer->held);
	values[7] = TimestampTzGetDatum(answer->at);
	isnull[7] = !answer->known;
	values[8] = PointerGetDatum(answer->payload);
	isnull[8] = answer->payload == NULL;
	values[9] = Int64GetDatum(answer->room_id);
	isnull[9] = !answer->of_room;
	isnull[10] = !answer->of_stay;
	if (answer->of_stay)
		values[10] = nights_range(answer->nights);
	values[11] = Int64GetDatum(answer->reservation_id);
	isnull[11] = !answer->reserved;
	add_row(fcinfo, values, isnull);
}
