/*-------------------------------------------------------------------------
 *
 * nights.h
 *	  Ranges of nights.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_NIGHTS_H
#define HOLD_NIGHTS_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/date.h"
#include "utils/rangetypes.h"

/* Half-open: the first night, and the day of departure. */
typedef struct Nights
{
	DateADT		first;
	DateADT		departure;
} Nights;

extern Nights nights_of_range(RangeType *range, int most);
extern Nights nights_of_argument(FunctionCallInfo fcinfo, int number,
								 const char *name);
extern Datum nights_range(Nights nights);
extern int	nights_count(Nights nights);

#endif							/* HOLD_NIGHTS_H */
