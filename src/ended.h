/*-------------------------------------------------------------------------
 *
 * ended.h
 *	  What is answered about a hold that is not live, or not touched.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_ENDED_H
#define HOLD_ENDED_H

#include "postgres.h"

#include "standing.h"

extern Hold *held_or_lapsed(const Standing *standing);
extern void say_first_figures(Standing *standing, const Entry *consumed);
extern void say_how_it_ended(Standing *standing, TimestampTz clock);
extern void say_blocked(Standing *standing, TimestampTz clock);

#endif							/* HOLD_ENDED_H */
