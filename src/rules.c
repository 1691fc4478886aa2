/*-------------------------------------------------------------------------
 *
 * rules.c
 *	  The pure rules: limits, units, expiry, token keys.
 *
 * Nothing here reads a table, a setting or the clock: what a rule needs is
 * passed to it.  Messages about bad input stand here.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "common/int.h"
#include "compat.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#define QUANTITY_LIMIT \
	"A quantity has at most 12 digits before and 6 after the decimal point."

/* the first quantity that is too large, as numeric's own text */
#define TOO_LARGE_INTEGER INT64CONST(1000000000000)

/*
 * Checks the length of a token, pool or tenant.  Error 22023.
 */
void
rule_key(const text *key, const char *what)
{
	int			bytes = VARSIZE_ANY_EXHDR(key);

	if (bytes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be empty", what),
				 errdetail("It has 1 to %d bytes.", MAX_KEY_BYTES)));
	if (bytes > MAX_KEY_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is too long", what),
				 errdetail("It has 1 to %d bytes, not %d.",
						   MAX_KEY_BYTES, bytes),
				 errhint("Use a shorter name, or a hash of it.")));
}

static void
refuse_range(const char *what, QuantityRange range)
{
	if (range == QUANTITY_POSITIVE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be greater than zero", what),
				 errdetail(QUANTITY_LIMIT)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s must not be negative", what),
			 errdetail(QUANTITY_LIMIT)));
}

static bool
numeric_is_beyond(Numeric quantity, int64 limit)
{
	Datum		size = DirectFunctionCall1(numeric_abs,
										   NumericGetDatum(quantity));

	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, size,
											 NumericGetDatum(int64_to_numeric(limit)))) >= 0;
}

/*
 * Turns a quantity into units.  Error 22023 if it is not finite, has too many
 * decimals or is out of range; 22003 if it is too large.
 */
int64
rule_units(Numeric quantity, const char *what, QuantityRange range)
{
	Datum		millionths;
	int64		units;

	if (numeric_is_nan(quantity) || numeric_is_inf(quantity))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a finite number", what),
				 errdetail(QUANTITY_LIMIT)));
	if (numeric_is_beyond(quantity, TOO_LARGE_INTEGER))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%s is out of range", what),
				 errdetail(QUANTITY_LIMIT)));
	if (DatumGetInt32(DirectFunctionCall1(numeric_min_scale,
										  NumericGetDatum(quantity))) > UNIT_DECIMALS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s has too many decimals", what),
				 errdetail(QUANTITY_LIMIT),
				 errhint("Round it, for example with round(quantity, %d).",
						 UNIT_DECIMALS)));

	millionths = DirectFunctionCall2(numeric_mul, NumericGetDatum(quantity),
									 NumericGetDatum(int64_to_numeric(UNITS_PER_ONE)));
	units = DatumGetInt64(DirectFunctionCall1(numeric_int8, millionths));
	if ((range == QUANTITY_POSITIVE && units <= 0) ||
		(range == QUANTITY_NOT_NEGATIVE && units < 0))
		refuse_range(what, range);
	return units;
}

/* Turns units into a quantity without trailing zeros. */
Numeric
rule_numeric(int64 units)
{
	int			scale = UNIT_DECIMALS;

	if (units % UNITS_PER_ONE == 0)
		return int64_to_numeric(units / UNITS_PER_ONE);
	while (units % 10 == 0)
	{
		units /= 10;
		scale--;
	}
	return int64_div_fast_to_numeric(units, scale);
}

/* Adds units.  Error 22003 on overflow. */
int64
rule_add(int64 a, int64 b)
{
	int64		sum;

	if (pg_add_s64_overflow(a, b, &sum))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("quantity is out of range"),
				 errdetail("The sum of quantities passes " INT64_FORMAT ".",
						   PG_INT64_MAX / UNITS_PER_ONE)));
	return sum;
}

/* Subtracts what is promised; further below zero than can be told is far. */
int64
rule_less(int64 a, int64 b)
{
	int64		difference;

	return pg_sub_s64_overflow(a, b, &difference) ? PG_INT64_MIN : difference;
}

/*
 * Turns a time to live into microseconds of elapsed time: a day is 24 hours.
 * Error 22023 if it has months, is not above zero or passes the limit.
 */
int64
rule_ttl(const Interval *ttl, double max_seconds)
{
	double		estimate;
	int64		elapsed;

	if (ttl->month != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time to live must not have months or years"),
				 errdetail("Their length depends on the calendar."),
				 errhint("Give days or hours; a day is 24 hours.")));
	/* the product of days can pass an integer; a ttl within limits cannot */
	estimate = (double) ttl->day * USECS_PER_DAY + (double) ttl->time;
	if (estimate > max_seconds * USECS_PER_SEC)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time to live is too long"),
				 errdetail("The limit is %g seconds.", max_seconds),
				 errhint("Ask for a shorter time, or have a superuser raise \"%s\".",
						 "hold_ledger.max_ttl")));
	elapsed = estimate > 0 ? ttl->day * USECS_PER_DAY + ttl->time : 0;
	if (elapsed <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time to live must be greater than zero"),
				 errdetail("The limit is %g seconds.", max_seconds)));
	return elapsed;
}

/* The one place that says when a hold is live. */
bool
rule_is_live(TimestampTz expires_at, TimestampTz clock)
{
	return expires_at > clock;
}

/*
 * FNV-1a over the bytes, from a seed.  It is stored in tables, so it must be
 * the same on every machine that a dump may be restored on.
 */
static uint64
hash_bytes_portably(uint64 hash, const char *bytes, int length)
{
	for (int i = 0; i < length; i++)
		hash = (hash ^ (unsigned char) bytes[i]) * UINT64CONST(0x100000001b3);
	return hash;
}

#define HASH_SEED UINT64CONST(0xcbf29ce484222325)

/* The key under which holds and ledger rows of a tenant's token are found. */
int64
rule_token_key(const text *tenant, const text *token)
{
	uint64		hash;

	hash = hash_bytes_portably(HASH_SEED, VARDATA_ANY(tenant),
							   VARSIZE_ANY_EXHDR(tenant));
	hash = hash_bytes_portably(hash, "", 1);
	return (int64) hash_bytes_portably(hash, VARDATA_ANY(token),
									   VARSIZE_ANY_EXHDR(token));
}

/* The key under which it is noted where a pool's counter row was seen. */
uint64
rule_row_key(const text *tenant, const text *pool, int16 stripe)
{
	return (uint64) rule_token_key(tenant, pool) + (uint64) stripe;
}

/* In which of a pool's counter rows a token's new holds are. */
int16
rule_home(int64 token_key, int16 homes)
{
	return (int16) ((uint64) token_key % (uint64) homes);
}

/* The key under which a change of a pool's capacity is found by its ref. */
int64
rule_ref_key(int64 pool_id, const text *ref)
{
	return (int64) hash_bytes_portably(HASH_SEED ^ (uint64) pool_id,
									   VARDATA_ANY(ref),
									   VARSIZE_ANY_EXHDR(ref));
}

/* The key under which the beginning of a pool's lease is found by its end. */
int64
rule_lease_key(int64 pool_id, TimestampTz lease_end)
{
	uint64		hash = HASH_SEED ^ (uint64) pool_id;

	for (int shift = 0; shift < 64; shift += 8)
	{
		char		byte = (char) (lease_end >> shift);

		hash = hash_bytes_portably(hash, &byte, 1);
	}
	return (int64) hash;
}

/* Compares byte by byte, as the keys' collation "C" does. */
int
rule_compare_text(const text *a, const text *b)
{
	int			bytes_a = VARSIZE_ANY_EXHDR(a);
	int			bytes_b = VARSIZE_ANY_EXHDR(b);
	int			order = memcmp(VARDATA_ANY(a), VARDATA_ANY(b),
							   Min(bytes_a, bytes_b));

	return order != 0 ? order : bytes_a - bytes_b;
}

bool
rule_same_text(const text *a, const text *b)
{
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}
