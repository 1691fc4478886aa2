/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  Memory that all processes share, if the library is preloaded.
 *
 * Whoever wants some says so when the library is loaded, and gets it when the
 * server has made it.  What is loaded later, into one session, gets none.
 *
 *-------------------------------------------------------------------------
 */
#include "shared.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

/* A piece of it, and who wants it. */
typedef struct SharedPiece
{
	const char *name;
	Size		size;
	void		(*attach) (void *memory, bool found);
} SharedPiece;

#define MOST_PIECES 2

static SharedPiece pieces[MOST_PIECES];
static int	npieces = 0;

static shmem_request_hook_type next_request_hook = NULL;
static shmem_startup_hook_type next_startup_hook = NULL;

static void
request_pieces(void)
{
	if (next_request_hook)
		next_request_hook();
	for (int i = 0; i < npieces; i++)
		RequestAddinShmemSpace(MAXALIGN(pieces[i].size));
}

static void
attach_pieces(void)
{
	if (next_startup_hook)
		next_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	for (int i = 0; i < npieces; i++)
	{
		bool		found;
		void	   *memory = ShmemInitStruct(pieces[i].name, pieces[i].size,
											 &found);

		pieces[i].attach(memory, found);
	}
	LWLockRelease(AddinShmemInitLock);
}

/* When the library is loaded, before anybody wants something. */
void
shared_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	next_request_hook = shmem_request_hook;
	shmem_request_hook = request_pieces;
	next_startup_hook = shmem_startup_hook;
	shmem_startup_hook = attach_pieces;
}

/*
 * Wants a piece; "attach" will be given it, and is told whether it was found
 * as another process left it.  False, and nothing comes, without preloading.
 */
bool
shared_want(const char *name, Size size,
			void (*attach) (void *memory, bool found))
{
	SharedPiece *piece;

	if (!process_shared_preload_libraries_in_progress)
		return false;
	Assert(npieces < MOST_PIECES);
	piece = &pieces[npieces++];
	piece->name = name;
	piece->size = size;
	piece->attach = attach;
	return true;
}
