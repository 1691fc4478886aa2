/*-------------------------------------------------------------------------
 *
 * define.c
 *	  The operators' verb hold_class_set.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arguments.h"
#include "classes.h"
#include "compat.h"
#include "settings.h"
#include "source.h"
#include "store.h"

SQL_FUNCTION(hold_class_set);

static void
read_class_request(FunctionCallInfo fcinfo, PoolClass *class)
{
	class->prefix = argument_key(fcinfo, 0, "prefix");
	class->counted = !PG_ARGISNULL(1);
	if (class->counted)
		class->capacity = argument_units(fcinfo, 1, "capacity",
										 QUANTITY_NOT_NEGATIVE);
	class->ttl = argument_ttl(fcinfo, 2);
	class->stripes = argument_stripes(fcinfo, 3);
	if (PG_ARGISNULL(4))
		return;
	if (class->counted)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a class has a capacity or a function that tells it, not both")));
	class->source = source_name(PG_GETARG_OID(4));
}

/*
 * hold_class_set(prefix text, capacity numeric, ttl interval,
 *				  stripes integer, capacity_from regprocedure) returns void
 *
 * From now on the first hold of a pool named prefix:... makes it, with these
 * values.  Without a capacity and a function, its holds bring a budget.
 *
 * Errors: 22004, 22023 and 22003 for bad arguments, 42501 for a function of
 * somebody else.  Locks the table of classes until the transaction ends.
 */
Datum
hold_class_set(PG_FUNCTION_ARGS)
{
	PoolClass	class = {0};
	Store		store;

	read_class_request(fcinfo, &class);
	store_open_for_writing(&store, fcinfo);
	class.tenant = store.tenant;
	classes_write(&store, &class);
	store_close_after_writing(&store);
	PG_RETURN_VOID();
}
