/*-------------------------------------------------------------------------
 *
 * session.c
 *	  The clock, the tenant and the actor of a call.
 *
 *-------------------------------------------------------------------------
 */
#include "session.h"

#include "access/parallel.h"
#include "access/table.h"
#include "catalog/pg_db_role_setting.h"
#include "compat.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "rules.h"
#include "settings.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_clock);
SQL_FUNCTION(hold_tenant);
SQL_FUNCTION(hold_actor);

/*
 * Applies what ALTER ROLE and ALTER DATABASE say once more.  An option that
 * the client sent along outranks them while the library is not loaded, and is
 * thrown away when it is; the role's own tenant must not go with it.
 */
void
session_apply_settings(void)
{
	static bool applied = false;
	Oid			role = GetAuthenticatedUserId();
	Relation	settings;
	Snapshot	snapshot;

	if (applied || IsParallelWorker())
		return;
	settings = table_open(DbRoleSettingRelationId, AccessShareLock);
	snapshot = RegisterSnapshot(GetCatalogSnapshot(DbRoleSettingRelationId));
	ApplySetting(snapshot, MyDatabaseId, role, settings, PGC_S_DATABASE_USER);
	ApplySetting(snapshot, InvalidOid, role, settings, PGC_S_USER);
	ApplySetting(snapshot, MyDatabaseId, InvalidOid, settings, PGC_S_DATABASE);
	ApplySetting(snapshot, InvalidOid, InvalidOid, settings, PGC_S_GLOBAL);
	UnregisterSnapshot(snapshot);
	table_close(settings, AccessShareLock);
	applied = true;
}

/*
 * The moment by which holds are live or expired: the server's wall clock,
 * moved by hold_ledger.clock_offset.  A verb reads it once, after its locks.
 */
TimestampTz
session_clock(void)
{
	session_apply_settings();
	return GetCurrentTimestamp() +
		(int64) (setting_clock_offset * USECS_PER_SEC);
}

/*
 * The tenant whose rows are seen, '' if none is set.  Error 22023 where it is
 * too long to be part of a key.
 */
text *
session_tenant_if_any(void)
{
	const char *name;

	session_apply_settings();
	name = setting_tenant == NULL ? "" : setting_tenant;
	if (strlen(name) > MAX_KEY_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tenant is too long"),
				 errdetail("A tenant has at most %d bytes.", MAX_KEY_BYTES)));
	return cstring_to_text(name);
}

/*
 * The same for a verb.  Error 55000 where a tenant is required and none is
 * set.
 */
text *
session_tenant(void)
{
	text	   *tenant = session_tenant_if_any();

	if (VARSIZE_ANY_EXHDR(tenant) == 0 && setting_require_tenant)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no tenant is set"),
				 errdetail("\"%s\" is on.", "hold_ledger.require_tenant"),
				 errhint("Set \"%s\" for the role, or with SET LOCAL in each transaction.",
						 "hold_ledger.tenant")));
	return tenant;
}

/*
 * Who acts: the role of SET ROLE, or else the login.  A SECURITY DEFINER
 * function on the way does not hide it.
 */
text *
session_actor(void)
{
	char	   *name = GetUserNameFromId(GetOuterUserId(), true);

	return cstring_to_text(name == NULL ? "" : name);
}

/*
 * hold_clock() returns timestamptz: the moment by which the views judge.
 */
Datum
hold_clock(PG_FUNCTION_ARGS)
{
	PG_RETURN_TIMESTAMPTZ(session_clock());
}

/*
 * hold_tenant() returns text: whose rows the views show.
 */
Datum
hold_tenant(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(session_tenant_if_any());
}

/*
 * hold_actor() returns text: who acts, as the ledger notes it.
 */
Datum
hold_actor(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(session_actor());
}
