/*-------------------------------------------------------------------------
 *
 * change.h
 *	  What one call does to one pool.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_CHANGE_H
#define HOLD_CHANGE_H

#include "postgres.h"

#include "entries.h"
#include "holds.h"
#include "pools.h"
#include "stays.h"
#include "store.h"

/*
 * Built in memory first: the counters as they will be, the holds that end,
 * start or are rewritten, and the ledger entries that tell it.
 */
typedef struct Change
{
	Pool		pool;
	TimestampTz at;
	text	   *actor;
	List	   *ended;			/* of Hold */
	List	   *rewritten;
	List	   *started;
	List	   *entries;		/* of Entry, in order */
} Change;

/* What the caller wants noted with an entry. */
typedef struct Note
{
	text	   *ref;			/* or NULL */
	bool		reserved;
	int64		reservation_id; /* if reserved */
} Note;

extern Change *change_begin(const Pool *pool, TimestampTz clock);
extern void change_next_expiry(Change *change, TimestampTz next_expiry);
extern void change_expired(Change *change, TimestampTz expired_to,
						   int64 expired);
extern void change_expire(Change *change, const Hold *hold);
extern void change_grant(Change *change, const Hold *hold);
extern void change_renew(Change *change, const Hold *hold, int64 qty,
						 TimestampTz expires_at, Jsonb *payload);
extern void change_move(Change *change, const Hold *hold, Nights nights,
						TimestampTz expires_at, Jsonb *payload);
extern void change_cut(Change *change, const Hold *hold, Nights cut,
					   int64 remaining);
extern void change_consume(Change *change, const Hold *hold, int64 qty,
						   bool final, const Note *note);
extern void change_consume_late(Change *change, const Hold *hold, int64 qty,
								const Note *note);
extern void change_return(Change *change, const Hold *held, const Entry *last,
						  int64 taken, int64 qty, const Note *note);
extern void change_note_stay(Change *change, const Hold *stay,
							 const Note *note);
extern void change_leave_room(Change *change, const Hold *stay, int64 taken,
							  const Note *note);
extern void change_enter_room(Change *change, const Hold *stay, int64 taken,
							  const Note *note);
extern void change_give_up(Change *change, const Hold *hold, int64 taken,
						   const Note *note);
extern void change_forget_stay(Change *change, const Entry *last, int64 held,
							   int64 taken, const Note *note);
extern void change_release(Change *change, const Hold *hold);
extern void change_generation(Change *change, int64 capacity,
							  TimestampTz lease_end, int64 told);
extern void change_pool(Change *change, HoldEvent event, int64 qty,
						text *ref);
extern bool change_write(Store *store, Change *change, bool wait);
extern bool change_insert(Store *store, Change *change);

#endif							/* HOLD_CHANGE_H */
