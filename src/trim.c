/*-------------------------------------------------------------------------
 *
 * trim.c
 *	  Upkeep of the ledger's size: hold_trim.
 *
 * What goes is a prefix of each pool's numbering, so that the rest still
 * proves the counters.  The pool's row says where the rest begins.
 *
 * Locks: the rows of the pools that are trimmed, in the order of their ids,
 * until the transaction ends; pools that are locked are passed over.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arguments.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "entries.h"
#include "pools.h"
#include "query.h"
#include "session.h"
#include "settings.h"
#include "store.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_trim);

/*
 * The oldest entries, but for what has to stay: the newest of a pool, those
 * of a token with an unsettled hold, and all that comes after one of these.
 */
static const char *const old_entries =
"WITH old AS MATERIALIZED ("
"	SELECT l.ctid AS tid, l.pool_id, l.seq, l.token, p.tenant, p.seq AS newest"
"	FROM @hold_ledger l JOIN @hold_pools p ON p.pool_id = l.pool_id"
"	WHERE l.at < $1 AND p.tenant = $3"
"), unsettled AS ("
"	SELECT DISTINCT p.tenant, h.token"
"	FROM @holds h JOIN @hold_pools p ON p.pool_id = h.pool_id"
"	UNION SELECT s.tenant, s.token FROM @room_stays s WHERE s.expires_at IS NOT NULL"
"), kept AS ("
"	SELECT k.pool_id, min(k.seq) AS seq FROM ("
"		SELECT o.pool_id, o.seq FROM old o WHERE o.seq = o.newest"
"		UNION ALL"
"		SELECT o.pool_id, o.seq FROM old o JOIN unsettled u"
"			ON u.tenant = o.tenant AND u.token = o.token"
"	) k GROUP BY k.pool_id"
") "
"SELECT o.pool_id, o.seq, o.tid "
"FROM old o LEFT JOIN kept k ON k.pool_id = o.pool_id "
"WHERE k.seq IS NULL OR o.seq < k.seq "
"ORDER BY o.pool_id, o.seq LIMIT $2";

static void
find_old_entries(Store *store, TimestampTz before, int64 batch)
{
	Oid			types[3] = {TIMESTAMPTZOID, INT8OID, TEXTOID};
	Datum		values[3];

	values[0] = TimestampTzGetDatum(before);
	values[1] = Int64GetDatum(batch);
	values[2] = PointerGetDatum(store->tenant);
	query_run(store, old_entries, 3, types, values);
}

/* Locks the pool, if nobody has, and checks that its rest begins at "seq". */
static bool
lock_pool(Store *store, int64 pool_id, int64 seq, Pool *pool)
{
	bool		locked;

	locked = pools_find_id(store, store_look(), pool_id, pool) &&
		pools_lock(store, pool, false);
	store_look_away();
	return locked && pool->first_seq == seq;
}

static ItemPointer
entry_tid(uint64 row)
{
	bool		isnull;

	return (ItemPointer) DatumGetPointer(SPI_getbinval(SPI_tuptable->vals[row],
													   SPI_tuptable->tupdesc,
													   3, &isnull));
}

/*
 * Removes the found entries of one pool, from row "row" on, and returns the
 * row of the next pool.
 */
static uint64
trim_pool(Store *store, uint64 row, int64 *removed)
{
	int64		pool_id;
	int64		id;
	int64		seq;
	Pool		pool;
	bool		locked;

	(void) query_int8(row, 1, &pool_id);
	(void) query_int8(row, 2, &seq);
	locked = lock_pool(store, pool_id, seq, &pool);
	for (; row < SPI_processed; row++)
	{
		(void) query_int8(row, 1, &id);
		if (id != pool_id)
			break;
		if (!locked)
			continue;
		(void) query_int8(row, 2, &seq);
		entries_remove(store, entry_tid(row));
		pool.first_seq = seq + 1;
		(*removed)++;
	}
	if (locked && !pools_update(store, &pool, true))
		elog(ERROR, "a pool changed under its lock");
	return row;
}

static int64
trim_ledger(Store *store, TimestampTz before, int64 batch)
{
	int64		removed = 0;
	uint64		latest;

	(void) store_look_at_latest();
	find_old_entries(store, before, batch);
	latest = SPI_processed;
	store_look_away();
	if (store_has_one_snapshot())
	{
		(void) store_look();
		find_old_entries(store, before, batch);
		store_look_away();
		if (SPI_processed != latest)
			raise_outdated();
	}
	for (uint64 row = 0; row < SPI_processed;)
		row = trim_pool(store, row, &removed);
	return removed;
}

/*
 * hold_trim(before timestamptz, batch integer) returns bigint
 *
 * Removes at most batch ledger rows of the tenant that are older than before,
 * and returns how many; never younger than hold_ledger.retention, never the newest of a pool, never
 * one of a token with something unsettled.  A call reads all that is older.
 *
 * Errors: 22004 for a NULL batch, 22023 for a negative one, 55000 if the
 * ledger publishes deletes.
 */
Datum
hold_trim(PG_FUNCTION_ARGS)
{
	int64		batch = argument_batch(fcinfo, 1, "batch");
	TimestampTz youngest = session_clock() -
	(int64) (setting_retention * USECS_PER_SEC);
	TimestampTz before = PG_ARGISNULL(0) ? youngest :
	Min(PG_GETARG_TIMESTAMPTZ(0), youngest);
	Store		store;
	int64		removed;

	SPI_connect();
	store_open_for_writing(&store, fcinfo);
	store_refuse_publication(&store.ledger);
	removed = batch == 0 ? 0 : trim_ledger(&store, before, batch);
	store_close_after_writing(&store);
	SPI_finish();
	PG_RETURN_INT64(removed);
}
