/*-------------------------------------------------------------------------
 *
 * counters.c
 *	  How often what has happened, for hold_stats.
 *
 * If the library was preloaded, the sessions of a database share counters in
 * shared memory; else each session has its own.  Counting takes no lock: an
 * event is noted in the session when its ledger row is written, and what a
 * transaction noted is added with atomic instructions when it commits.  So
 * the counts are those of the rows in the ledger, subtransactions that were
 * rolled back included.  A refusal writes nothing and is an answer for good:
 * it is added at once.
 *
 * A database has its counters from its first count till the server stops;
 * those that find no place are counted by their sessions alone.
 *
 *-------------------------------------------------------------------------
 */
#include "counters.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "shared.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#define MOST_DATABASES 32

/* The counters of one database. */
typedef struct Counters
{
	pg_atomic_uint32 database;	/* InvalidOid: nobody's yet */
	pg_atomic_uint64 counts[NUM_COUNTERS];
} Counters;

typedef struct SharedCounters
{
	TimestampTz since;
	Counters	databases[MOST_DATABASES];
} SharedCounters;

/* What the transaction had noted when one of its levels began to note. */
typedef struct Level
{
	int			nesting;
	uint32		noted[NUM_COUNTERS];
	struct Level *outer;
} Level;

static SharedCounters *shared = NULL;
static Counters local;
static TimestampTz local_since;
static Counters *ours = NULL;	/* where this session counts */

static uint32 noted[NUM_COUNTERS];
static bool any_noted = false;
static Level *innermost = NULL; /* in TopTransactionContext */

/* --- the counters --- */

static void
clear_counters(Counters *counters)
{
	pg_atomic_init_u32(&counters->database, InvalidOid);
	for (int i = 0; i < NUM_COUNTERS; i++)
		pg_atomic_init_u64(&counters->counts[i], 0);
}

static void
share_counters(void *memory, bool found)
{
	shared = memory;
	if (found)
		return;
	shared->since = GetCurrentTimestamp();
	for (int i = 0; i < MOST_DATABASES; i++)
		clear_counters(&shared->databases[i]);
}

/* The shared counters of this database, or the next free; NULL without. */
static Counters *
find_shared(void)
{
	for (int i = 0; shared != NULL && i < MOST_DATABASES; i++)
	{
		uint32		owner = InvalidOid;

		if (pg_atomic_compare_exchange_u32(&shared->databases[i].database,
										   &owner, MyDatabaseId) ||
			owner == MyDatabaseId)
			return &shared->databases[i];
	}
	return NULL;
}

static Counters *
our_counters(void)
{
	if (ours == NULL)
		ours = find_shared();
	if (ours == NULL)
		ours = &local;
	return ours;
}

/* --- what the transaction notes --- */

/* Adds what was noted to the counters. */
static void
add_noted(void)
{
	Counters   *counters = our_counters();

	for (int i = 0; i < NUM_COUNTERS; i++)
	{
		if (noted[i] > 0)
			pg_atomic_fetch_add_u64(&counters->counts[i], noted[i]);
	}
}

static void
end_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			if (any_noted)
				add_noted();
			break;
		case XACT_EVENT_ABORT:
			break;
		default:
			return;
	}
	if (any_noted)
		memset(noted, 0, sizeof(noted));
	any_noted = false;
	innermost = NULL;
}

/* Rolled back, what its level noted is forgotten; else the outer one has it. */
static void
end_subtransaction(SubXactEvent event, SubTransactionId id,
				   SubTransactionId parent, void *arg)
{
	int			nesting = GetCurrentTransactionNestLevel();
	Level	   *level = innermost;

	if (level == NULL || level->nesting != nesting ||
		(event != SUBXACT_EVENT_ABORT_SUB && event != SUBXACT_EVENT_COMMIT_SUB))
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
		memcpy(noted, level->noted, sizeof(noted));
	if (event == SUBXACT_EVENT_ABORT_SUB || nesting == 2 ||
		(level->outer != NULL && level->outer->nesting == nesting - 1))
		innermost = level->outer;
	else
		level->nesting--;
}

/* Remembers what was noted before the present subtransaction. */
static void
enter_level(void)
{
	int			nesting = GetCurrentTransactionNestLevel();
	Level	   *level;

	if (nesting == 1 || (innermost != NULL && innermost->nesting == nesting))
		return;
	level = MemoryContextAlloc(TopTransactionContext, sizeof(Level));
	level->nesting = nesting;
	memcpy(level->noted, noted, sizeof(noted));
	level->outer = innermost;
	innermost = level;
}

/* Counts a ledger row that was written; a sweep may have done it. */
void
counters_event(HoldEvent event, bool sweeping)
{
	enter_level();
	any_noted = true;
	noted[event]++;
	if (event == EVENT_EXPIRED && !sweeping)
		noted[COUNTER_EVICTED]++;
}

/* Counts an answer if it is a refusal. */
void
counters_refusal(HoldOutcome outcome)
{
	if (outcome >= OUTCOME_ALREADY_CONSUMED && outcome <= OUTCOME_BLOCKED)
		pg_atomic_fetch_add_u64(&our_counters()->counts[COUNTER_REFUSED + outcome],
								1);
}

/* Reads the counters of this database, as far as they are known. */
void
counters_read(Counts *counts)
{
	Counters   *counters = our_counters();

	counts->shared = counters != &local;
	counts->since = counts->shared ? shared->since : local_since;
	for (int i = 0; i < NUM_COUNTERS; i++)
		counts->counts[i] = (int64) pg_atomic_read_u64(&counters->counts[i]);
}

/* When the library is loaded. */
void
counters_init(void)
{
	if (!shared_want("hold_ledger counters", sizeof(SharedCounters),
					 share_counters))
		local_since = GetCurrentTimestamp();
	clear_counters(&local);
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}
