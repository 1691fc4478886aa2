/*-------------------------------------------------------------------------
 *
 * stays.h
 *	  The table room_stays.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_STAYS_H
#define HOLD_STAYS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nights.h"
#include "nodes/pg_list.h"
#include "storage/itemptr.h"
#include "store.h"
#include "utils/jsonb.h"

/* A claim on a room. */
typedef struct Stay
{
	ItemPointerData tid;
	int64		id;				/* 0: not made yet */
	text	   *tenant;
	int64		room_id;
	Nights		nights;
	bool		confirmed;
	bool		reserved;
	int64		reservation_id; /* if reserved */
	TimestampTz expires_at;		/* DT_NOEND: confirmed */
	TimestampTz held_since;
	int32		version;
	text	   *token;			/* NULL: inserted by an application */
	text	   *ref;			/* or NULL */
	Jsonb	   *payload;		/* or NULL */
} Stay;

extern List *stays_of_token(Store *store, Snapshot snapshot,
							const text *token);
extern List *stays_overlapping(Store *store, Snapshot snapshot, int64 room_id,
							   Nights nights);
extern bool stays_find(Store *store, Snapshot snapshot, int64 id, Stay *stay);
extern List *stays_expired(Store *store, Snapshot snapshot, TimestampTz clock,
						   int64 most);
extern int64 stays_next_id(Store *store);
extern void stays_insert(Store *store, text *tenant, Stay *stay);
extern void stays_update(Store *store, text *tenant, const Stay *stay);
extern void stays_delete(Store *store, const Stay *stay);

#endif							/* HOLD_STAYS_H */
