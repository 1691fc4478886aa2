/*-------------------------------------------------------------------------
 *
 * lines.h
 *	  The lines of a request.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_LINES_H
#define HOLD_LINES_H

#include "postgres.h"

#include "fmgr.h"
#include "relations.h"
#include "vacancy.h"

/* One line, checked. */
typedef struct Line
{
	text	   *pool;
	Demand		demand;
} Line;

extern Line *lines_of_argument(FunctionCallInfo fcinfo, int number,
							   const Relations *relations, int *count);

#endif							/* HOLD_LINES_H */
