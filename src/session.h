/*-------------------------------------------------------------------------
 *
 * session.h
 *	  What a call asks of its session.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_SESSION_H
#define HOLD_SESSION_H

#include "postgres.h"

#include "datatype/timestamp.h"

extern void session_apply_settings(void);
extern TimestampTz session_clock(void);
extern text *session_tenant(void);
extern text *session_tenant_if_any(void);
extern text *session_actor(void);

#endif							/* HOLD_SESSION_H */
