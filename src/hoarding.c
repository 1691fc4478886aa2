/*-------------------------------------------------------------------------
 *
 * hoarding.c
 *	  Who keeps units from others and does not take them: hold_hoarding.
 *
 * The ledger tells from when to when a token held how much, claim by claim.
 * At any moment, what of it was not consumed later in the same claim was held
 * in vain.  A claim that began before the time that is asked about is known by
 * the entry that it has in it, or by its row in holds.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "query.h"
#include "session.h"
#include "store.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_hoarding);

#define HOARDING_COLUMNS 6

/*
 * Of tenant $1 from $2 till $3.  A token's prefix is what stands in front of
 * the last $4; there is none unless $5.
 */
static const char *const hoarding =
"WITH entry AS ("
"	SELECT l.pool_id, l.token, l.seq, l.event, l.at, l.qty, l.expires_at, l.held_since,"
"		COALESCE(l.remaining, l.qty) AS held,"
"		lead(l.at) OVER w AS next_at,"
"		count(*) FILTER (WHERE l.event = 'granted') OVER w AS claim,"
"		row_number() OVER w = 1 AND l.event <> 'granted' AS began_before"
"	FROM @hold_ledger l JOIN @hold_pools p ON p.pool_id = l.pool_id"
"	WHERE l.at >= $2 AND p.tenant = $1 AND p.room_id IS NULL AND l.token IS NOT NULL"
"	WINDOW w AS (PARTITION BY l.pool_id, l.token ORDER BY l.seq)"
"), told AS ("
"	SELECT e.*,"
"		COALESCE(sum(e.qty) FILTER (WHERE e.event = 'consumed') OVER later, 0) AS taken,"
"		max(e.held_since) OVER later AS since"
"	FROM entry e"
"	WINDOW later AS (PARTITION BY e.pool_id, e.token, e.claim ORDER BY e.seq"
"		ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"
"), span AS ("
/* after each entry; what it took itself is not held any more */
"	SELECT t.pool_id, t.token, t.claim, t.held,"
"		t.taken - CASE WHEN t.event = 'consumed' THEN t.qty ELSE 0 END AS taken,"
"		t.at AS start, LEAST(t.next_at, t.expires_at, $3) AS stop"
"	FROM told t"
"	UNION ALL"
/* before the first, in a claim that had begun */
"	SELECT t.pool_id, t.token, t.claim, t.held +"
"		CASE WHEN t.event IN ('consumed', 'released', 'expired') THEN t.qty ELSE 0 END,"
"		t.taken, GREATEST(NULLIF($2, '-infinity'), t.since), LEAST(t.at, t.expires_at)"
"	FROM told t WHERE t.began_before"
"	UNION ALL"
/* a claim about which there is no entry */
"	SELECT h.pool_id, h.token, 0, h.qty, 0, $2, LEAST(h.expires_at, $3)"
"	FROM @holds h JOIN @hold_pools p ON p.pool_id = h.pool_id"
"	WHERE h.held_since < $2 AND p.tenant = $1"
"		AND NOT EXISTS (SELECT FROM entry e"
"			WHERE e.pool_id = h.pool_id AND e.token = h.token)"
"), claim AS ("
"	SELECT s.pool_id, s.token, max(s.taken) > 0 AS took, sum(s.held * hours) AS held,"
"		sum(GREATEST(s.held - s.taken, 0) * hours) AS hoarded"
"	FROM span s CROSS JOIN LATERAL"
"		(SELECT extract(epoch FROM s.stop - s.start) / 3600 / 1000000 AS hours) h"
"	WHERE s.held > 0 AND s.stop > s.start"
"	GROUP BY s.pool_id, s.token, s.claim"
") "
"SELECT p.pool, x.prefix, count(*), count(*) FILTER (WHERE NOT c.took),"
"	trim_scale(round(sum(c.held), 6)), trim_scale(round(sum(c.hoarded), 6)) "
"FROM claim c JOIN @hold_pools p ON p.pool_id = c.pool_id CROSS JOIN LATERAL ("
"	SELECT strpos(reverse(c.token), reverse($4)) AS place) l CROSS JOIN LATERAL ("
"	SELECT CASE WHEN $5 AND l.place > 0"
"		THEN left(c.token, length(c.token) - l.place - length($4) + 1) END AS prefix) x "
"GROUP BY p.pool, x.prefix "
"ORDER BY 6 DESC, 1, 2";

static text *
argument_separator(FunctionCallInfo fcinfo, int number)
{
	text	   *separator;

	require_argument(fcinfo, number, "separator");
	separator = PG_GETARG_TEXT_PP(number);
	if (VARSIZE_ANY_EXHDR(separator) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("separator must not be empty")));
	return separator;
}

static void
run_hoarding(Store *store, TimestampTz since, text *separator)
{
	Oid			types[5] = {TEXTOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TEXTOID,
	BOOLOID};
	Datum		values[5];

	values[0] = PointerGetDatum(store->tenant);
	values[1] = TimestampTzGetDatum(since);
	values[2] = TimestampTzGetDatum(session_clock());
	values[3] = PointerGetDatum(separator);
	values[4] = BoolGetDatum(compat_may_execute(store->relations.see_tokens));
	query_run_as_owner(store, hoarding, 5, types, values);
}

/*
 * hold_hoarding(since interval, separator text)
 *
 * One row for each pool and token prefix: how many claims held something in
 * that time, of how many of them nothing was consumed, and units times hours,
 * in all and in vain.  Only operators are told prefixes.  Costs what was
 * written since.  Errors 22004 and 22023.
 */
Datum
hold_hoarding(PG_FUNCTION_ARGS)
{
	TimestampTz since = argument_since(fcinfo, 0);
	text	   *separator = argument_separator(fcinfo, 1);
	Datum		values[HOARDING_COLUMNS];
	bool		isnull[HOARDING_COLUMNS];
	Store		store;

	start_rows(fcinfo);
	SPI_connect();
	store_open_for_reading(&store, fcinfo);
	run_hoarding(&store, since, separator);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		heap_deform_tuple(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
						  values, isnull);
		add_row(fcinfo, values, isnull);
	}
	store_close(&store);
	SPI_finish();
	return (Datum) 0;
}
