/*-------------------------------------------------------------------------
 *
 * hints.c
 *	  Where the rows of pools were seen last.
 *
 * While an old snapshot is open, the versions of a hot row pile up, and a look
 * through an index passes all of them.  A hint leads to a late version, and
 * from there it is a step or two to the newest.
 *
 * A hint is never believed: whoever follows it checks what stands there.  The
 * table of hints has a fixed size, and hints that fall on one place replace
 * each other.  It is the backend's own, or shared by all if the library was
 * preloaded; then it leads past the versions of others too.
 *
 *-------------------------------------------------------------------------
 */
#include "hints.h"

#include "miscadmin.h"
#include "shared.h"
#include "storage/spin.h"

/* A place; its lock is held for a few instructions. */
typedef struct Hint
{
	slock_t		lock;
	Oid			database;
	Oid			relid;			/* InvalidOid: no hint */
	ItemPointerData tid;
	uint64		key;
} Hint;

#define LOCAL_HINTS 256
#define SHARED_HINTS 16384

static Hint local_hints[LOCAL_HINTS];
static Hint *hints = NULL;
static uint64 places = LOCAL_HINTS;

static void
clear_hints(void)
{
	memset(hints, 0, places * sizeof(Hint));
	for (uint64 i = 0; i < places; i++)
		SpinLockInit(&hints[i].lock);
}

static void
share_hints(void *memory, bool found)
{
	hints = memory;
	places = SHARED_HINTS;
	if (!found)
		clear_hints();
}

/* When the library is loaded: shares the hints if all processes will see it. */
void
hints_init(void)
{
	if (shared_want("hold_ledger hints", SHARED_HINTS * sizeof(Hint),
					share_hints))
		return;
	hints = local_hints;
	clear_hints();
}

/* Where was the row with that key seen last?  False if nobody knows. */
bool
hint_get(Oid relid, uint64 key, ItemPointer tid)
{
	Hint	   *hint = &hints[key % places];
	bool		known;

	SpinLockAcquire(&hint->lock);
	known = hint->relid == relid && hint->key == key &&
		hint->database == MyDatabaseId;
	*tid = hint->tid;
	SpinLockRelease(&hint->lock);
	return known;
}

void
hint_set(Oid relid, uint64 key, ItemPointer tid)
{
	Hint	   *hint = &hints[key % places];

	SpinLockAcquire(&hint->lock);
	hint->database = MyDatabaseId;
	hint->relid = relid;
	hint->key = key;
	hint->tid = *tid;
	SpinLockRelease(&hint->lock);
}
