/*-------------------------------------------------------------------------
 *
 * relations.c
 *	  Finds the extension's own tables, indexes and enum values.
 *
 * They are looked for by name in the schema of the function that was called,
 * so the extension works in any schema and under any search_path.  What was
 * found is kept for the session and forgotten as soon as one of the relations
 * changes in a way that the server announces: dropped, renamed, an index
 * built anew.  No lock is taken here; whoever opens a relation afterwards has
 * to ask relations_are_current() once the lock is his.
 *
 *-------------------------------------------------------------------------
 */
#include "relations.h"

#include "access/genam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static const char *const table_names[NUM_TABLES] = {
	"hold_pools",
	"holds",
	"hold_ledger",
	"hold_classes",
	"room_stays",
};

/* how many columns of each the code knows */
static const int table_columns[NUM_TABLES] = {24, 11, 22, 7, 12};

static const char *const index_names[NUM_INDEXES] = {
	"hold_pools_pkey",
	"hold_pools_by_key",
	"holds_by_token",
	"holds_by_expiry",
	"hold_ledger_by_memory",
	"hold_classes_pkey",
	"hold_classes_by_prefix",
	"room_stays_pkey",
	"room_stays_no_overlap",
	"room_stays_by_token",
	"room_stays_by_expiry",
};

static const char *const outcome_labels[NUM_OUTCOMES] = {
	"granted", "renewed", "changed",
	"already_consumed", "closed", "pool_expired", "insufficient",
	"stay_taken", "blocked",
	"consumed", "released", "already_released", "expired", "not_found",
	"returned",
};

static const char *const event_labels[NUM_EVENTS] = {
	"capacity", "opened", "closed", "generation",
	"granted", "renewed", "changed",
	"consumed", "released", "expired", "returned", "repaired",
};

static Relations known;

/* Relcache callback: forget what was found if it may have changed. */
static void
forget_relation(Datum arg, Oid relid)
{
	bool		ours = !OidIsValid(relid);

	for (int i = 0; !ours && i < NUM_TABLES; i++)
		ours = known.tables[i] == relid;
	for (int i = 0; !ours && i < NUM_INDEXES; i++)
		ours = known.indexes[i] == relid;
	if (ours)
		known.schema = InvalidOid;
}

/* Syscache callback for pg_type: an enum may have been made anew. */
static void
forget_types(Datum arg, int cacheid, uint32 hashvalue)
{
	known.schema = InvalidOid;
}

void
relations_init(void)
{
	CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(TYPEOID, forget_types, (Datum) 0);
}

static Oid
find_relation(Oid schema, const char *name)
{
	Oid			relid = get_relname_relid(name, schema);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" of extension \"%s\" is missing",
						name, "hold_ledger"),
				 errhint("Update the extension with ALTER EXTENSION hold_ledger UPDATE.")));
	return relid;
}

/* A table of an older version of the extension must not be misread. */
static void
require_columns(Oid relid, const char *name, int count)
{
	if (get_attname(relid, count, true) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" of extension \"%s\" is of an older version",
						name, "hold_ledger"),
				 errhint("Update the extension with ALTER EXTENSION hold_ledger UPDATE.")));
}

static Oid
find_type(Oid schema, const char *name)
{
	Oid			type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
									   CStringGetDatum(name),
									   ObjectIdGetDatum(schema));

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("type \"%s\" of extension \"%s\" is missing",
						name, "hold_ledger"),
				 errhint("Update the extension with ALTER EXTENSION hold_ledger UPDATE.")));
	return type;
}

/* Finds a function without arguments. */
static Oid
find_function(Oid schema, const char *name)
{
	oidvector  *no_arguments = buildoidvector(NULL, 0);
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
										   CStringGetDatum(name),
										   PointerGetDatum(no_arguments),
										   ObjectIdGetDatum(schema));

	if (!OidIsValid(function))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function \"%s\" of extension \"%s\" is missing",
						name, "hold_ledger"),
				 errhint("Update the extension with ALTER EXTENSION hold_ledger UPDATE.")));
	return function;
}

/* Fills in the identifiers of an enum's values, in the order of the labels. */
static void
find_labels(Oid schema, const char *type_name, const char *const *labels,
			int count, Oid *values)
{
	Oid			type = find_type(schema, type_name);

	for (int i = 0; i < count; i++)
	{
		values[i] = GetSysCacheOid2(ENUMTYPOIDNAME, Anum_pg_enum_oid,
									ObjectIdGetDatum(type),
									CStringGetDatum(labels[i]));
		if (!OidIsValid(values[i]))
			elog(ERROR, "enum %s has no label %s", type_name, labels[i]);
	}
}

/*
 * Returns what belongs to the hold_ledger that the called function is part
 * of.
 */
Relations
relations_of_function(FunctionCallInfo fcinfo)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Relations	found;

	if (known.schema == schema && OidIsValid(schema))
		return known;

	for (int i = 0; i < NUM_TABLES; i++)
	{
		found.tables[i] = find_relation(schema, table_names[i]);
		require_columns(found.tables[i], table_names[i], table_columns[i]);
	}
	for (int i = 0; i < NUM_INDEXES; i++)
		found.indexes[i] = find_relation(schema, index_names[i]);
	found.ids = find_relation(schema, "hold_ids");
	found.see_tokens = find_function(schema, "hold_see_tokens");
	found.line_type = find_type(schema, "hold_line");
	find_labels(schema, "hold_outcome", outcome_labels, NUM_OUTCOMES,
				found.outcomes);
	find_labels(schema, "hold_event", event_labels, NUM_EVENTS, found.events);
	found.schema = schema;
	known = found;
	return known;
}

/* Is what was found still what the catalogs say? */
bool
relations_are_current(const Relations *relations)
{
	return known.schema == relations->schema;
}

/* Turns a value of the type hold_event back into the C enum. */
HoldEvent
relations_event(const Relations *relations, Oid value)
{
	for (int i = 0; i < NUM_EVENTS; i++)
		if (relations->events[i] == value)
			return (HoldEvent) i;
	elog(ERROR, "unexpected ledger event %u", value);
}
