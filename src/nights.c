/*-------------------------------------------------------------------------
 *
 * nights.c
 *	  Ranges of nights: calendar dates, half-open, finite and not empty.
 *
 *-------------------------------------------------------------------------
 */
#include "nights.h"

#include "arguments.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "settings.h"
#include "utils/typcache.h"

static void
refuse_stay(const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("stay must be a finite range of nights that is not empty"),
			 errdetail("It %s.", reason),
			 errhint("Write the first night and the day of departure, for example '[2031-05-01,2031-05-03)'.")));
}

static TypeCacheEntry *
daterange_type(void)
{
	return lookup_type_cache(DATERANGEOID, TYPECACHE_RANGE_INFO);
}

/*
 * Reads a range.  Dates are kept in canonical form, so the upper bound is the
 * day of departure.  Error 22023 if it is empty, unbounded, infinite or has
 * more nights than "most".
 */
Nights
nights_of_range(RangeType *range, int most)
{
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;
	int64		count;
	Nights		nights;

	range_deserialize(daterange_type(), range, &lower, &upper, &empty);
	if (empty)
		refuse_stay("is empty");
	if (lower.infinite || upper.infinite)
		refuse_stay("is unbounded");
	nights.first = DatumGetDateADT(lower.val);
	nights.departure = DatumGetDateADT(upper.val);
	if (DATE_NOT_FINITE(nights.first) || DATE_NOT_FINITE(nights.departure))
		refuse_stay("has an infinite date");
	count = (int64) nights.departure - nights.first;
	if (count > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("stay has too many nights"),
				 errdetail("The limit is %d, not " INT64_FORMAT ".",
						   most, count),
				 errhint("Split the stay, or have a superuser raise \"%s\".",
						 "hold_ledger.max_nights")));
	return nights;
}

Nights
nights_of_argument(FunctionCallInfo fcinfo, int number, const char *name)
{
	require_argument(fcinfo, number, name);
	return nights_of_range(PG_GETARG_RANGE_P(number), setting_max_nights);
}

Datum
nights_range(Nights nights)
{
	RangeBound	lower = {0};
	RangeBound	upper = {0};

	lower.val = DateADTGetDatum(nights.first);
	lower.inclusive = true;
	lower.lower = true;
	upper.val = DateADTGetDatum(nights.departure);
	return RangeTypePGetDatum(compat_make_range(daterange_type(), &lower,
												&upper));
}

int
nights_count(Nights nights)
{
	return nights.departure - nights.first;
}
