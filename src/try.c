/*-------------------------------------------------------------------------
 *
 * try.c
 *	  The verbs hold_try, hold_try_lines and hold_try_batch.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "access/htup_details.h"
#include "arguments.h"
#include "batch.h"
#include "claim.h"
#include "compat.h"
#include "rules.h"
#include "settings.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

SQL_FUNCTION(hold_try);
SQL_FUNCTION(hold_try_lines);
SQL_FUNCTION(hold_try_batch);

/* --- lines of one pool are one want --- */

static int
compare_lines(const void *a, const void *b)
{
	return rule_compare_text((*(const Line *const *) a)->pool,
							 (*(const Line *const *) b)->pool);
}

/* Adds a line to what is wanted of its pool; of two budgets the less counts. */
static void
add_demand(Demand *sum, const Demand *demand)
{
	sum->qty = rule_add(sum->qty, demand->qty);
	if (demand->budgeted)
	{
		sum->budget = sum->budgeted ? Min(sum->budget, demand->budget) :
			demand->budget;
		sum->budgeted = true;
	}
}

/*
 * Sums the lines of each pool, in byte order of the pools.  want_of_line tells
 * for each line where its pool is.
 */
static Want *
sum_lines(Line *lines, int count, int *want_of_line, int *wanted)
{
	Line	  **ordered = palloc(sizeof(Line *) * count);
	Want	   *wants = palloc0(sizeof(Want) * count);
	int			last = -1;

	for (int i = 0; i < count; i++)
		ordered[i] = &lines[i];
	qsort(ordered, count, sizeof(Line *), compare_lines);
	for (int i = 0; i < count; i++)
	{
		if (last < 0 || !rule_same_text(wants[last].pool, ordered[i]->pool))
			wants[++last].pool = ordered[i]->pool;
		add_demand(&wants[last].demand, &ordered[i]->demand);
		want_of_line[ordered[i] - lines] = last;
	}
	*wanted = last + 1;
	return wants;
}

/* --- answering --- */

static GrantAnswer
answer_of_claim(const Claim *claim, int line, int64 qty)
{
	GrantAnswer answer = {0};
	const Hold *hold = claim->standing.hold;

	answer.outcome = claim->standing.outcome;
	answer.line = line;
	answer.pool = claim->want->pool;
	answer.asked = true;
	answer.qty = qty;
	answer.known = claim_available(claim, &answer.available);
	answer.retry_at = answer.outcome == OUTCOME_INSUFFICIENT ?
		claim->vacancy->retry_at : DT_NOEND;
	if (outcome_is_grant(answer.outcome))
	{
		answer.held = true;
		answer.expires_at = claim->expires_at;
		answer.version = claim->version + 1;
	}
	else if (claim->live)
	{
		answer.held = true;
		answer.expires_at = hold->expires_at;
		answer.version = claim->version;
	}
	return answer;
}

/*
 * hold_try(token text, pool text, qty numeric, ttl interval, budget numeric,
 *			payload jsonb) returns hold_grant
 *
 * Holds qty of the pool for the token until ttl has passed; the same token
 * again renews, or changes the quantity.  A refusal is an answer: it locks
 * nothing and leaves nothing.
 *
 * Errors: 22004 and 22023 for bad arguments, 42704 for an unknown pool
 * without a budget.  Locks the pool's row until the transaction ends.
 */
Datum
hold_try(PG_FUNCTION_ARGS)
{
	ClaimRequest request = {0};
	Want		want = {0};
	Store		store;
	GrantAnswer answer;
	List	   *claims;

	request.token = argument_key(fcinfo, 0, "token");
	want.pool = argument_key(fcinfo, 1, "pool");
	want.demand.qty = argument_units(fcinfo, 2, "qty", QUANTITY_POSITIVE);
	want.demand.budgeted = !PG_ARGISNULL(4);
	if (want.demand.budgeted)
		want.demand.budget = argument_units(fcinfo, 4, "budget", QUANTITY_ANY);
	request.wants = &want;
	request.count = 1;
	request.ttl = argument_ttl(fcinfo, 3);
	request.payload = argument_payload(fcinfo, 5);

	store_open_for_writing(&store, fcinfo);
	claims = claims_run(&store, &request);
	answer = answer_of_claim(linitial(claims), 1, want.demand.qty);
	claim_adapt(&store, linitial(claims));
	store_close_after_writing(&store);
	return answer_grant(fcinfo, &store.relations, &answer);
}

/*
 * hold_try_lines(token text, lines hold_line[], ttl interval, replace boolean,
 *				  payload jsonb) returns setof hold_grant
 *
 * The same for many lines, all or none, one row a line in request order.
 * Lines of one pool are summed before they are judged.  "replace" releases
 * the token's live holds in other pools in the same step.
 *
 * Errors as hold_try; one unknown pool is 42704 for the whole.  Locks the
 * rows of the pools, in the order of their ids, until the transaction ends.
 */
Datum
hold_try_lines(PG_FUNCTION_ARGS)
{
	ClaimRequest request = {0};
	Store		store;
	Line	   *lines;
	int			count;
	int		   *want_of_line;
	List	   *claims;

	request.token = argument_key(fcinfo, 0, "token");
	request.ttl = argument_ttl(fcinfo, 2);
	request.replace = argument_bool(fcinfo, 3, "replace");
	request.payload = argument_payload(fcinfo, 4);

	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	lines = lines_of_argument(fcinfo, 1, &store.relations, &count);
	want_of_line = palloc(sizeof(int) * count);
	request.wants = sum_lines(lines, count, want_of_line, &request.count);

	claims = claims_run(&store, &request);
	for (int i = 0; i < count; i++)
	{
		GrantAnswer answer = answer_of_claim(list_nth(claims, want_of_line[i]),
											 i + 1, lines[i].demand.qty);

		add_grant(fcinfo, &store.relations, &answer);
	}
	store_close_after_writing(&store);
	return (Datum) 0;
}

/* --- many independent requests --- */

/* One request of a batch, checked. */
typedef struct BatchRequest
{
	ClaimRequest claim;
	Want		want;
} BatchRequest;

static void
require_field(const bool *isnull, int column, const char *name)
{
	if (isnull[column])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

static void
read_fields(HeapTupleHeader header, BatchRequest *request)
{
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(header),
												   HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple = {0};
	Datum	   *values = palloc(sizeof(Datum) * desc->natts);
	bool	   *isnull = palloc(sizeof(bool) * desc->natts);

	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	tuple.t_data = header;
	heap_deform_tuple(&tuple, desc, values, isnull);
	require_field(isnull, 0, "token");
	require_field(isnull, 1, "pool");
	request->claim.token = DatumGetTextPP(values[0]);
	rule_key(request->claim.token, "token");
	request->want.pool = DatumGetTextPP(values[1]);
	rule_key(request->want.pool, "pool");
	request->want.demand.qty = isnull[2] ? UNITS_PER_ONE :
		rule_units(DatumGetNumeric(values[2]), "qty", QUANTITY_POSITIVE);
	request->claim.ttl = isnull[3] ? 0 :
		rule_ttl(DatumGetIntervalP(values[3]), setting_max_ttl);
	request->want.demand.budgeted = !isnull[4];
	if (!isnull[4])
		request->want.demand.budget = rule_units(DatumGetNumeric(values[4]),
												 "budget", QUANTITY_ANY);
	request->claim.payload = isnull[5] ? NULL : DatumGetJsonbP(values[5]);
	request->claim.wants = &request->want;
	request->claim.count = 1;
}

/* Reads request number i + 1; a mistake in it says its number. */
static void
read_batch_request(const ArrayArgument *array, int i, BatchRequest *request)
{
	if (array->isnull[i])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("requests must not contain nulls"),
				 errdetail("It is request %d.", i + 1)));
	PG_TRY();
	{
		read_fields(DatumGetHeapTupleHeader(array->values[i]), request);
	}
	PG_CATCH();
	{
		batch_rethrow(i + 1);
	}
	PG_END_TRY();
}

static BatchRequest *
read_batch(FunctionCallInfo fcinfo, int *count)
{
	ArrayArgument array;
	BatchRequest *requests;

	require_argument(fcinfo, 0, "requests");
	array = argument_array(fcinfo, 0, "requests", MOST_REQUESTS);
	requests = palloc0(sizeof(BatchRequest) * (array.count + 1));
	for (int i = 0; i < array.count; i++)
		read_batch_request(&array, i, &requests[i]);
	*count = array.count;
	return requests;
}

/*
 * hold_try_batch(requests hold_request[]) returns setof hold_grant
 *
 * Many independent requests, judged in request order; one row a request, with
 * its number as line.  A mistake in one is an error of the whole.
 *
 * Errors as hold_try, with the number of the request in the detail.  Locks as
 * hold_try, for all requests at once and in one order.
 */
Datum
hold_try_batch(PG_FUNCTION_ARGS)
{
	int			count;
	BatchRequest *requests = read_batch(fcinfo, &count);
	List	   *attempts = NIL;
	ListCell   *lc;
	Store		store;

	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	for (int i = 0; i < count; i++)
	{
		Attempt    *attempt = palloc0(sizeof(Attempt));

		claims_prepare(attempt, &store, &requests[i].claim);
		attempt->number = i + 1;
		attempts = lappend(attempts, attempt);
	}
	attempts_run(attempts);
	foreach(lc, attempts)
	{
		Attempt    *attempt = lfirst(lc);
		GrantAnswer answer = answer_of_claim(linitial(attempt->standings),
											 attempt->number,
											 requests[attempt->number - 1].want.demand.qty);

		add_grant(fcinfo, &store.relations, &answer);
	}
	store_close_after_writing(&store);
	return (Datum) 0;
}
