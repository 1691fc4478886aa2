/*-------------------------------------------------------------------------
 *
 * renew.c
 *	  The verb hold_renew.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "compat.h"
#include "memory.h"
#include "rules.h"
#include "token.h"
#include "utils/timestamp.h"
#include "vacancy.h"

SQL_FUNCTION(hold_renew);

typedef struct RenewRequest
{
	TokenRequest token;			/* must be first */
	int64		ttl;
} RenewRequest;

/* Says of a hold that is not live how it ended. */
static HoldOutcome
outcome_of_ended(const Standing *standing, TimestampTz clock)
{
	switch (memory_state(standing, clock))
	{
		case OUTCOME_CONSUMED:
			return OUTCOME_ALREADY_CONSUMED;
		case OUTCOME_RELEASED:
			return OUTCOME_ALREADY_RELEASED;
		case OUTCOME_EXPIRED:
			return OUTCOME_EXPIRED;
		default:
			return OUTCOME_RETURNED;
	}
}

static HoldOutcome
judge_renewal(const Standing *standing, TimestampTz clock)
{
	const Pool *pool = &standing->pool;

	if (!standing_is_live(standing, clock))
		return outcome_of_ended(standing, clock);
	if (pool->closed)
		return OUTCOME_CLOSED;
	if (!rule_is_live(pool->lease_end, clock) ||
		standing->hold->generation != pool->generation)
		return OUTCOME_POOL_EXPIRED;
	return OUTCOME_RENEWED;
}

static void
renew_hold(Standing *standing, TimestampTz clock, int64 ttl)
{
	ListCell   *lc;

	standing->change = change_begin(&standing->pool, clock);
	foreach(lc, standing->holds)
	{
		Hold	   *hold = lfirst(lc);

		change_renew(standing->change, hold, hold->qty,
					 Max(hold->expires_at, clock + ttl), NULL);
	}
}

/* All live holds are renewed, or none. */
static void
decide_renew(Attempt *attempt, Snapshot snapshot, List *standings)
{
	RenewRequest *request = attempt->request;
	TimestampTz clock = attempt->clock;
	TimestampTz since = token_live_since(standings, clock);
	bool		refused = false;
	ListCell   *lc;

	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);

		standing->outcome = judge_renewal(standing, clock);
		standing->available = vacancy_available(attempt->store, snapshot,
												&standing->pool, clock);
		refused |= standing->outcome == OUTCOME_CLOSED ||
			standing->outcome == OUTCOME_POOL_EXPIRED ||
			token_lapsed_beside(standing, since, clock);
	}
	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);

		if (standing->outcome != OUTCOME_RENEWED)
			continue;
		if (refused)
			standing->outcome = OUTCOME_BLOCKED;
		else
			renew_hold(standing, clock, request->ttl);
	}
}

static GrantAnswer
answer_of_renewal(const Standing *standing, int line)
{
	GrantAnswer answer = {0};
	const Hold *hold = standing->hold;

	answer.outcome = standing->outcome;
	answer.line = line;
	answer.pool = standing->pool.is_room ? NULL : standing->pool.key;
	answer.retry_at = DT_NOEND;
	answer.known = standing->pool.counted;
	answer.available = standing->available;
	if (standing->change != NULL)
		hold = linitial(standing->change->rewritten);
	answer.held = standing->outcome == OUTCOME_RENEWED ||
		standing->outcome == OUTCOME_BLOCKED ||
		standing->outcome == OUTCOME_CLOSED ||
		standing->outcome == OUTCOME_POOL_EXPIRED;
	if (answer.held)
	{
		answer.asked = true;
		answer.qty = standing_qty(standing);
		answer.expires_at = hold->expires_at;
		answer.version = hold->version;
	}
	return answer;
}

/*
 * hold_renew(token text, ttl interval) returns setof hold_grant
 *
 * Extends every live hold of the token, or none if one of them has expired or
 * may not be renewed; one row a hold.  It revives nothing and never shortens.
 *
 * Errors: 22004 and 22023 for bad arguments.  Locks the rows of the pools
 * until the transaction ends.
 */
Datum
hold_renew(PG_FUNCTION_ARGS)
{
	RenewRequest request = {0};
	Store		store;
	List	   *standings;
	ListCell   *lc;
	GrantAnswer answer = {0};

	request.token.token = argument_key(fcinfo, 0, "token");
	request.ttl = argument_ttl(fcinfo, 1);
	if (request.ttl == 0)
		request.ttl = usual_ttl();
	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	standings = token_holds_told(token_run(&store, &request.token,
										   decide_renew));

	if (standings == NIL)
	{
		answer.outcome = OUTCOME_NOT_FOUND;
		answer.line = 1;
		answer.retry_at = DT_NOEND;
		add_grant(fcinfo, &store.relations, &answer);
	}
	foreach(lc, standings)
	{
		answer = answer_of_renewal(lfirst(lc), foreach_current_index(lc) + 1);
		add_grant(fcinfo, &store.relations, &answer);
	}
	store_close_after_writing(&store);
	return (Datum) 0;
}
