/*-------------------------------------------------------------------------
 *
 * try.c
 *	  The verbs hold_try and hold_try_lines.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "claim.h"
#include "compat.h"
#include "rules.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_try);
SQL_FUNCTION(hold_try_lines);

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
		answer.version = claim->live ? hold->version + 1 : 1;
	}
	else if (claim->live)
	{
		answer.held = true;
		answer.expires_at = hold->expires_at;
		answer.version = hold->version;
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
