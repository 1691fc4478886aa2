/*-------------------------------------------------------------------------
 *
 * session.c
 *	  The clock, the tenant and the actor of a call.
 *
 *-------------------------------------------------------------------------
 */
#include "session.h"

#include "compat.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "rules.h"
#include "settings.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_clock);
SQL_FUNCTION(hold_tenant);
SQL_FUNCTION(hold_actor);

/*
 * The moment by which holds are live or expired: the server's wall clock,
 * moved by hold_ledger.clock_offset.  A verb reads it once, after its locks.
 */
TimestampTz
session_clock(void)
{
	return GetCurrentTimestamp() +
		(int64) (setting_clock_offset * USECS_PER_SEC);
}

/*
 * The tenant that fences this call.  Error 55000 where a tenant is required
 * and none is set, 22023 where it is too long to be part of a key.
 */
text *
session_tenant(void)
{
	const char *name = setting_tenant == NULL ? "" : setting_tenant;

	if (*name == '\0' && setting_require_tenant)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no tenant is set"),
				 errdetail("\"%s\" is on.", "hold_ledger.require_tenant"),
				 errhint("Set \"%s\" for the role, or with SET LOCAL in each transaction.",
						 "hold_ledger.tenant")));
	if (strlen(name) > MAX_KEY_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tenant is too long"),
				 errdetail("A tenant has at most %d bytes.", MAX_KEY_BYTES)));
	return cstring_to_text(name);
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
	PG_RETURN_TEXT_P(session_tenant());
}

/*
 * hold_actor() returns text: who acts, as the ledger notes it.
 */
Datum
hold_actor(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(session_actor());
}
