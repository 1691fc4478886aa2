/*-------------------------------------------------------------------------
 *
 * history.c
 *	  The ledger as it can be asked for: hold_history, hold_pool_history.
 *
 * The query runs as the owner of the ledger, since callers may not read it;
 * what they may see is decided by the role that the call runs as.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "answers.h"
#include "arguments.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "pools.h"
#include "query.h"
#include "store.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_history);
SQL_FUNCTION(hold_pool_history);

#define ENTRY_COLUMNS 17

/* columns of hold_entries that operators see, and the callers' own tokens */
#define TOKEN_COLUMN 5
#define REF_COLUMN 11
#define PAYLOAD_COLUMN 12

static const char *const entries_by_token =
"SELECT e.* FROM @hold_entries e "
"WHERE e.token OPERATOR(pg_catalog.=) $1 AND e.at OPERATOR(pg_catalog.>=) $2 "
"ORDER BY e.at, e.pool, e.stripe, e.seq";

static const char *const entries_by_pool =
"SELECT e.* FROM @hold_entries e "
"WHERE e.pool OPERATOR(pg_catalog.=) $1 AND e.at OPERATOR(pg_catalog.>=) $2 "
"ORDER BY e.stripe, e.seq";

/* Runs the query about a key; its rows are in SPI_tuptable. */
static void
find_entries(Store *store, const char *query, text *key, TimestampTz since)
{
	Oid			types[2] = {TEXTOID, TIMESTAMPTZOID};
	Datum		values[2];

	values[0] = PointerGetDatum(key);
	values[1] = TimestampTzGetDatum(since);
	query_run_as_owner(store, query, 2, types, values);
}

static void
answer_entries(FunctionCallInfo fcinfo, bool sees)
{
	Datum		values[ENTRY_COLUMNS];
	bool		isnull[ENTRY_COLUMNS];

	for (uint64 row = 0; row < SPI_processed; row++)
	{
		heap_deform_tuple(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
						  values, isnull);
		isnull[TOKEN_COLUMN] |= !sees;
		isnull[REF_COLUMN] |= !sees;
		isnull[PAYLOAD_COLUMN] |= !sees;
		add_row(fcinfo, values, isnull);
	}
}

/*
 * hold_history(token text, since interval) returns setof hold_entries
 *
 * The ledger rows of a token, in order.  Costs what was written since.
 * Errors 22004 and 22023.
 */
Datum
hold_history(PG_FUNCTION_ARGS)
{
	text	   *token = argument_key(fcinfo, 0, "token");
	TimestampTz since = argument_since(fcinfo, 1);
	Store		store;

	start_rows(fcinfo);
	SPI_connect();
	store_open_for_reading(&store, fcinfo);
	find_entries(&store, entries_by_token, token, since);
	answer_entries(fcinfo, true);
	store_close(&store);
	SPI_finish();
	return (Datum) 0;
}

/*
 * hold_pool_history(pool text, since interval) returns setof hold_entries
 *
 * The ledger rows of a pool, in order; tokens, refs and payloads for operators
 * only.  Errors 22004, 22023, and 42704 for a pool that never was.
 */
Datum
hold_pool_history(PG_FUNCTION_ARGS)
{
	text	   *key = argument_key(fcinfo, 0, "pool");
	TimestampTz since = argument_since(fcinfo, 1);
	Store		store;
	Pool		pool;

	start_rows(fcinfo);
	SPI_connect();
	store_open_for_reading(&store, fcinfo);
	if (!pools_find(&store, GetActiveSnapshot(), key, &pool))
		pool_raise_unknown(key, NULL);
	find_entries(&store, entries_by_pool, key, since);
	answer_entries(fcinfo, compat_may_execute(store.relations.see_tokens));
	store_close(&store);
	SPI_finish();
	return (Datum) 0;
}
