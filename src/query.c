/*-------------------------------------------------------------------------
 *
 * query.c
 *	  Questions about whole tables, asked in SQL.
 *
 * For upkeep and reports: the verbs read their few rows directly.  The
 * functions that ask have a pinned search_path, or name each operator with its
 * schema, so that names mean what they say; the tables are named with theirs.
 *
 *-------------------------------------------------------------------------
 */
#include "query.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Puts the schema where the text says "@". */
static char *
with_schema(Store *store, const char *text)
{
	const char *schema = quote_identifier(get_namespace_name(store->relations.schema));
	StringInfoData query;

	initStringInfo(&query);
	for (const char *c = text; *c != '\0'; c++)
	{
		if (*c == '@')
			appendStringInfo(&query, "%s.", schema);
		else
			appendStringInfoChar(&query, *c);
	}
	return query.data;
}

/*
 * Runs a query by the active snapshot; its rows are in SPI_tuptable.  The
 * caller has connected to SPI.
 */
void
query_run(Store *store, const char *text, int nargs, Oid *types,
		  Datum *values)
{
	char	   *query = with_schema(store, text);
	int			result = SPI_execute_with_args(query, nargs, types, values,
											   NULL, true, 0);

	if (result != SPI_OK_SELECT)
		elog(ERROR, "a query of upkeep failed: %s",
			 SPI_result_code_string(result));
}

/* The same as the owner of the tables, who may read them. */
void
query_run_as_owner(Store *store, const char *text, int nargs, Oid *types,
				   Datum *values)
{
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(store->ledger.rel->rd_rel->relowner,
						   context | SECURITY_LOCAL_USERID_CHANGE);
	query_run(store, text, nargs, types, values);
	SetUserIdAndSecContext(user, context);
}

/* Reads a bigint, or a time, from the result; false for NULL. */
bool
query_int8(uint64 row, int column, int64 *value)
{
	bool		isnull;
	Datum		datum = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc, column, &isnull);

	*value = isnull ? 0 : DatumGetInt64(datum);
	return !isnull;
}
