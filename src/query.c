/*-------------------------------------------------------------------------
 *
 * query.c
 *	  Questions about whole tables, asked in SQL.
 *
 * For upkeep only: the verbs read their few rows directly.  The functions
 * that ask are SECURITY DEFINER with a pinned search_path, so that names and
 * operators mean what they say; the tables are named with their schema.
 *
 *-------------------------------------------------------------------------
 */
#include "query.h"

#include "lib/stringinfo.h"
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
