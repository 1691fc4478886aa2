/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background worker that sweeps.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_WORKER_H
#define HOLD_WORKER_H

extern void worker_init(void);

#endif							/* HOLD_WORKER_H */
