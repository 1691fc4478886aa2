/*-------------------------------------------------------------------------
 *
 * token.h
 *	  What the verbs on all that a token has share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_TOKEN_H
#define HOLD_TOKEN_H

#include "postgres.h"

#include "attempt.h"
#include "standing.h"

/* A request about what a token has, in all pools or in one. */
typedef struct TokenRequest
{
	text	   *token;
	text	   *pool;			/* NULL: all of them */
} TokenRequest;

extern void token_prepare(Attempt *attempt, Store *store,
						  TokenRequest *request,
						  void (*decide) (Attempt *attempt, Snapshot snapshot,
										  List *standings));
extern List *token_run(Store *store, TokenRequest *request,
					   void (*decide) (Attempt *attempt, Snapshot snapshot,
									   List *standings));
extern void token_answer(FunctionCallInfo fcinfo, Store *store,
						 const TokenRequest *request, List *standings,
						 int line);
extern bool token_repeats(const TokenRequest *request, List *standings,
						  HoldEvent event, const text *ref);
extern List *token_holds_told(List *standings);
extern void token_require_pool(const TokenRequest *request, List *standings);
extern bool token_has_any(const Standing *standing);
extern TimestampTz token_live_since(List *standings, TimestampTz clock);
extern TimestampTz token_lapsed_at(const Standing *standing);
extern bool token_lapsed_beside(const Standing *standing, TimestampTz since,
								TimestampTz clock);

#endif							/* HOLD_TOKEN_H */
