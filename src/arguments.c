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

#include "settings.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

static void
raise_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not be null", name)));
}

void
require_argument(FunctionCallInfo fcinfo, int number, const char *name)
{
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

/* A time to live in microseconds; NULL takes hold_ledger.default_ttl. */
int64
argument_ttl(FunctionCallInfo fcinfo, int number)
{
	Interval	usual = {0};

	if (!PG_ARGISNULL(number))
		return rule_ttl(PG_GETARG_INTERVAL_P(number), setting_max_ttl);
	usual.time = (TimeOffset) (setting_default_ttl * USECS_PER_SEC);
	return rule_ttl(&usual, setting_max_ttl);
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
