/*-------------------------------------------------------------------------
 *
 * shared.h
 *	  Memory that all processes share, if the library is preloaded.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_SHARED_H
#define HOLD_SHARED_H

#include "postgres.h"

extern void shared_init(void);
extern bool shared_want(const char *name, Size size,
						void (*attach) (void *memory, bool found));

#endif							/* HOLD_SHARED_H */
