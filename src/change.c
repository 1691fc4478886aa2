/*-------------------------------------------------------------------------
 *
 * change.c
 *	  What one call does to one pool.
 *
 * A change is built in memory from what was read, with the counters and the
 * ledger entries as they will be, and then written at once, the pool's row
 * first.  If that row is no longer the version that was read, nothing is
 * written.  If it is, the holds are as they were read too: whoever changes a
 * hold rewrites its pool's row in the same transaction.
 *
 * Holds of an older generation touch neither held nor consumed.
 *
 *-------------------------------------------------------------------------
 */
#include "change.h"

#include "rules.h"
#include "session.h"
#include "utils/timestamp.h"

/*
 * Starts a change of the pool at the given moment.  The ledger's times never
 * run backwards, whatever the clock does.
 */
Change *
change_begin(const Pool *pool, TimestampTz clock)
{
	Change	   *change = palloc0(sizeof(Change));

	change->pool = *pool;
	change->at = Max(clock, pool->last_at);
	change->actor = session_actor();
	return change;
}

/* Says when the first of the holds that stay can expire. */
void
change_next_expiry(Change *change, TimestampTz next_expiry)
{
	change->pool.next_expiry = next_expiry;
}

/*
 * Says what all holds have that expire up to a moment: to be said before one of
 * them ends.
 */
void
change_expired(Change *change, TimestampTz expired_to, int64 expired)
{
	if (expired_to <= change->pool.expired_to)
		return;
	change->pool.expired_to = expired_to;
	change->pool.expired = expired;
}

/* Appends an entry with the pool's balances as they are now. */
static Entry *
add_entry(Change *change, HoldEvent event, int64 qty)
{
	Pool	   *pool = &change->pool;
	Entry	   *entry = palloc0(sizeof(Entry));

	pool->seq++;
	pool->last_at = change->at;
	entry->event = event;
	entry->at = change->at;
	entry->pool_id = pool->id;
	entry->of_room = pool->is_room;
	entry->room_id = pool->room_id;
	entry->seq = pool->seq;
	entry->qty = qty;
	entry->held = pool->held;
	entry->consumed = pool->consumed;
	entry->counted = pool->counted;
	entry->capacity = pool->capacity;
	entry->expires_at = pool->lease_end;
	entry->generation = pool->generation;
	entry->actor = change->actor;
	change->entries = lappend(change->entries, entry);
	return entry;
}

/* Appends an entry about a hold. */
static Entry *
add_hold_entry(Change *change, HoldEvent event, int64 qty, const Hold *hold)
{
	Entry	   *entry = add_entry(change, event, qty);

	entry->expires_at = hold->expires_at;
	entry->generation = hold->generation;
	entry->token = hold->token;
	entry->payload = hold->payload;
	entry->of_stay = hold->stay != NULL;
	if (entry->of_stay)
		entry->nights = hold->stay->nights;
	return entry;
}

/*
 * The same for an entry that a later question about the token will find.  It
 * tells what the token holds and has taken by then, whatever becomes of older
 * entries.
 */
static Entry *
add_memory(Change *change, HoldEvent event, int64 qty, const Hold *hold,
		   int64 remaining, int64 taken)
{
	Entry	   *entry = add_hold_entry(change, event, qty, hold);

	entry->remembered = true;
	entry->memory_key = rule_token_key(change->pool.tenant, hold->token);
	entry->remaining = remaining;
	entry->taken = taken;
	entry->held_since = hold->held_since;
	entry->version = hold->version;
	return entry;
}

/* Counts what a hold gets or loses, also among what has expired. */
static void
add_held(Change *change, const Hold *hold, int64 qty)
{
	Pool	   *pool = &change->pool;

	if (hold->generation != pool->generation)
		return;
	pool->held = rule_add(pool->held, qty);
	if (hold->expires_at <= pool->expired_to)
		pool->expired = rule_add(pool->expired, qty);
}

static void
add_consumed(Change *change, const Hold *hold, int64 qty)
{
	if (hold->generation == change->pool.generation)
		change->pool.consumed = rule_add(change->pool.consumed, qty);
}

/* Ends a hold whose time is over. */
void
change_expire(Change *change, const Hold *hold)
{
	add_held(change, hold, -hold->qty);
	add_memory(change, EVENT_EXPIRED, hold->qty, hold, hold->beside,
			   hold->consumed);
	change->ended = lappend(change->ended, (void *) hold);
}

/* Starts a hold. */
void
change_grant(Change *change, const Hold *hold)
{
	Pool	   *pool = &change->pool;

	add_held(change, hold, hold->qty);
	add_hold_entry(change, EVENT_GRANTED, hold->qty, hold);
	pool->next_expiry = Min(pool->next_expiry, hold->expires_at);
	change->started = lappend(change->started, (void *) hold);
}

/* Replaces a hold by what became of it. */
static void
rewrite_hold(Change *change, HoldEvent event, const Hold *hold, Hold *after)
{
	Pool	   *pool = &change->pool;

	after->version = hold->version + 1;
	if (hold->stay != NULL)
	{
		after->stay->expires_at = after->expires_at;
		after->stay->version = after->version;
		after->stay->payload = after->payload;
	}
	add_held(change, hold, -hold->qty);
	add_held(change, after, after->qty);
	add_hold_entry(change, event, after->qty, after);
	pool->next_expiry = Min(pool->next_expiry, after->expires_at);
	change->rewritten = lappend(change->rewritten, after);
}

static Hold *
copy_hold(const Hold *hold)
{
	Hold	   *copy = palloc(sizeof(Hold));

	*copy = *hold;
	if (hold->stay != NULL)
	{
		copy->stay = palloc(sizeof(Stay));
		*copy->stay = *hold->stay;
	}
	return copy;
}

/* Renews a hold, with another quantity perhaps; NULL keeps the payload. */
void
change_renew(Change *change, const Hold *hold, int64 qty,
			 TimestampTz expires_at, Jsonb *payload)
{
	Hold	   *after = copy_hold(hold);

	after->qty = qty;
	after->expires_at = expires_at;
	if (payload != NULL)
		after->payload = payload;
	rewrite_hold(change, qty == hold->qty ? EVENT_RENEWED : EVENT_CHANGED,
				 hold, after);
}

/* Moves a held stay to other nights, and renews it. */
void
change_move(Change *change, const Hold *hold, Nights nights,
			TimestampTz expires_at, Jsonb *payload)
{
	Hold	   *after = copy_hold(hold);

	after->stay->nights = nights;
	after->qty = nights_count(nights) * UNITS_PER_ONE;
	after->expires_at = expires_at;
	if (payload != NULL)
		after->payload = payload;
	rewrite_hold(change, EVENT_CHANGED, hold, after);
}

/*
 * Gives some nights of a held stay back: a part of it stays, and what falls
 * off behind them goes on as a stay of its own.  "remaining" is what the token
 * then holds in the room.
 */
void
change_cut(Change *change, const Hold *hold, Nights cut, int64 remaining)
{
	Hold	   *after = copy_hold(hold);
	Hold	   *given = copy_hold(hold);
	Nights		nights = hold->stay->nights;
	Hold	   *tail;

	given->stay->nights = cut;
	given->qty = nights_count(cut) * UNITS_PER_ONE;
	add_held(change, hold, -given->qty);
	add_memory(change, EVENT_RELEASED, given->qty, given, remaining,
			   hold->consumed);
	if (cut.first == nights.first && cut.departure == nights.departure)
	{
		change->ended = lappend(change->ended, (void *) hold);
		return;
	}
	if (cut.first > nights.first && cut.departure < nights.departure)
	{
		tail = copy_hold(hold);
		tail->stay->nights.first = cut.departure;
		change->started = lappend(change->started, tail);
	}
	if (cut.first > nights.first)
		after->stay->nights.departure = cut.first;
	else
		after->stay->nights.first = cut.departure;
	change->rewritten = lappend(change->rewritten, after);
}

/* The stay as its confirmation leaves it. */
static Stay *
confirmed_stay(const Stay *held, const Note *note)
{
	Stay	   *stay = palloc(sizeof(Stay));

	*stay = *held;
	stay->confirmed = true;
	stay->expires_at = DT_NOEND;
	stay->reserved = note->reserved;
	stay->reservation_id = note->reservation_id;
	stay->ref = note->ref;
	return stay;
}

static void
add_note(Entry *entry, const Note *note)
{
	entry->ref = note->ref;
	entry->reserved = note->reserved;
	entry->reservation_id = note->reservation_id;
}

/*
 * Consumes units of a hold.  A final consume gives the rest back first, so
 * that the entry that ends the hold is the consumption; any other leaves the
 * rest held.
 */
void
change_consume(Change *change, const Hold *hold, int64 qty, bool final,
			   const Note *note)
{
	int64		rest = hold->qty - qty;
	Hold	   *after = palloc(sizeof(Hold));

	if (final && rest > 0)
	{
		add_held(change, hold, -rest);
		add_note(add_memory(change, EVENT_RELEASED, rest, hold, qty,
							hold->consumed), note);
		rest = 0;
	}
	add_held(change, hold, -qty);
	add_consumed(change, hold, qty);
	add_note(add_memory(change, EVENT_CONSUMED, qty, hold,
						rest + hold->beside,
						rule_add(hold->consumed, qty)), note);

	*after = *hold;
	after->qty = rest;
	after->consumed = rule_add(hold->consumed, qty);
	after->ref = note->ref;
	if (hold->stay != NULL)
	{
		after->stay = confirmed_stay(hold->stay, note);
		change->rewritten = lappend(change->rewritten, after);
	}
	else if (rest == 0)
		change->ended = lappend(change->ended, (void *) hold);
	else
		change->rewritten = lappend(change->rewritten, after);
}

/*
 * Claims units for a hold that has expired, and consumes them at once: two
 * entries and no row.
 */
void
change_consume_late(Change *change, const Hold *hold, int64 qty,
					const Note *note)
{
	Hold	   *revived = palloc(sizeof(Hold));

	*revived = *hold;
	revived->qty = qty;
	revived->version++;
	revived->held_since = change->at;
	add_held(change, revived, qty);
	add_hold_entry(change, EVENT_GRANTED, qty, revived);
	add_held(change, revived, -qty);
	add_consumed(change, revived, qty);
	add_note(add_memory(change, EVENT_CONSUMED, qty, revived, 0,
						rule_add(hold->consumed, qty)), note);
	if (hold->stay != NULL)
	{
		revived->stay = confirmed_stay(hold->stay, note);
		revived->stay->held_since = revived->held_since;
		change->started = lappend(change->started, revived);
	}
}

/* A hold of the past as an entry tells of it, without units and nights. */
static Hold
remembered_hold(const Entry *entry)
{
	Hold		hold = {0};

	hold.expires_at = entry->expires_at;
	hold.held_since = entry->held_since;
	hold.version = entry->version;
	hold.generation = entry->generation;
	hold.token = entry->token;
	hold.payload = entry->payload;
	return hold;
}

/*
 * Puts units back of the "taken" ones.  "held" is what the token still holds
 * there, or NULL; "last" the newest entry that tells of what it took.
 */
void
change_return(Change *change, const Hold *held, const Entry *last,
			  int64 taken, int64 qty, const Note *note)
{
	Hold		past = remembered_hold(last);
	Hold	   *after;

	if (held != NULL)
		past.expires_at = held->expires_at;
	add_consumed(change, &past, -qty);
	add_note(add_memory(change, EVENT_RETURNED, qty, &past,
						held == NULL ? 0 : held->qty, taken - qty), note);
	if (held == NULL)
		return;
	after = palloc(sizeof(Hold));
	*after = *held;
	after->consumed = taken - qty;
	change->rewritten = lappend(change->rewritten, after);
}

/* Notes an event of a confirmed stay, whose token may be nobody's. */
static void
note_stay(Change *change, HoldEvent event, const Hold *stay, int64 taken,
		  const Note *note)
{
	if (stay->token != NULL)
		add_note(add_memory(change, event, stay->qty, stay, 0, taken), note);
	else
		add_note(add_hold_entry(change, event, stay->qty, stay), note);
}

/* Notes a stay that an application is about to insert itself. */
void
change_note_stay(Change *change, const Hold *stay, const Note *note)
{
	change->pool.holds++;
	add_consumed(change, stay, stay->qty);
	note_stay(change, EVENT_CONSUMED, stay, 0, note);
}

/* Takes a confirmed stay out of its room; its row goes to another. */
void
change_leave_room(Change *change, const Hold *stay, int64 taken,
				  const Note *note)
{
	change->pool.holds--;
	add_consumed(change, stay, -stay->qty);
	note_stay(change, EVENT_RETURNED, stay, taken, note);
}

/* Puts a confirmed stay, as it is to be, into its room. */
void
change_enter_room(Change *change, const Hold *stay, int64 taken,
				  const Note *note)
{
	change->pool.holds++;
	add_consumed(change, stay, stay->qty);
	note_stay(change, EVENT_CONSUMED, stay, rule_add(taken, stay->qty), note);
	change->rewritten = lappend(change->rewritten, (void *) stay);
}

/* Gives up a confirmed stay; "taken" is what the token then still has. */
void
change_give_up(Change *change, const Hold *hold, int64 taken,
			   const Note *note)
{
	add_consumed(change, hold, -hold->qty);
	note_stay(change, EVENT_RETURNED, hold, taken, note);
	change->ended = lappend(change->ended, (void *) hold);
}

/*
 * Ends the memory of a stay in a room that it had left, where "last" tells of
 * it; the token then holds "held" there and still has "taken".  No night of
 * the room comes free by that, so the entry has none.
 */
void
change_forget_stay(Change *change, const Entry *last, int64 held, int64 taken,
				   const Note *note)
{
	Hold		past = remembered_hold(last);

	add_note(add_memory(change, EVENT_RETURNED, 0, &past, held, taken), note);
}

/* Ends a hold by giving all that is left of it back. */
void
change_release(Change *change, const Hold *hold)
{
	add_held(change, hold, -hold->qty);
	add_memory(change, EVENT_RELEASED, hold->qty, hold, hold->beside,
			   hold->consumed);
	change->ended = lappend(change->ended, (void *) hold);
}

/*
 * Notes a change of the pool itself, whose new values the caller has put into
 * change->pool.  A ref makes the entry one that is found again.
 */
void
change_pool(Change *change, HoldEvent event, int64 qty, text *ref)
{
	Entry	   *entry = add_entry(change, event, qty);

	if (ref == NULL)
		return;
	entry->ref = ref;
	entry->remembered = true;
	entry->memory_key = rule_ref_key(change->pool.id, ref);
	entry->held_since = change->at;
}

/* --- writing: a hold is a row of holds, or one of room_stays --- */

static void
delete_hold(Store *store, const Hold *hold)
{
	if (hold->stay != NULL)
		stays_delete(store, hold->stay);
	else
		holds_delete(store, hold);
}

static void
update_hold(Store *store, text *tenant, const Hold *hold)
{
	if (hold->stay != NULL)
		stays_update(store, tenant, hold->stay);
	else
		holds_update(store, tenant, hold);
}

static void
insert_hold(Store *store, text *tenant, const Hold *hold)
{
	if (hold->stay != NULL)
		stays_insert(store, tenant, hold->stay);
	else
		holds_insert(store, tenant, hold);
}

/*
 * Begins the next generation: a lease with nothing held and nothing consumed.
 * Its entry, which tells "told" units, is found again by the end of the lease.
 */
void
change_generation(Change *change, int64 capacity, TimestampTz lease_end,
				  int64 told)
{
	Pool	   *pool = &change->pool;
	Entry	   *entry;

	pool->generation++;
	pool->held = 0;
	pool->expired_to = DT_NOBEGIN;
	pool->expired = 0;
	pool->consumed = 0;
	pool->counted = true;
	pool->capacity = capacity;
	pool->lease_end = lease_end;
	entry = add_entry(change, EVENT_GENERATION, told);
	entry->remembered = true;
	entry->memory_key = rule_lease_key(pool->id, lease_end);
	entry->held_since = change->at;
}

/*
 * Writes the change.  Returns false, with nothing written, if the pool's row
 * is no longer the one that was read or, without wait, if it is locked.
 */
bool
change_write(Store *store, Change *change, bool wait)
{
	text	   *tenant = change->pool.tenant;
	ListCell   *lc;

	change->pool.holds += list_length(change->started) -
		list_length(change->ended);
	if (!pools_update(store, &change->pool, wait))
		return false;
	foreach(lc, change->ended)
	{
		delete_hold(store, lfirst(lc));
	}
	foreach(lc, change->rewritten)
	{
		update_hold(store, tenant, lfirst(lc));
	}
	foreach(lc, change->started)
	{
		insert_hold(store, tenant, lfirst(lc));
	}
	foreach(lc, change->entries)
	{
		entries_append(store, lfirst(lc));
	}
	return true;
}

/*
 * Makes the counter row that the change is about, which is not there yet, and
 * gives it an id.  Returns false if somebody else has made it meanwhile.
 */
bool
change_insert(Store *store, Change *change)
{
	ListCell   *lc;

	if (!pools_insert(store, &change->pool))
		return false;
	foreach(lc, change->entries)
	{
		Entry	   *entry = lfirst(lc);

		entry->pool_id = change->pool.id;
		entries_append(store, entry);
	}
	return true;
}
