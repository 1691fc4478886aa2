/*-------------------------------------------------------------------------
 *
 * query.h
 *	  Questions about whole tables, asked in SQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_QUERY_H
#define HOLD_QUERY_H

#include "postgres.h"

#include "executor/spi.h"
#include "store.h"

extern void query_run(Store *store, const char *text, int nargs, Oid *types,
					  Datum *values);
extern void query_run_as_owner(Store *store, const char *text, int nargs,
							   Oid *types, Datum *values);
extern bool query_int8(uint64 row, int column, int64 *value);

#endif							/* HOLD_QUERY_H */
