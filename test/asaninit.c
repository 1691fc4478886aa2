/*
 * asaninit.c: lets AddressSanitizer start within PostgreSQL's server.
 *
 * Where it is preloaded, it sets itself up in the first call of malloc.  In the
 * server that may come from bindtextdomain(), which holds a lock of the C library
 * that the setting up needs too.  So malloc is called once before.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

typedef char *(*Bind) (const char *domain, const char *directory);

char *
bindtextdomain(const char *domain, const char *directory)
{
	static Bind bind;

	if (bind == NULL)
	{
		void	   *volatile first = malloc(1);

		free(first);
		bind = (Bind) dlsym(RTLD_NEXT, "bindtextdomain");
	}
	return bind(domain, directory);
}
