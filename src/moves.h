/*-------------------------------------------------------------------------
 *
 * moves.h
 *	  The way of confirmed stays from room to room.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_MOVES_H
#define HOLD_MOVES_H

#include "postgres.h"

#include "entries.h"
#include "stays.h"

extern bool entry_is_arrival(const Entry *entry);
extern const Entry *moves_departure(List *entries, const Entry *arrival);
extern List *moves_departures(List *entries, const Stay *stay);

#endif							/* HOLD_MOVES_H */
