/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  What the verbs on many independent requests share.
 *
 * All pools of a batch are locked first, in the order of their ids, and rooms
 * after them; then the requests are judged one after the other.
 *
 *-------------------------------------------------------------------------
 */
#include "batch.h"

#include "pools.h"
#include "standing.h"
#include "utils/memutils.h"

static int
compare_pools(const ListCell *a, const ListCell *b)
{
	const Pool *first = lfirst(a);
	const Pool *second = lfirst(b);

	if (first->is_room != second->is_room)
		return first->is_room ? 1 : -1;
	if (first->is_room)
		return first->room_id < second->room_id ? -1 :
			first->room_id > second->room_id;
	return first->id < second->id ? -1 : first->id > second->id;
}

/* Locks the pools in lock order, each once. */
static void
lock_all(Store *store, List *pools)
{
	int64		last = 0;
	ListCell   *lc;

	list_sort(pools, compare_pools);
	foreach(lc, pools)
	{
		Pool	   *pool = lfirst(lc);

		if (pool->id != last)
			(void) pools_lock(store, pool, true);
		last = pool->id;
	}
}

/* Locks the pools of these names, of List of text, as far as they exist. */
void
batch_lock_named(Store *store, List *keys)
{
	Snapshot	snapshot = store_look();
	List	   *pools = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		Pool	   *pool = palloc(sizeof(Pool));

		if (pools_find(store, snapshot, lfirst(lc), pool))
			pools = lappend(pools, pool);
	}
	store_look_away();
	lock_all(store, pools);
}

/* Locks all pools and rooms in which these tokens have something. */
void
batch_lock_tokens(Store *store, List *tokens)
{
	Snapshot	snapshot = store_look();
	List	   *pools = NIL;
	ListCell   *token;
	ListCell   *lc;

	foreach(token, tokens)
	{
		foreach(lc, standings_of_token(store, snapshot, lfirst(token)))
		{
			Standing   *standing = lfirst(lc);

			if (standing->hold != NULL)
				pools = lappend(pools, &standing->pool);
		}
	}
	store_look_away();
	lock_all(store, pools);
}

/* Is it about what was asked, and not about the server or a wait? */
static bool
is_mistake(int code)
{
	int			category = ERRCODE_TO_CATEGORY(code);

	return category == ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION) ||
		code == ERRCODE_UNDEFINED_OBJECT;
}

/*
 * In a PG_CATCH block: lets a mistake go on with the request's number, and
 * any other error, such as a cancelled wait, as it is.
 */
void
batch_rethrow(int number)
{
	ErrorData  *error;

	if (!is_mistake(geterrcode()))
		PG_RE_THROW();
	/* the copy must outlive the flush, which empties the error context */
	MemoryContextSwitchTo(CurTransactionContext);
	error = CopyErrorData();
	FlushErrorState();
	error->detail = error->detail == NULL ?
		psprintf("It is request %d.", number) :
		psprintf("%s It is request %d.", error->detail, number);
	ReThrowError(error);
}
