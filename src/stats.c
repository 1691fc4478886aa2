/*-------------------------------------------------------------------------
 *
 * stats.c
 *	  What monitors ask: hold_stats.
 *
 * The counts are of all tenants of the database, and name none of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "counters.h"
#include "funcapi.h"
#include "query.h"
#include "session.h"
#include "store.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_stats);

/*
 * When the oldest hold or stay expired that has not been settled.  No hold
 * expires before its pool's next_expiry: so only the pools that are due are
 * looked into.
 */
static const char *const oldest_expired =
"SELECT min(e.expires_at) FROM ("
"	SELECT h.expires_at FROM @hold_pools p CROSS JOIN LATERAL ("
"		SELECT h.expires_at FROM @holds h WHERE h.pool_id = p.pool_id"
"		ORDER BY h.expires_at LIMIT 1) h"
"	WHERE p.next_expiry <= $1 AND h.expires_at <= $1"
"	UNION ALL (SELECT s.expires_at FROM @room_stays s"
"		WHERE s.expires_at <= $1 ORDER BY s.expires_at LIMIT 1)"
") e";

/* How long that is ago; 0 if all is settled. */
static Interval *
sweep_lag(FunctionCallInfo fcinfo)
{
	Interval   *lag = palloc0(sizeof(Interval));
	TimestampTz clock = session_clock();
	Oid			type = TIMESTAMPTZOID;
	Datum		value = TimestampTzGetDatum(clock);
	TimestampTz oldest;
	Store		store;

	SPI_connect();
	store_open_for_watching(&store, fcinfo);
	query_run(&store, oldest_expired, 1, &type, &value);
	if (query_int8(0, 1, &oldest))
		lag->time = clock - oldest;
	store_close(&store);
	SPI_finish();
	return lag;
}

/* Puts so many counters, from "first" on, into the columns; returns their sum. */
static int64
put_counts(Datum *columns, const Counts *counts, int first, int number)
{
	int64		sum = 0;

	for (int i = 0; i < number; i++)
	{
		columns[i] = Int64GetDatum(counts->counts[first + i]);
		sum += counts->counts[first + i];
	}
	return sum;
}

/* The columns of hold_stats. */
enum
{
	STATS_SCOPE,
	STATS_SINCE,
	STATS_GRANTED,				/* and renewed, changed */
	STATS_REFUSED = STATS_GRANTED + 3,
	STATS_ALREADY_CONSUMED,		/* and the other refusals, in their order */
	STATS_CONSUMED = STATS_ALREADY_CONSUMED + 6,
	/* and released, expired, returned */
	STATS_EVICTED = STATS_CONSUMED + 4,
	STATS_SWEEP_LAG,
	STATS_COLUMNS
};

/*
 * hold_stats()
 *
 * One row: what was counted in this database, by whom and since when, and for
 * how long the oldest expired hold has been waiting for a sweep.  Locks
 * nothing.
 */
Datum
hold_stats(PG_FUNCTION_ARGS)
{
	Datum		values[STATS_COLUMNS];
	bool		isnull[STATS_COLUMNS] = {0};
	TupleDesc	desc;
	Counts		counts;

	counters_read(&counts);
	values[STATS_SCOPE] = CStringGetTextDatum(counts.shared ? "server" :
											  "session");
	values[STATS_SINCE] = TimestampTzGetDatum(counts.since);
	put_counts(&values[STATS_GRANTED], &counts, EVENT_GRANTED, 3);
	values[STATS_REFUSED] =
		Int64GetDatum(put_counts(&values[STATS_ALREADY_CONSUMED], &counts,
								 COUNTER_REFUSED + OUTCOME_ALREADY_CONSUMED,
								 6));
	put_counts(&values[STATS_CONSUMED], &counts, EVENT_CONSUMED, 4);
	put_counts(&values[STATS_EVICTED], &counts, COUNTER_EVICTED, 1);
	values[STATS_SWEEP_LAG] = IntervalPGetDatum(sweep_lag(fcinfo));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 isnull));
}
