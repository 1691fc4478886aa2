/*-------------------------------------------------------------------------
 *
 * attempt.h
 *	  Look, decide, lock, decide again, write.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_ATTEMPT_H
#define HOLD_ATTEMPT_H

#include "postgres.h"

#include "standing.h"
#include "store.h"

/* What a verb asks for, and how it judges. */
typedef struct Attempt
{
	Store	   *store;
	void	   *request;		/* the verb's own */
	int			number;			/* of the request in a batch, or 0 */
	bool		waited;			/* for a pool that somebody had locked */
	bool		locked;			/* are the pools locked by now? */
	bool		needs_locks;	/* set by decide: only locks can tell */
	TimestampTz clock;			/* the moment of the decision */
	List	   *standings;		/* what was decided */

	/* returns the standings that the request is about; may not raise */
	List	   *(*find) (struct Attempt *attempt, Snapshot snapshot);

	/* sets outcomes, and changes where something is to be written */
	void		(*decide) (struct Attempt *attempt, Snapshot snapshot,
						   List *standings);
} Attempt;

extern bool attempt_is_early(Attempt *attempt);
extern List *attempt_run(Attempt *attempt);
extern void attempts_run(List *attempts);

#endif							/* HOLD_ATTEMPT_H */
