/*-------------------------------------------------------------------------
 *
 * arguments.c
 *	  Reading the arguments of a call.
 *
 * Every function that is handed a value out of its limits says so here or in
 * rules.c, before anything is read or locked.  NULL where a value is needed is
 * error 22004, any other mistake 22023.
 *
 *-------------------------------------------------------------------------
 */
#include "arguments.h"

#include "session.h"
#include "settings.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* further back than this there is nothing */
#define MOST_DAYS (6000 * 365)

static void
raise_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not be null", name)));
}

/* Every verb begins with this, before it asks for a setting. */
void
require_argument(FunctionCallInfo fcinfo, int number, const char *name)
{
	session_apply_settings();
	if (PG_ARGISNULL(number))
		raise_null(name);
}

text *
argument_text(FunctionCallInfo fcinfo, int number, const char *name)
{
	require_argument(fcinfo, number, name);
	return PG_GETARG_TEXT_PP(number);
}

text *
argument_optional_text(FunctionCallInfo fcinfo, int number)
{
	return PG_ARGISNULL(number) ? NULL : PG_GETARG_TEXT_PP(number);
}

/* A token or the name of a pool. */
text *
argument_key(FunctionCallInfo fcinfo, int number, const char *name)
{
	text	   *key = argument_text(fcinfo, number, name);

	rule_key(key, name);
	return key;
}

text *
argument_optional_key(FunctionCallInfo fcinfo, int number, const char *name)
{
	return PG_ARGISNULL(number) ? NULL : argument_key(fcinfo, number, name);
}

int64
argument_units(FunctionCallInfo fcinfo, int number, const char *name,
			   QuantityRange range)
{
	require_argument(fcinfo, number, name);
	return rule_units(PG_GETARG_NUMERIC(number), name, range);
}

/* A time to live in microseconds, or 0 for NULL. */
int64
argument_ttl(FunctionCallInfo fcinfo, int number)
{
	if (PG_ARGISNULL(number))
		return 0;
	return rule_ttl(PG_GETARG_INTERVAL_P(number), setting_max_ttl);
}

/* The time to live where nobody gives one: hold_ledger.default_ttl. */
int64
usual_ttl(void)
{
	Interval	usual = {0};

	usual.time = (TimeOffset) (setting_default_ttl * USECS_PER_SEC);
	return rule_ttl(&usual, setting_max_ttl);
}

/* How many rows a call of upkeep may take at most. */
int64
argument_batch(FunctionCallInfo fcinfo, int number, const char *name)
{
	int64		batch;

	require_argument(fcinfo, number, name);
	batch = PG_GETARG_INT32(number);
	if (batch < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative", name),
				 errdetail("It is 0 to %d.", PG_INT32_MAX)));
	return batch;
}

/* How many counter rows a pool is to have; 1 for NULL. */
int16
argument_stripes(FunctionCallInfo fcinfo, int number)
{
	int			stripes = PG_ARGISNULL(number) ? 1 : PG_GETARG_INT32(number);

	if (stripes < 0 || stripes > MOST_STRIPES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("stripes is out of range"),
				 errdetail("A pool has 1 to %d stripes; 0 leaves the number to the pool.",
						   MOST_STRIPES)));
	return (int16) stripes;
}

/* The moment from which on the caller wants to know.  Error 22004. */
TimestampTz
argument_since(FunctionCallInfo fcinfo, int number)
{
	Interval   *since;

	require_argument(fcinfo, number, "since");
	since = PG_GETARG_INTERVAL_P(number);
	if (since->day > MOST_DAYS || since->month > MOST_DAYS / 31)
		return DT_NOBEGIN;
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval,
												   TimestampTzGetDatum(session_clock()),
												   IntervalPGetDatum(since)));
}

bool
argument_bool(FunctionCallInfo fcinfo, int number, const char *name)
{
	require_argument(fcinfo, number, name);
	return PG_GETARG_BOOL(number);
}

Jsonb *
argument_payload(FunctionCallInfo fcinfo, int number)
{
	return PG_ARGISNULL(number) ? NULL : PG_GETARG_JSONB_P(number);
}

/* An array of at most so many elements; its lower bound does not matter. */
ArrayArgument
argument_array(FunctionCallInfo fcinfo, int number, const char *name, int most)
{
	ArrayArgument array = {0};
	ArrayType  *value;
	int16		length;
	bool		by_value;
	char		align;

	array.given = !PG_ARGISNULL(number);
	if (!array.given)
		return array;

	value = PG_GETARG_ARRAYTYPE_P(number);
	if (ARR_NDIM(value) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a one-dimensional array", name),
				 errdetail("It has %d dimensions.", ARR_NDIM(value))));
	if (ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value)) > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s has too many elements", name),
				 errdetail("The limit is %d.", most),
				 errhint("Split the request.")));

	get_typlenbyvalalign(ARR_ELEMTYPE(value), &length, &by_value, &align);
	deconstruct_array(value, ARR_ELEMTYPE(value), length, by_value, align,
					  &array.values, &array.isnull, &array.count);
	return array;
}

/* Error 22023 if an array that runs along another has another length. */
void
require_same_length(const ArrayArgument *array, int length, const char *name,
					const char *other)
{
	if (array->given && array->count != length)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s and %s must have the same length", name, other),
				 errdetail("They have %d and %d elements.",
						   array->count, length)));
}
