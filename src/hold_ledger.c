/*-------------------------------------------------------------------------
 *
 * hold_ledger.c
 *	  The module and its settings.
 *
 * A hold is a claim by a token on units of a pool until a deadline.  The map
 * of the house, from top to bottom; calls go down only:
 *
 *	verbs		what users call: try.c (hold_try and its kin), renew.c,
 *				consume.c, release.c, return.c; stay_try.c, stay_keep.c and
 *				stay_insert.c (rooms); capacity.c (pools), define.c (classes);
 *				read.c, history.c; sweep.c, schedule.c, worker.c, trim.c,
 *				repair.c (upkeep); stats.c, hoarding.c (monitoring); lines.c
 *				(constructors of lines), guard.c and protect.c (triggers)
 *	middle		attempt.c (look, decide, lock, decide again, write), claim.c
 *				(claims on pools), token.c (all that a token has), ended.c (how
 *				it ended), standing.c (how a token stands in one place), memory.c
 *				(what the ledger remembers of it), moves.c (the way of a stay
 *				from room to room), stripes.c (claims on pools with several
 *				counter rows), vacancy.c (what a pool could still give), source.c
 *				(capacity that a function tells), batch.c (what batches share),
 *				rows.c (all counter rows of a pool at once), change.c (what one
 *				call does to one pool or room)
 *	tables		pools.c (rooms too), holds.c, stays.c, classes.c, entries.c (the
 *				ledger): one room a table; hints.c (where the rows of pools
 *				were seen last)
 *	ground		store.c (the tables of one call), relations.c (where they
 *				are), access.c (how rows are read, locked, written),
 *				foreign_keys.c, query.c (questions about whole tables),
 *				counters.c (how often what has happened), shared.c (memory that
 *				all processes share)
 *	rules		rules.c, nights.c: limits and judgements, pure
 *
 * arguments.c, answers.c and stay_answers.c turn Datums into C and back for
 * the verbs; session.c knows the clock, the tenant and the actor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "counters.h"
#include "fmgr.h"
#include "hints.h"
#include "relations.h"
#include "settings.h"
#include "shared.h"
#include "utils/guc.h"
#include "worker.h"

PG_MODULE_MAGIC;

#define SECONDS_PER_TEN_YEARS (3653.0 * 86400.0)
#define SECONDS_PER_CENTURY (10.0 * SECONDS_PER_TEN_YEARS)

/* how long a hold lasts when the caller does not say */
double		setting_default_ttl = 600.0;

/* the longest time that a caller may ask for */
double		setting_max_ttl = 7 * 86400.0;

/* ledger rows younger than this are never trimmed */
double		setting_retention = 400 * 86400.0;

/* how far the clock is moved, for tests */
double		setting_clock_offset = 0.0;

/* the most lines of one request */
int			setting_max_lines = 1000;

/* the most nights of one stay */
int			setting_max_nights = 366;

/* whose pools, holds and stays are seen */
char	   *setting_tenant = NULL;

/* is it an error to call a verb without a tenant? */
bool		setting_require_tenant = false;

/* the database in which the background worker sweeps */
char	   *setting_sweep_database = NULL;

/* how long the worker rests */
double		setting_sweep_interval = 60.0;

PGDLLEXPORT void _PG_init(void);

static void
define_time(const char *name, const char *what, const char *more,
			double *variable, double initial, double min, double max,
			GucContext context)
{
	DefineCustomRealVariable(name, what, more, variable, initial, min, max,
							 context, GUC_UNIT_S, NULL, NULL, NULL);
}

static void
define_times(void)
{
	define_time("hold_ledger.default_ttl",
				"Sets how long a hold lasts when no time is given.", NULL,
				&setting_default_ttl, 600.0, 0.000001, SECONDS_PER_TEN_YEARS,
				PGC_USERSET);
	define_time("hold_ledger.max_ttl",
				"Sets the longest time that a hold can be asked for.", NULL,
				&setting_max_ttl, 7 * 86400.0, 0.000001, SECONDS_PER_TEN_YEARS,
				PGC_SUSET);
	define_time("hold_ledger.retention",
				"Sets the age below which ledger rows are never trimmed.",
				"The memory of settled tokens lasts as long as their ledger rows.",
				&setting_retention, 400 * 86400.0, 0.0, SECONDS_PER_CENTURY,
				PGC_SUSET);
	define_time("hold_ledger.clock_offset",
				"Moves the clock by which holds expire, for tests.",
				"Zero leaves the server's clock as it is.",
				&setting_clock_offset, 0.0, -SECONDS_PER_TEN_YEARS,
				SECONDS_PER_TEN_YEARS, PGC_SUSET);
}

static void
define_limits(void)
{
	DefineCustomIntVariable("hold_ledger.max_lines",
							"Sets the most lines that one request can have.",
							NULL, &setting_max_lines, 1000, 1, 100000,
							PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("hold_ledger.max_nights",
							"Sets the most nights that one stay can have.",
							NULL, &setting_max_nights, 366, 1, 3660,
							PGC_SUSET, 0, NULL, NULL, NULL);
}

static void
define_tenant(void)
{
	DefineCustomStringVariable("hold_ledger.tenant",
							   "Sets whose pools, holds and stays are seen.",
							   "Roles without SET on it are fenced into the "
							   "tenant that ALTER ROLE gave them.",
							   &setting_tenant, "", PGC_SUSET, 0,
							   NULL, NULL, NULL);
	DefineCustomBoolVariable("hold_ledger.require_tenant",
							 "Makes it an error to call without a tenant.",
							 NULL, &setting_require_tenant, false, PGC_SUSET,
							 0, NULL, NULL, NULL);
}

static void
define_worker(void)
{
	DefineCustomStringVariable("hold_ledger.sweep_database",
							   "Sets the database in which a background worker sweeps.",
							   "Empty means that there is no worker. It is "
							   "started with the server, if the library is in "
							   "shared_preload_libraries.",
							   &setting_sweep_database, "", PGC_SIGHUP, 0,
							   NULL, NULL, NULL);
	define_time("hold_ledger.sweep_interval",
				"Sets how long the background worker rests between sweeps.",
				NULL, &setting_sweep_interval, 60.0, 0.1, 86400.0, PGC_SIGHUP);
}

void
_PG_init(void)
{
	define_times();
	define_limits();
	define_tenant();
	define_worker();
	MarkGUCPrefixReserved("hold_ledger");
	relations_init();
	shared_init();
	hints_init();
	counters_init();
	worker_init();
}
