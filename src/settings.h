/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  The extension's settings, as hold_ledger.c defines them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_SETTINGS_H
#define HOLD_SETTINGS_H

#include "postgres.h"

/* times are in seconds */
extern double setting_default_ttl;
extern double setting_max_ttl;
extern double setting_retention;
extern double setting_clock_offset;
extern double setting_sweep_interval;
extern int	setting_max_lines;
extern int	setting_max_nights;
extern char *setting_tenant;
extern bool setting_require_tenant;
extern char *setting_sweep_database;

#endif							/* HOLD_SETTINGS_H */
