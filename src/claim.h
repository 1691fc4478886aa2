/*-------------------------------------------------------------------------
 *
 * claim.h
 *	  Claims of a token on pools, all or none.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_CLAIM_H
#define HOLD_CLAIM_H

#include "postgres.h"

#include "attempt.h"
#include "lines.h"
#include "standing.h"
#include "vacancy.h"

/* What is asked of one pool: its lines summed. */
typedef struct Want
{
	text	   *pool;
	Demand		demand;
} Want;

/* How the token stands where it wants something, and what it gets. */
typedef struct Claim
{
	Standing	standing;		/* must be first */
	bool		unknown;		/* no such pool, or retired */
	bool		sourced;		/* a function tells how much there is */
	bool		asks;			/* and is asked */
	bool		live;			/* the token had a live hold there */
	bool		shut;			/* the pool takes no new holds */
	const Want *want;
	Demand		demand;			/* with what a capacity_from says */
	Vacancy    *vacancy;
	TimestampTz expires_at;		/* of the hold that it gets */
	int32		version;		/* of the live hold that it had, or 0 */
} Claim;

typedef struct ClaimRequest
{
	text	   *token;
	Want	   *wants;			/* in byte order of the pools, none twice */
	int			count;
	int64		ttl;			/* 0: the class's, or default_ttl */
	bool		replace;
	Jsonb	   *payload;		/* or NULL */
} ClaimRequest;

extern void claims_prepare(Attempt *attempt, Store *store,
						   ClaimRequest *request);
extern List *claims_run(Store *store, ClaimRequest *request);
extern void claim_adapt(Store *store, const Claim *claim);
extern bool claim_available(const Claim *claim, int64 *available);

#endif							/* HOLD_CLAIM_H */
