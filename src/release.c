/*-------------------------------------------------------------------------
 *
 * release.c
 *	  The verb hold_release.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "compat.h"
#include "ended.h"
#include "token.h"

SQL_FUNCTION(hold_release);

static void
decide_release(Attempt *attempt, Snapshot snapshot, List *standings)
{
	ListCell   *lc;

	token_require_pool(attempt->request, standings);
	foreach(lc, standings)
	{
		Standing   *standing = lfirst(lc);
		Hold	   *hold = standing->hold;
		ListCell   *piece;

		if (!standing_is_live(standing, attempt->clock))
		{
			say_how_it_ended(standing, attempt->clock);
			continue;
		}
		standing->change = change_begin(&standing->pool, attempt->clock);
		standing->outcome = OUTCOME_RELEASED;
		standing->figures.at = standing->change->at;
		standing->figures.before = standing_qty(standing);
		foreach(piece, standing->holds)
		{
			Hold	   *given = lfirst(piece);

			standing->figures.refunded += given->qty;
			given->beside = standing->figures.before -
				standing->figures.refunded;
			change_release(standing->change, given);
		}
		standing->figures.payload = hold->payload;
	}
}

/*
 * hold_release(token text, pool text) returns setof hold_settlement
 *
 * Gives back what the token holds and has not consumed; one row a hold.  What
 * has ended before is told and left alone.
 *
 * Errors and locks as hold_consume.
 */
Datum
hold_release(PG_FUNCTION_ARGS)
{
	TokenRequest request = {0};
	Store		store;
	List	   *standings;

	request.token = argument_key(fcinfo, 0, "token");
	request.pool = argument_optional_key(fcinfo, 1, "pool");
	start_rows(fcinfo);
	store_open_for_writing(&store, fcinfo);
	standings = token_run(&store, &request, decide_release);
	token_answer(fcinfo, &store, &request, token_holds_told(standings), 0);
	store_close_after_writing(&store);
	return (Datum) 0;
}
