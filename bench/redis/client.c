/*
 * client.c
 *	  What pgbench is for PostgreSQL, for Redis: N clients that each run a list
 *	  of steps again and again, one round trip after the other.
 *
 * A step "NAME=SHA" calls the script with that hash; the step "book" inserts a
 * booking into PostgreSQL, prepared, in a transaction by itself.  As in pgbench,
 * two threads serve the clients, each with an event loop, and the last lines
 * are those of pgbench.  Requests and answers are few and short, so the
 * protocol of Redis is spoken here, without a library in between.
 */
#include <libpq-fe.h>

#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAX_CLIENTS 128
#define MAX_STEPS 4
#define THREADS 2

typedef struct Step
{
	const char *name;
	const char *sha;			/* NULL for "book" */
} Step;

typedef struct Client
{
	int			redis;			/* its socket */
	PGconn	   *postgres;		/* NULL if no step needs it */
	uint64_t	random;			/* state of the generator */
	char		token[24];		/* of the present transaction */
	char		pool[64];
	int			step;			/* the one that is under way */
	bool		idle;
	double		began;			/* the present transaction */
	char		answer[256];	/* of Redis, as far as it has come */
	size_t		received;
	long		done;			/* transactions */
} Client;

/* the command line */
static const char *socket_path;
static int	n_clients = 1;
static double seconds = 0;
static long transactions = 0;	/* for each client; 0 = until the time is up */
static const char *one_pool;	/* its name, or NULL where pools are drawn: */
static uint64_t first_pool,
			last_pool;
static uint64_t seed = 1;
static Step steps[MAX_STEPS];
static int	n_steps;
static FILE *latencies;			/* if wanted: end of each transaction, microseconds of it */

static Client clients[MAX_CLIENTS];
static double deadline;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* the next number from low to high (splitmix64) */
static uint64_t
draw(Client *client, uint64_t low, uint64_t high)
{
	uint64_t	z = (client->random += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return low + (z ^ (z >> 31)) % (high - low + 1);
}

static int
connect_redis(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (strlen(socket_path) >= sizeof(address.sun_path))
		errx(1, "the path of the socket is too long");
	strcpy(address.sun_path, socket_path);
	if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0)
		err(1, "could not connect to Redis");
	return fd;
}

/* Connects as libpq's environment variables say. */
static PGconn *
connect_postgres(void)
{
	PGconn	   *conn = PQconnectdb("");

	if (PQstatus(conn) != CONNECTION_OK)
		errx(1, "%s", PQerrorMessage(conn));
	PQclear(PQprepare(conn, "book",
					  "INSERT INTO bookings (token, pool, qty) VALUES ($1, $2, 1)", 2, NULL));
	return conn;
}

/* EVALSHA with the keys "holds:POOL", "capacity:POOL", "consumed:POOL" and the token */
static void
send_script(Client *client, const char *sha)
{
	static const char *const prefixes[] = {"holds:", "capacity:", "consumed:"};
	char		request[512];
	size_t		pool = strlen(client->pool);
	int			n;

	n = sprintf(request, "*7\r\n$7\r\nEVALSHA\r\n$%zu\r\n%s\r\n$1\r\n3\r\n", strlen(sha), sha);
	for (int i = 0; i < 3; i++)
		n += sprintf(request + n, "$%zu\r\n%s%s\r\n",
					 strlen(prefixes[i]) + pool, prefixes[i], client->pool);
	n += sprintf(request + n, "$%zu\r\n%s\r\n", strlen(client->token), client->token);
	if (write(client->redis, request, n) != n)
		err(1, "could not write to Redis");
	client->received = 0;
}

static void
send_booking(Client *client)
{
	const char *values[] = {client->token, client->pool};

	if (!PQsendQueryPrepared(client->postgres, "book", 2, values, NULL, NULL, 0))
		errx(1, "%s", PQerrorMessage(client->postgres));
}

static void
send_step(Client *client)
{
	const Step *step = &steps[client->step];

	if (step->sha)
		send_script(client, step->sha);
	else
		send_booking(client);
}

/* Begins a transaction, unless the client has done enough. */
static void
begin(Client *client)
{
	client->began = now();
	client->idle = transactions ? client->done >= transactions : client->began >= deadline;
	if (client->idle)
		return;
	sprintf(client->token, "%llu", (unsigned long long)
			draw(client, 1000000000000000000, 9000000000000000000));
	if (one_pool)
		snprintf(client->pool, sizeof(client->pool), "%s", one_pool);
	else
		sprintf(client->pool, "%llu", (unsigned long long) draw(client, first_pool, last_pool));
	client->step = 0;
	send_step(client);
}

/* Reads from Redis; true when the answer, an integer, is complete. */
static bool
read_script(Client *client)
{
	ssize_t		n = read(client->redis, client->answer + client->received,
						 sizeof(client->answer) - 1 - client->received);

	if (n <= 0)
		err(1, "could not read from Redis");
	client->received += n;
	client->answer[client->received] = '\0';
	if (client->answer[client->received - 1] != '\n')
		return false;
	if (client->answer[0] != ':')
		errx(1, "Redis says: %s", client->answer);
	if (client->step > 0 && client->answer[1] != '1')
		errx(1, "step \"%s\" had no effect", steps[client->step].name);
	return true;
}

static bool
read_booking(Client *client)
{
	PGresult   *result;

	if (!PQconsumeInput(client->postgres))
		errx(1, "%s", PQerrorMessage(client->postgres));
	if (PQisBusy(client->postgres))
		return false;
	while ((result = PQgetResult(client->postgres)) != NULL)
	{
		if (PQresultStatus(result) != PGRES_COMMAND_OK)
			errx(1, "%s", PQresultErrorMessage(result));
		PQclear(result);
	}
	return true;
}

/* Something has come for the client: goes on once it is complete. */
static void
proceed(Client *client)
{
	if (!(steps[client->step].sha ? read_script(client) : read_booking(client)))
		return;
	if (++client->step < n_steps)
	{
		send_step(client);
		return;
	}
	client->done++;
	if (latencies)
		fprintf(latencies, "%.6f %.0f\n", now(), (now() - client->began) * 1e6);
	begin(client);
}

/* The sockets that those clients wait for, which are to be served in turn */
static int
waiting(int thread, struct pollfd *sockets, Client **who)
{
	int			n = 0;

	for (int i = thread; i < n_clients; i += THREADS)
	{
		Client	   *client = &clients[i];

		if (client->idle)
			continue;
		sockets[n].fd = steps[client->step].sha ? client->redis : PQsocket(client->postgres);
		sockets[n].events = POLLIN;
		who[n++] = client;
	}
	return n;
}

/* Serves every THREADS-th client until all of them are idle. */
static void *
serve(void *argument)
{
	int			thread = (int) (intptr_t) argument;
	struct pollfd sockets[MAX_CLIENTS];
	Client	   *who[MAX_CLIENTS];
	int			n;

	for (int i = thread; i < n_clients; i += THREADS)
		begin(&clients[i]);
	while ((n = waiting(thread, sockets, who)) > 0)
	{
		if (poll(sockets, n, -1) < 0)
			err(1, "could not poll");
		for (int i = 0; i < n; i++)
		{
			if (sockets[i].revents)
				proceed(who[i]);
		}
	}
	return NULL;
}

static void
add_step(char *argument)
{
	char	   *equals = strchr(argument, '=');

	if (n_steps == MAX_STEPS)
		errx(1, "too many steps");
	if (equals)
		*equals = '\0';
	else if (strcmp(argument, "book") != 0)
		errx(1, "unknown step \"%s\"", argument);
	steps[n_steps++] = (Step) {argument, equals ? equals + 1 : NULL};
}

static void
parse(int argc, char **argv)
{
	int			option;

	while ((option = getopt(argc, argv, "s:c:T:t:p:f:l:r:o:")) != -1)
	{
		switch (option)
		{
			case 's': socket_path = optarg; break;
			case 'c': n_clients = atoi(optarg); break;
			case 'T': seconds = atof(optarg); break;
			case 't': transactions = atol(optarg); break;
			case 'p': one_pool = optarg; break;
			case 'f': first_pool = strtoull(optarg, NULL, 10); break;
			case 'l': last_pool = strtoull(optarg, NULL, 10); break;
			case 'r': seed = strtoull(optarg, NULL, 10); break;
			case 'o': latencies = fopen(optarg, "w"); break;
			default: exit(2);
		}
	}
	for (; optind < argc; optind++)
		add_step(argv[optind]);
	if (!socket_path || n_steps == 0 || n_clients < 1 || n_clients > MAX_CLIENTS ||
		last_pool < first_pool)
		errx(2, "usage: client -s SOCKET -c CLIENTS {-T SECONDS | -t TRANSACTIONS} "
			 "{-p POOL | -f FIRST_POOL -l LAST_POOL} [-r SEED] [-o LATENCIES] STEP...");
}

static void
connect_all(void)
{
	bool		books = false;

	for (int i = 0; i < n_steps; i++)
		books |= steps[i].sha == NULL;
	for (int i = 0; i < n_clients; i++)
	{
		clients[i].redis = connect_redis();
		clients[i].postgres = books ? connect_postgres() : NULL;
		clients[i].random = seed * 1000003 + i;
	}
}

int
main(int argc, char **argv)
{
	pthread_t	threads[THREADS];
	double		began;
	long		done = 0;

	parse(argc, argv);
	connect_all();
	began = now();
	deadline = began + seconds;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, (void *) (intptr_t) i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < n_clients; i++)
	{
		done += clients[i].done;
		if (clients[i].postgres)
			PQfinish(clients[i].postgres);
	}
	printf("number of transactions actually processed: %ld\n", done);
	printf("tps = %f\n", done / (now() - began));
	return 0;
}
