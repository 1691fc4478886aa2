/*-------------------------------------------------------------------------
 *
 * repair.c
 *	  Upkeep of the counters: hold_repair.
 *
 * The holds are believed, and the ledger where it tells what holds cannot.
 * What is changed is written into the ledger.
 *
 * Locks: the rows of the pools that are repaired, in the order of their ids,
 * until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "change.h"
#include "compat.h"
#include "pools.h"
#include "query.h"
#include "session.h"
#include "store.h"
#include "utils/timestamp.h"

SQL_FUNCTION(hold_repair);

/*
 * What the row of a pool or room should say, if it says something else; all
 * of them for 0.  The newest entry tells the numbering, the newest one about
 * the pool itself its generation and lease, the holds and stays the rest.
 */
static const char *const right_rows =
"WITH newest AS ("
"	SELECT DISTINCT ON (pool_id) pool_id, seq, at, consumed, capacity,"
"		min(seq) OVER (PARTITION BY pool_id) AS first_seq"
"	FROM @hold_ledger ORDER BY pool_id, seq DESC"
"), lease AS ("
"	SELECT DISTINCT ON (pool_id) pool_id, generation,"
"		COALESCE(expires_at, 'infinity') AS ends"
"	FROM @hold_ledger WHERE token IS NULL AND room_id IS NULL"
"	ORDER BY pool_id, seq DESC"
"), hold AS ("
"	SELECT pool_id, generation, qty, 0::bigint AS confirmed, expires_at FROM @holds"
"	UNION ALL"
"	SELECT p.pool_id, p.generation, CASE WHEN s.expires_at IS NULL THEN 0"
"		ELSE (upper(s.stay) - lower(s.stay)) * 1000000::bigint END,"
"		CASE WHEN s.expires_at IS NULL"
"			THEN (upper(s.stay) - lower(s.stay)) * 1000000::bigint ELSE 0 END,"
"		s.expires_at"
"	FROM @room_stays s"
"		JOIN @hold_pools p ON p.tenant = s.tenant AND p.room_id = s.room_id"
"), total AS ("
"	SELECT p.pool_id, count(h.pool_id) AS holds,"
"		COALESCE(sum(h.qty) FILTER (WHERE"
"			h.generation = COALESCE(l.generation, p.generation)), 0)::bigint AS held,"
"		CASE WHEN p.room_id IS NOT NULL"
"			THEN COALESCE(sum(h.confirmed), 0)::bigint END AS confirmed,"
"		COALESCE(min(h.expires_at), 'infinity') AS next_expiry,"
"		COALESCE(sum(h.qty) FILTER (WHERE"
"			h.generation = p.generation AND h.expires_at <= p.expired_to), 0)::bigint AS expired"
"	FROM @hold_pools p LEFT JOIN hold h ON h.pool_id = p.pool_id"
"		LEFT JOIN lease l ON l.pool_id = p.pool_id"
"	GROUP BY p.pool_id"
") "
"SELECT p.pool_id, t.held, t.holds, COALESCE(t.confirmed, n.consumed, p.consumed),"
"	COALESCE(n.seq, p.seq), COALESCE(n.first_seq, p.first_seq),"
"	COALESCE(l.generation, p.generation)::bigint, t.next_expiry,"
"	COALESCE(l.ends, p.lease_end), COALESCE(n.at, p.last_at) "
"FROM @hold_pools p JOIN total t ON t.pool_id = p.pool_id"
"	LEFT JOIN newest n ON n.pool_id = p.pool_id"
"	LEFT JOIN lease l ON l.pool_id = p.pool_id "
"WHERE ($1 = 0 OR p.pool_id = $1)"
"	AND (p.next_expiry > t.next_expiry OR p.expired <> t.expired OR n.seq IS NULL"
"		OR (p.held, p.holds, p.consumed, p.seq, p.first_seq, p.capacity, p.last_at)"
"			IS DISTINCT FROM (t.held, t.holds, COALESCE(t.confirmed, n.consumed), n.seq, n.first_seq,"
"				n.capacity, n.at)"
"		OR (l.pool_id IS NOT NULL"
"			AND (p.generation, p.lease_end) <> (l.generation, l.ends))) "
"ORDER BY p.pool_id";

/* the columns of that, as numbers of SPI */
enum
{
	RIGHT_POOL_ID = 1,
	RIGHT_HELD,
	RIGHT_HOLDS,
	RIGHT_CONSUMED,
	RIGHT_SEQ,
	RIGHT_FIRST_SEQ,
	RIGHT_GENERATION,
	RIGHT_NEXT_EXPIRY,
	RIGHT_LEASE_END,
	RIGHT_LAST_AT
};

static void
find_wrong(Store *store, int64 pool_id)
{
	Oid			type = INT8OID;
	Datum		value = Int64GetDatum(pool_id);

	query_run(store, right_rows, 1, &type, &value);
}

/* Puts what was found right into the row. */
static void
set_row(Pool *pool)
{
	int64		generation;

	(void) query_int8(0, RIGHT_HELD, &pool->held);
	(void) query_int8(0, RIGHT_HOLDS, &pool->holds);
	(void) query_int8(0, RIGHT_CONSUMED, &pool->consumed);
	(void) query_int8(0, RIGHT_SEQ, &pool->seq);
	(void) query_int8(0, RIGHT_FIRST_SEQ, &pool->first_seq);
	(void) query_int8(0, RIGHT_GENERATION, &generation);
	pool->generation = (int32) generation;
	(void) query_int8(0, RIGHT_NEXT_EXPIRY, &pool->next_expiry);
	pool->expired_to = DT_NOBEGIN;
	pool->expired = 0;
	(void) query_int8(0, RIGHT_LEASE_END, &pool->lease_end);
	(void) query_int8(0, RIGHT_LAST_AT, &pool->last_at);
}

/* Repairs one pool under its lock; false if nothing is wrong by now. */
static bool
repair_pool(Store *store, int64 pool_id)
{
	Pool		pool;
	Change	   *change;
	bool		wrong;
	int64		held;

	wrong = pools_find_id(store, store_look(), pool_id, &pool) &&
		pools_lock(store, &pool, true);
	store_look_away();
	if (!wrong)
		return false;

	(void) store_look();
	find_wrong(store, pool_id);
	store_look_away();
	if (SPI_processed == 0)
		return false;
	held = pool.held;
	set_row(&pool);
	change = change_begin(&pool, session_clock());
	change_pool(change, EVENT_REPAIRED, pool.held - held, NULL);
	if (!change_write(store, change, true))
		elog(ERROR, "a pool changed under its lock");
	return true;
}

static int64
repair_pools(Store *store)
{
	int64		repaired = 0;
	uint64		count;
	int64	   *ids;

	(void) store_look();
	find_wrong(store, 0);
	store_look_away();
	count = SPI_processed;
	ids = palloc(sizeof(int64) * (count + 1));
	for (uint64 i = 0; i < count; i++)
		(void) query_int8(i, RIGHT_POOL_ID, &ids[i]);
	for (uint64 i = 0; i < count; i++)
		repaired += repair_pool(store, ids[i]);
	return repaired;
}

/*
 * hold_repair() returns bigint
 *
 * Rebuilds the counters that disagree with the holds or with the ledger, in
 * all tenants, and returns how many pools had to be repaired.
 */
Datum
hold_repair(PG_FUNCTION_ARGS)
{
	Store		store;
	int64		repaired;

	SPI_connect();
	store_open_for_upkeep(&store, fcinfo);
	repaired = repair_pools(&store);
	store_close_after_writing(&store);
	SPI_finish();
	PG_RETURN_INT64(repaired);
}
