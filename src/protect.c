/*-------------------------------------------------------------------------
 *
 * protect.c
 *	  The trigger that keeps the ledger append-only.
 *
 * It fires for everybody, under every session_replication_role.  The
 * extension's own functions do not pass through triggers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "compat.h"
#include "fmgr.h"
#include "utils/rel.h"

SQL_FUNCTION(hold_refuse_change);

/*
 * hold_refuse_change() returns trigger
 *
 * Error 0A000, whatever the statement was.
 */
Datum
hold_refuse_change(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be called as a trigger",
						"hold_refuse_change")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot change or remove rows of table \"%s\"",
					RelationGetRelationName(trigger->tg_relation)),
			 errhint("Use the functions of the extension.")));
	PG_RETURN_NULL();
}
