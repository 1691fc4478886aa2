/*-------------------------------------------------------------------------
 *
 * stripes.h
 *	  Pools with several counter rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_STRIPES_H
#define HOLD_STRIPES_H

#include "postgres.h"

#include "standing.h"
#include "vacancy.h"

extern void stripes_place(Standing *standing, TimestampTz clock);
extern void stripes_place_with_hold(Standing *standing);
extern Vacancy *stripes_vacancy(Store *store, Snapshot snapshot,
								Standing *standing, const Demand *demand,
								TimestampTz clock);
extern TimestampTz stripes_clear(Standing *standing, TimestampTz clock);
extern void stripes_gather(Standing *standing, const Vacancy *vacancy,
						   int64 qty, TimestampTz clock);
extern void stripes_revive(Standing *standing, TimestampTz clock);

#endif							/* HOLD_STRIPES_H */
