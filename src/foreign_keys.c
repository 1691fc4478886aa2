/*-------------------------------------------------------------------------
 *
 * foreign_keys.c
 *	  Foreign keys that applications have on the extension's tables.
 *
 * Direct writes pass over triggers, but a foreign key to or from one of the
 * tables is a promise that somebody made to his data.  Its triggers are run as
 * the executor runs them, and no others.
 *
 *-------------------------------------------------------------------------
 */
#include "foreign_keys.h"

#include "commands/trigger.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"

static bool
is_foreign_key(const Trigger *trigger)
{
	return RI_FKey_trigger_type(trigger->tgfoid) != RI_TRIGGER_NONE;
}

/* Are there foreign keys to or from the table? */
bool
foreign_keys_exist(Relation rel)
{
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		if (is_foreign_key(&rel->trigdesc->triggers[i]))
			return true;
	}
	return false;
}

/* What the executor knows of the table, with no trigger but foreign keys. */
static ResultRelInfo *
target_of_keys(Relation rel)
{
	ResultRelInfo *target = makeNode(ResultRelInfo);

	InitResultRelInfo(target, rel, 0, NULL, 0); /* in no range table */
	for (int i = 0; i < target->ri_TrigDesc->numtriggers; i++)
	{
		Trigger    *trigger = &target->ri_TrigDesc->triggers[i];

		if (!is_foreign_key(trigger))
			trigger->tgenabled = TRIGGER_DISABLED;
	}
	return target;
}

/* Runs the triggers that are due, and lets go of what they needed. */
static void
fire(EState *estate)
{
	AfterTriggerEndQuery(estate);
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseResultRelations(estate);
	FreeExecutorState(estate);
}

void
foreign_keys_check_insert(Relation rel, TupleTableSlot *row)
{
	EState	   *estate = CreateExecutorState();

	AfterTriggerBeginQuery();
	ExecARInsertTriggers(estate, target_of_keys(rel), row, NIL, NULL);
	fire(estate);
}

void
foreign_keys_check_update(Relation rel, ItemPointer old, TupleTableSlot *row)
{
	EState	   *estate = CreateExecutorState();

	AfterTriggerBeginQuery();
	ExecARUpdateTriggers(estate, target_of_keys(rel), NULL, NULL, old, NULL,
						 row, NIL, NULL, false);
	fire(estate);
}

void
foreign_keys_check_delete(Relation rel, ItemPointer old)
{
	EState	   *estate = CreateExecutorState();

	AfterTriggerBeginQuery();
	ExecARDeleteTriggers(estate, target_of_keys(rel), old, NULL, NULL, false);
	fire(estate);
}
