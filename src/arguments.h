/*-------------------------------------------------------------------------
 *
 * arguments.h
 *	  Reading the arguments of a call.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_ARGUMENTS_H
#define HOLD_ARGUMENTS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "fmgr.h"
#include "rules.h"
#include "utils/jsonb.h"

/* The elements of an array argument. */
typedef struct ArrayArgument
{
	bool		given;			/* false: the argument is NULL */
	int			count;
	Datum	   *values;
	bool	   *isnull;
} ArrayArgument;

extern void require_argument(FunctionCallInfo fcinfo, int number,
							 const char *name);
extern text *argument_text(FunctionCallInfo fcinfo, int number,
						   const char *name);
extern text *argument_optional_text(FunctionCallInfo fcinfo, int number);
extern text *argument_key(FunctionCallInfo fcinfo, int number,
						  const char *name);
extern text *argument_optional_key(FunctionCallInfo fcinfo, int number,
								   const char *name);
extern int64 argument_units(FunctionCallInfo fcinfo, int number,
							const char *name, QuantityRange range);
extern int64 argument_ttl(FunctionCallInfo fcinfo, int number);
extern int64 usual_ttl(void);
extern int64 argument_batch(FunctionCallInfo fcinfo, int number,
							const char *name);
extern TimestampTz argument_since(FunctionCallInfo fcinfo, int number);
extern int16 argument_stripes(FunctionCallInfo fcinfo, int number);
extern bool argument_bool(FunctionCallInfo fcinfo, int number,
						  const char *name);
extern Jsonb *argument_payload(FunctionCallInfo fcinfo, int number);
extern ArrayArgument argument_array(FunctionCallInfo fcinfo, int number,
									const char *name, int most);
extern void require_same_length(const ArrayArgument *array, int length,
								const char *name, const char *other);

#endif							/* HOLD_ARGUMENTS_H */
