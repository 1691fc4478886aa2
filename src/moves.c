/*-------------------------------------------------------------------------
 *
 * moves.c
 *	  The way of confirmed stays from room to room, as the ledger tells it.
 *
 * A move writes two entries of one moment: "returned" where the stay leaves,
 * "consumed" where it arrives, with the next version.  The stay is known again
 * by them and by since when it is held.  Neither has a deadline, while a hold
 * that is consumed has one.
 *
 * Nothing is read or locked here.
 *
 *-------------------------------------------------------------------------
 */
#include "moves.h"

#include "utils/timestamp.h"

/* A stay's time in a room, from the latest to the first. */
typedef struct Visit
{
	int64		room_id;
	int32		version;		/* of the stay when it came */
	int64		until;			/* number of the entry by which it left */
} Visit;

/* Does a stay come with the entry that was consumed before, there or elsewhere? */
bool
entry_is_arrival(const Entry *entry)
{
	return entry->event == EVENT_CONSUMED && entry->of_stay &&
		entry->expires_at == DT_NOEND;
}

/*
 * Does a stay leave with the entry that is given up nowhere?  Its nights go on
 * counting as taken.
 */
static bool
is_departure(const Entry *entry)
{
	return entry->event == EVENT_RETURNED && entry->of_stay &&
		entry->taken >= entry->qty;
}

/* The one of these entries by which the stay left that arrives; or NULL. */
const Entry *
moves_departure(List *entries, const Entry *arrival)
{
	ListCell   *lc;

	foreach(lc, entries)
	{
		const Entry *entry = lfirst(lc);

		if (is_departure(entry) && entry->at == arrival->at &&
			entry->held_since == arrival->held_since &&
			entry->version == arrival->version - 1)
			return entry;
	}
	return NULL;
}

/* The entry by which the stay came for that visit; NULL if none is left. */
static const Entry *
find_arrival(List *entries, const Stay *stay, const Visit *visit)
{
	const Entry *arrival = NULL;
	ListCell   *lc;

	foreach(lc, entries)
	{
		const Entry *entry = lfirst(lc);

		if (entry_is_arrival(entry) && entry->room_id == visit->room_id &&
			entry->held_since == stay->held_since &&
			entry->version == visit->version && entry->seq < visit->until)
			arrival = entry;
	}
	return arrival;
}

static bool
is_left(List *departures, int64 room_id)
{
	ListCell   *lc;

	foreach(lc, departures)
	{
		if (((const Entry *) lfirst(lc))->room_id == room_id)
			return true;
	}
	return false;
}

/*
 * The entries by which the stay last left each of the rooms in which it was
 * before, as far as the ledger goes back.  "entries" are all of its token.
 */
List *
moves_departures(List *entries, const Stay *stay)
{
	List	   *departures = NIL;
	Visit		visit = {stay->room_id, stay->version, PG_INT64_MAX};

	for (;;)
	{
		const Entry *arrival = find_arrival(entries, stay, &visit);
		const Entry *departure = arrival == NULL ? NULL :
		moves_departure(entries, arrival);

		if (departure == NULL)
			return departures;
		visit.room_id = departure->room_id;
		visit.version = departure->version;
		visit.until = departure->seq;
		if (visit.room_id != stay->room_id &&
			!is_left(departures, visit.room_id))
			departures = lappend(departures, (void *) departure);
	}
}
