/*-------------------------------------------------------------------------
 *
 * claim.c
 *	  Claims of a token on pools, all or none.
 *
 * A claim competes only with what others have: a live hold of the same token
 * is renewed, or changed by the difference.  An expired one is history; what
 * the token then gets is a fresh claim.
 *
 *-------------------------------------------------------------------------
 */
#include "claim.h"

#include "arguments.h"
#include "classes.h"
#include "memory.h"
#include "rows.h"
#include "rules.h"
#include "source.h"
#include "stripes.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* --- finding --- */

/*
 * A pool that is not there, or was dropped, may be one that a class would make;
 * then it is as if it had yet to be made.  What was consumed in it still counts.
 */
static bool
shape_by_class(Store *store, Snapshot snapshot, Claim *claim)
{
	Pool	   *pool = &claim->standing.pool;
	int64		consumed = 0;
	PoolClass	class;

	if (!classes_find_for_pool(store, snapshot, claim->want->pool, &class))
		return false;
	if (pool->id != 0)
		consumed = pools_consumed(store, snapshot, pool);
	pool_init(pool, store->tenant, claim->want->pool);
	classes_shape_pool(&class, pool);
	pool->consumed = consumed;
	claim->unknown = false;
	return true;
}

/* For a single claim: a live hold answers without the ledger's memory. */
static void
look_up_token(Store *store, Snapshot snapshot, const text *token,
			  Standing *standing)
{
	Hold	   *hold = palloc(sizeof(Hold));

	if (standing->siblings != NIL)
		standing_fill(standing,
					  facts_of_token(store, snapshot, token, false));
	else if (holds_find(store, snapshot, token, standing->pool.id, hold))
		standing_add_hold(standing, hold);
	else
		standing->entries = entries_of_token(store, snapshot, token,
											 standing->pool.id);
}

/* What the token has and had there, also in a pool that was dropped. */
static void
find_memory(Store *store, Snapshot snapshot, const text *token,
			const TokenFacts *facts, Standing *standing)
{
	standing_find_siblings(store, snapshot, token, standing);
	if (facts != NULL)
		standing_fill(standing, facts);
	else
		look_up_token(store, snapshot, token, standing);
}

static Claim *
find_claim(Store *store, Snapshot snapshot, const ClaimRequest *request,
		   const Want *want, const TokenFacts *facts)
{
	Claim	   *claim = palloc0(sizeof(Claim));
	Standing   *standing = &claim->standing;

	claim->want = want;
	if (!pools_find(store, snapshot, want->pool, &standing->pool))
		pool_init(&standing->pool, store->tenant, want->pool);
	claim->unknown = standing->pool.id == 0 || standing->pool.retired;
	claim->demand = want->demand;
	if (standing->pool.id != 0)
		find_memory(store, snapshot, request->token, facts, standing);
	if (claim->unknown && shape_by_class(store, snapshot, claim))
		standing->siblings = NIL;
	return claim;
}

/* Returns the claims in the order of the wants, then what they replace. */
static List *
find_claims(Attempt *attempt, Snapshot snapshot)
{
	ClaimRequest *request = attempt->request;
	List	   *claims = NIL;
	TokenFacts *facts = NULL;
	PoolSet    *wanted;
	ListCell   *lc;

	if (request->count > 1)
		facts = facts_of_token(attempt->store, snapshot, request->token,
							   true);

	for (int i = 0; i < request->count; i++)
		claims = lappend(claims, find_claim(attempt->store, snapshot, request,
											&request->wants[i], facts));
	if (!request->replace)
		return claims;
	wanted = standings_pools(claims);
	foreach(lc, standings_of_token(attempt->store, snapshot, request->token))
	{
		if (!standing_is_among(lfirst(lc), wanted))
			claims = lappend(claims, lfirst(lc));
	}
	return claims;
}

/* --- judging --- */

/* Is there no such pool, and no budget that says how much there is? */
static bool
is_nowhere(const Claim *claim)
{
	return claim->unknown && !claim->demand.budgeted;
}

/* An unknown pool is an error; false if it is too early to say so. */
static bool
require_pools(Attempt *attempt, List *claims)
{
	ClaimRequest *request = attempt->request;

	for (int i = 0; i < request->count; i++)
	{
		Claim	   *claim = list_nth(claims, i);

		if (!is_nowhere(claim))
			continue;
		if (attempt_is_early(attempt))
			return false;
		pool_raise_unknown(claim->want->pool,
						   "Make it with hold_pool_set, or give a budget.");
	}
	return true;
}

static void
require_budget(Attempt *attempt, const Claim *claim)
{
	if (claim->vacancy->limited || claim->asks || attempt_is_early(attempt))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("budget must not be null"),
			 errdetail("Pool \"%s\" has no capacity of its own.",
					   text_to_cstring(claim->want->pool)),
			 errhint("Give the budget, or set a capacity with hold_pool_set.")));
}

static HoldOutcome
judge_fit(Attempt *attempt, const Claim *claim, HoldOutcome if_it_fits)
{
	require_budget(attempt, claim);
	return claim->demand.qty <= claim->vacancy->could_have ?
		if_it_fits : OUTCOME_INSUFFICIENT;
}

/* A live hold is never refused its own quantity, or less. */
static HoldOutcome
judge_own(Attempt *attempt, const Claim *claim)
{
	int64		asked = claim->demand.qty;
	int64		held = claim->standing.hold->qty;

	if (asked == held)
		return OUTCOME_RENEWED;
	if (asked < held)
		return OUTCOME_CHANGED;
	return judge_fit(attempt, claim, OUTCOME_CHANGED);
}

/* Is it refused, however much there is?  Else OUTCOME_GRANTED. */
static HoldOutcome
judge_right(const Claim *claim)
{
	const Standing *standing = &claim->standing;
	const Pool *pool = &standing->pool;

	if (!claim->live && memory_taken(standing) > 0)
		return OUTCOME_ALREADY_CONSUMED;
	if (claim->unknown)
		return OUTCOME_GRANTED;
	if (pool->closed)
		return OUTCOME_CLOSED;
	if (claim->shut ||
		(claim->live && standing->hold->generation != pool->generation))
		return OUTCOME_POOL_EXPIRED;
	return OUTCOME_GRANTED;
}

static HoldOutcome
judge_claim(Attempt *attempt, const Claim *claim)
{
	HoldOutcome right = judge_right(claim);

	if (right != OUTCOME_GRANTED)
		return right;
	return claim->live && !claim->unknown ? judge_own(attempt, claim) :
		judge_fit(attempt, claim, OUTCOME_GRANTED);
}

/* An unknown pool is judged as the external one that it would become. */
static void
look_as_external(Pool *pool)
{
	pool->counted = false;
	pool->closed = false;
	pool->lease_end = DT_NOEND;
}

/*
 * Where a function tells the capacity, it is asked under the pool's lock, or
 * "now"; till then the claim is taken to fit.  It is also asked before a pool is
 * made, so that a refusal makes none.  A renewal, or less, does not ask,
 * nor does a claim that is refused in any case.
 */
static void
ask_source(Attempt *attempt, Snapshot snapshot, Claim *claim, bool now)
{
	const Standing *standing = &claim->standing;
	text	   *source = source_of_pool(attempt->store, snapshot,
										&standing->pool);

	claim->sourced = source != NULL;
	if (source == NULL || judge_right(claim) != OUTCOME_GRANTED ||
		(claim->live && claim->demand.qty <= standing->hold->qty))
		return;
	if (!attempt->locked)
		attempt->needs_locks = true;
	if ((now || standing->pool.id == 0) &&
		!source_limit(attempt->store, source, &standing->pool,
					  &claim->demand))
		pool_raise_unknown(claim->want->pool, NULL);
	claim->asks = true;
}

static void
survey_claim(Attempt *attempt, Snapshot snapshot, Claim *claim,
			 TimestampTz deadline, bool ask)
{
	Standing   *standing = &claim->standing;

	if (claim->unknown)
		look_as_external(&standing->pool);
	claim->live = standing_is_live(standing, attempt->clock);
	claim->shut = standing->pool.closed ||
		!rule_is_live(standing->pool.lease_end, attempt->clock);
	claim->expires_at = deadline;
	claim->version = standing_version(standing, attempt->clock);
	if (claim->live)
		claim->expires_at = Max(deadline, standing->hold->expires_at);
	ask_source(attempt, snapshot, claim, ask);
	claim->vacancy = stripes_vacancy(attempt->store, snapshot, standing,
									 &claim->demand, attempt->clock);
	claim->vacancy->spans |= claim->asks;
}

/* The shortest time to live that a class of the claimed pools has, or 0. */
static int64
shortest_class_ttl(Store *store, Snapshot snapshot, List *claims, int count)
{
	int64		shortest = 0;

	for (int i = 0; i < count; i++)
	{
		const Pool *pool = &((Standing *) list_nth(claims, i))->pool;
		PoolClass	class;

		if (pool->class_id == 0 ||
			!classes_find_id(store, snapshot, pool->class_id, &class) ||
			class.ttl == 0)
			continue;
		shortest = shortest == 0 ? class.ttl : Min(shortest, class.ttl);
	}
	return shortest;
}

/*
 * Until when the claims are held: all of them for the same time, the caller's
 * or else the shortest that a class of theirs has.
 */
static TimestampTz
deadline_of(Attempt *attempt, Snapshot snapshot, List *claims)
{
	ClaimRequest *request = attempt->request;
	int64		ttl = request->ttl;

	if (ttl == 0)
		ttl = shortest_class_ttl(attempt->store, snapshot, claims,
								 request->count);
	return attempt->clock + (ttl == 0 ? usual_ttl() : ttl);
}

/* Turns the outcomes of lines that would do into "blocked". */
static void
block_others(List *claims, int count)
{
	for (int i = 0; i < count; i++)
	{
		Standing   *standing = list_nth(claims, i);

		if (standing->outcome <= OUTCOME_CHANGED)
			standing->outcome = OUTCOME_BLOCKED;
	}
}

/* --- changing --- */

static Hold *
fresh_hold(const Claim *claim, const ClaimRequest *request,
		   const Change *change, TimestampTz clock)
{
	Hold	   *hold = palloc0(sizeof(Hold));

	hold->pool_id = change->pool.id;
	hold->qty = claim->demand.qty;
	hold->expires_at = claim->expires_at;
	hold->held_since = clock;
	hold->version = 1;
	hold->generation = change->pool.generation;
	hold->token = request->token;
	hold->payload = request->payload;
	return hold;
}

/* Builds what a claim that is granted, renewed or changed writes. */
static void
change_claim(Claim *claim, const Attempt *attempt)
{
	const ClaimRequest *request = attempt->request;
	TimestampTz clock = attempt->clock;
	Standing   *standing = &claim->standing;
	Change	   *change = change_begin(&standing->pool,
									  stripes_clear(standing, clock));

	standing->change = change;
	if (standing->pool.retired)
		stripes_revive(standing, clock);
	vacancy_clear(claim->vacancy, change);
	if (standing->outcome == OUTCOME_GRANTED && standing->hold != NULL &&
		standing->hold->pool_id == standing->pool.id)
		change_expire(change, standing->hold);
	stripes_gather(standing, claim->vacancy, claim->demand.qty, clock);
	rows_count_wait(change, attempt->waited);
	if (standing->outcome == OUTCOME_GRANTED)
		change_grant(change, fresh_hold(claim, request, change, clock));
	else
		change_renew(change, standing->hold, claim->demand.qty,
					 claim->expires_at, request->payload);
}

/* Builds the release of a live hold in another pool. */
static void
replace_hold(Standing *standing, TimestampTz clock)
{
	if (standing->pool.is_room || !standing_is_live(standing, clock))
		return;
	standing->change = change_begin(&standing->pool, clock);
	change_release(standing->change, standing->hold);
}

/* Can what a function tells change the outcome, or what the answer says? */
static bool
is_open(const Claim *claim)
{
	return claim->standing.outcome <= OUTCOME_CHANGED ||
		(claim->asks && claim->standing.outcome == OUTCOME_INSUFFICIENT);
}

/*
 * Judges those claims whose outcome is open; true if one is refused.  With
 * "ask", functions are asked for capacities at once.
 */
static bool
judge_claims(Attempt *attempt, Snapshot snapshot, List *claims,
			 TimestampTz deadline, bool ask)
{
	ClaimRequest *request = attempt->request;
	bool		refused = false;

	for (int i = 0; i < request->count; i++)
	{
		Claim	   *claim = list_nth(claims, i);

		if (is_open(claim))
		{
			survey_claim(attempt, snapshot, claim, deadline, ask);
			claim->standing.outcome = judge_claim(attempt, claim);
		}
		refused |= claim->standing.outcome > OUTCOME_CHANGED;
	}
	return refused;
}

static void
decide_claims(Attempt *attempt, Snapshot snapshot, List *claims)
{
	ClaimRequest *request = attempt->request;
	TimestampTz deadline;

	if (!require_pools(attempt, claims))
		return;
	deadline = deadline_of(attempt, snapshot, claims);
	if (judge_claims(attempt, snapshot, claims, deadline, attempt->locked))
	{
		/* no lock will be got for those that were taken to fit */
		if (attempt->needs_locks && !attempt->locked)
			(void) judge_claims(attempt, snapshot, claims, deadline, true);
		block_others(claims, request->count);
		return;
	}
	for (int i = 0; i < request->count; i++)
	{
		change_claim(list_nth(claims, i), attempt);
	}
	for (int i = request->count; i < list_length(claims); i++)
		replace_hold(list_nth(claims, i), attempt->clock);
}

/*
 * Makes an attempt of the request.  Its standings are the claims, in the order
 * of the wants; what they replaced follows.
 */
void
claims_prepare(Attempt *attempt, Store *store, ClaimRequest *request)
{
	attempt->store = store;
	attempt->request = request;
	attempt->find = find_claims;
	attempt->decide = decide_claims;
}

/*
 * Runs the request and returns its claims.  Errors: 42704 for an unknown pool
 * without a budget, 22004 for an external pool without one.
 */
List *
claims_run(Store *store, ClaimRequest *request)
{
	Attempt		attempt = {0};

	claims_prepare(&attempt, store, request);
	return attempt_run(&attempt);
}

/* Lets an adaptive pool split or merge, after what the claim met there. */
void
claim_adapt(Store *store, const Claim *claim)
{
	const Standing *standing = &claim->standing;
	int64		left = claim->vacancy->could_have - claim->demand.qty;

	if (standing->change != NULL && standing->change->pool.stripes == 0)
		rows_adapt(store, standing, left / claim->demand.qty);
}

/* --- answering --- */

/*
 * What is left after the answer; on "insufficient", what could have been had.
 * False where nobody said how much there is.
 */
bool
claim_available(const Claim *claim, int64 *available)
{
	const Standing *standing = &claim->standing;
	int64		left = claim->vacancy->could_have;

	if (!claim->vacancy->limited && !(claim->sourced && claim->shut))
		return false;
	if (standing->outcome <= OUTCOME_CHANGED)
		left -= claim->demand.qty;
	else if (standing->outcome != OUTCOME_INSUFFICIENT && claim->live &&
			 standing->hold->generation == standing->pool.generation)
		left -= standing->hold->qty;
	if (standing->outcome == OUTCOME_INSUFFICIENT && claim->live)
		left = Max(left, standing->hold->qty);
	if (claim->shut)
		left = 0;
	*available = Max(left, 0);
	return true;
}
