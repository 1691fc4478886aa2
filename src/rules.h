/*-------------------------------------------------------------------------
 *
 * rules.h
 *	  The pure rules: limits, units, expiry, token keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_RULES_H
#define HOLD_RULES_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/numeric.h"

/* tokens, pools and tenants, in bytes */
#define MAX_KEY_BYTES 255

/* counter rows of one pool */
#define MOST_STRIPES 64

/* quantities are counted in millionths */
#define UNIT_DECIMALS 6
#define UNITS_PER_ONE INT64CONST(1000000)

/* which quantities an argument may have */
typedef enum QuantityRange
{
	QUANTITY_POSITIVE,
	QUANTITY_NOT_NEGATIVE,
	QUANTITY_ANY
} QuantityRange;

extern void rule_key(const text *key, const char *what);
extern int64 rule_units(Numeric quantity, const char *what,
						QuantityRange range);
extern Numeric rule_numeric(int64 units);
extern int64 rule_add(int64 a, int64 b);
extern int64 rule_less(int64 a, int64 b);
extern int64 rule_ttl(const Interval *ttl, double max_seconds);
extern bool rule_is_live(TimestampTz expires_at, TimestampTz clock);
extern int64 rule_token_key(const text *tenant, const text *token);
extern uint64 rule_row_key(const text *tenant, const text *pool,
						   int16 stripe);
extern int16 rule_home(int64 token_key, int16 homes);
extern int64 rule_lease_key(int64 pool_id, TimestampTz lease_end);
extern int64 rule_ref_key(int64 pool_id, const text *ref);
extern bool rule_same_text(const text *a, const text *b);
extern int	rule_compare_text(const text *a, const text *b);

#endif							/* HOLD_RULES_H */
