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

/* What the counters of a pool should be; all pools for 0. */
static const char *const right_counters =
"SELECT p.pool_id, COALESCE(h.held, 0), COALESCE(n.consumed, p.consumed),"
"	COALESCE(n.seq, p.seq), h.next_expiry, COALESCE(n.first_seq, p.first_seq),"
"	h.holds "
"FROM @hold_pools p"
"	LEFT JOIN LATERAL ("
"		SELECT (sum(h.qty) FILTER (WHERE h.generation = p.generation))::bigint AS held,"
"			min(h.expires_at) AS next_expiry, count(*) AS holds"
"		FROM (SELECT h.qty, h.generation, h.expires_at FROM @holds h"
"			WHERE h.pool_id = p.pool_id"
"			UNION ALL SELECT CASE WHEN s.expires_at IS NULL THEN 0"
"				ELSE (upper(s.stay) - lower(s.stay)) * 1000000::bigint END,"
"				p.generation, s.expires_at FROM @room_stays s"
"			WHERE s.tenant = p.tenant AND s.room_id = p.room_id) h) h ON true"
"	LEFT JOIN (SELECT DISTINCT ON (pool_id) pool_id, consumed, seq, capacity, at,"
"			min(seq) OVER (PARTITION BY pool_id) AS first_seq"
"		FROM @hold_ledger ORDER BY pool_id, seq DESC) n ON n.pool_id = p.pool_id "
"WHERE ($1 = 0 OR p.pool_id = $1)"
"	AND (p.held <> COALESCE(h.held, 0) OR p.holds <> h.holds OR p.consumed <> n.consumed"
"		OR p.seq <> n.seq OR p.next_expiry > h.next_expiry OR n.seq IS NULL"
"		OR p.capacity IS DISTINCT FROM n.capacity OR p.last_at <> n.at"
"		OR p.first_seq <> n.first_seq) "
"ORDER BY p.pool_id";

static void
find_wrong(Store *store, int64 pool_id)
{
	Oid			type = INT8OID;
	Datum		value = Int64GetDatum(pool_id);

	query_run(store, right_counters, 1, &type, &value);
}

/* Puts what was found right into the change, and notes it. */
static void
set_counters(Change *change)
{
	Pool	   *pool = &change->pool;
	int64		held;
	bool		isnull;
	Datum		next = SPI_getbinval(SPI_tuptable->vals[0],
									 SPI_tuptable->tupdesc, 5, &isnull);

	(void) query_int8(0, 2, &held);
	(void) query_int8(0, 3, &pool->consumed);
	(void) query_int8(0, 4, &pool->seq);
	(void) query_int8(0, 6, &pool->first_seq);
	(void) query_int8(0, 7, &pool->holds);
	pool->next_expiry = isnull ? DT_NOEND : DatumGetTimestampTz(next);
	held -= pool->held;
	pool->held += held;
	change_pool(change, EVENT_REPAIRED, held, NULL);
}

/* Repairs one pool under its lock; false if nothing is wrong by now. */
static bool
repair_pool(Store *store, int64 pool_id)
{
	Pool		pool;
	Change	   *change;
	bool		wrong;

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
	change = change_begin(&pool, session_clock());
	set_counters(change);
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
		(void) query_int8(i, 1, &ids[i]);
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
