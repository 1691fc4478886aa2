/*-------------------------------------------------------------------------
 *
 * source.c
 *	  Capacity that an application's own function knows: capacity_from.
 *
 * The function is asked under the pool's lock, with the snapshot that the
 * claim is judged by, so a booking that consumed a hold of the pool and has
 * committed is seen.  It runs as its owner, in a security-restricted
 * operation, with a search_path of pg_catalog and pg_temp, and cannot call
 * the extension.  It is kept as a name and looked up at each call.
 *
 *-------------------------------------------------------------------------
 */
#include "source.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "classes.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "rules.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* The name of the function that knows the pool's capacity, or NULL. */
text *
source_of_pool(Store *store, Snapshot snapshot, const Pool *pool)
{
	PoolClass	class;

	if (pool->class_id == 0 || pool->counted ||
		!classes_find_id(store, snapshot, pool->class_id, &class))
		return NULL;
	return class.source;
}

static void
refuse_function(Oid function, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("function %s cannot tell a capacity",
					format_procedure(function)),
			 errdetail("It %s.", reason),
			 errhint("Give a STABLE function that takes text and returns numeric.")));
}

/*
 * Checks that the function can tell a capacity, and returns its owner.  Error
 * 42883 if there is none, 22023 if it is of another kind.
 */
static Oid
check_function(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function with OID %u does not exist", function)));
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (form->prokind != PROKIND_FUNCTION || form->proretset)
		refuse_function(function, "does not return one value");
	if (form->pronargs != 1 || form->proargtypes.values[0] != TEXTOID)
		refuse_function(function, "does not take one argument of type text");
	if (form->prorettype != NUMERICOID)
		refuse_function(function, "does not return numeric");
	if (form->provolatile == PROVOLATILE_VOLATILE)
		refuse_function(function, "is VOLATILE");
	owner = form->proowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * Returns the name under which the function is kept.  Errors as above, and
 * 42501 if the caller is no member of the role that owns it.
 */
text *
source_name(Oid function)
{
	if (isTempNamespace(get_func_namespace(function)))
		refuse_function(function, "is temporary");
	if (!is_member_of_role(GetUserId(), check_function(function)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be a member of the role that owns function %s",
						format_procedure(function))));
	return cstring_to_text(format_procedure_qualified(function));
}

/* Calls the function by the active snapshot; NULL for NULL. */
static Numeric
call_function(Oid function, text *pool)
{
	LOCAL_FCINFO(fcinfo, 1);
	FmgrInfo	info;
	Datum		result;

	fmgr_info(function, &info);
	InitFunctionCallInfoData(*fcinfo, &info, 1, DEFAULT_COLLATION_OID, NULL,
							 NULL);
	fcinfo->args[0].value = PointerGetDatum(pool);
	fcinfo->args[0].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	return fcinfo->isnull ? NULL : DatumGetNumeric(result);
}

/* The same, while the extension cannot be called. */
static Numeric
call_forbidden_to_call_back(Oid function, text *pool)
{
	volatile Numeric result = NULL;

	store_forbid_opening(true);
	PG_TRY();
	{
		result = call_function(function, pool);
	}
	PG_FINALLY();
	{
		store_forbid_opening(false);
	}
	PG_END_TRY();
	return result;
}

/* The same as its owner, restricted.  An error restores what it must. */
static Numeric
call_restricted(Oid function, text *pool)
{
	Oid			user;
	int			context;
	int			nest_level;
	Numeric		result;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(check_function(function),
						   context | SECURITY_RESTRICTED_OPERATION);
	nest_level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	result = call_forbidden_to_call_back(function, pool);
	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(user, context);
	return result;
}

/* What the function says in units; false if it knows no such pool. */
static bool
ask_function(Oid function, const Pool *pool, int64 *units)
{
	Numeric		answer = call_restricted(function, pool->key);

	*units = answer == NULL ? 0 :
		rule_units(answer, "capacity", QUANTITY_ANY);
	return answer != NULL;
}

static void
refuse_serializable(const Pool *pool)
{
	if (!IsolationIsSerializable())
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot hold pool \"%s\" in a serializable transaction",
					text_to_cstring(pool->key)),
			 errdetail("Its capacity is told by a function."),
			 errhint("Use READ COMMITTED.")));
}

/* With one snapshot, what is committed now must say the same. */
static void
require_same_answer(Oid function, const Pool *pool, bool known, int64 answer)
{
	int64		latest;
	bool		same;

	if (!store_has_one_snapshot())
		return;
	(void) store_look_at_latest();
	same = ask_function(function, pool, &latest) == known && latest == answer;
	store_look_away();
	if (!same)
		raise_outdated();
}

/*
 * Finds the function by its name, with the rights of the extension's owner:
 * the caller needs none.  Error 42883 if it is gone.
 */
static Oid
find_function(Store *store, const text *name)
{
	LOCAL_FCINFO(fcinfo, 1);
	Oid			user;
	int			context;
	Datum		function;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(store->pools.rel->rd_rel->relowner,
						   context | SECURITY_LOCAL_USERID_CHANGE);
	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = PointerGetDatum(name);
	fcinfo->args[0].isnull = false;
	function = to_regprocedure(fcinfo);
	SetUserIdAndSecContext(user, context);
	if (fcinfo->isnull)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function %s does not exist", text_to_cstring(name)),
				 errdetail("It was to tell the capacity of pools.")));
	return DatumGetObjectId(function);
}

/*
 * Asks the function what live holds may take together, and limits the demand
 * to it, as a budget does; false if it knows no such pool.  Errors: 42883 if
 * the function is gone, 22023 if it is of another kind now, 0A000 at
 * SERIALIZABLE.
 */
bool
source_limit(Store *store, const text *source, const Pool *pool,
			 Demand *demand)
{
	Oid			function;
	int64		answer;
	bool		known;

	refuse_serializable(pool);
	function = find_function(store, source);
	known = ask_function(function, pool, &answer);
	require_same_answer(function, pool, known, answer);
	demand->budget = demand->budgeted ? Min(demand->budget, answer) : answer;
	demand->budgeted = true;
	return known;
}

/*
 * What a new claim could have of the pool; false where nobody says how much
 * there is.  *exists tells whether the function, if any, knows the pool.
 */
bool
source_available(Store *store, Snapshot snapshot, const Pool *pool,
				 TimestampTz clock, int64 *available, bool *exists)
{
	text	   *source;
	Demand		demand = {0};

	*exists = true;
	*available = vacancy_available(store, snapshot, pool, clock);
	if (pool->counted)
		return true;
	source = source_of_pool(store, snapshot, pool);
	if (source == NULL)
		return false;
	*exists = source_limit(store, source, pool, &demand);
	if (!*exists)
		return false;
	*available = Max(rule_less(demand.budget,
							   vacancy_held(store, snapshot, pool, clock)), 0);
	if (pool->closed || !rule_is_live(pool->lease_end, clock))
		*available = 0;
	return true;
}
