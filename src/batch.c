/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  What the verbs on many independent requests share.
 *
 *-------------------------------------------------------------------------
 */
#include "batch.h"

#include "utils/memutils.h"

/* Is it about what was asked, and not about the server or a wait? */
static bool
is_mistake(int code)
{
	int			category = ERRCODE_TO_CATEGORY(code);

	return category == ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION) ||
		code == ERRCODE_UNDEFINED_OBJECT;
}

/*
 * In a PG_CATCH block: lets a mistake go on with the request's number, and
 * any other error, such as a cancelled wait, as it is.
 */
void
batch_rethrow(int number)
{
	ErrorData  *error;

	if (!is_mistake(geterrcode()))
		PG_RE_THROW();
	/* the copy must outlive the flush, which empties the error context */
	MemoryContextSwitchTo(CurTransactionContext);
	error = CopyErrorData();
	FlushErrorState();
	error->detail = error->detail == NULL ?
		psprintf("It is request %d.", number) :
		psprintf("%s It is request %d.", error->detail, number);
	ReThrowError(error);
}
