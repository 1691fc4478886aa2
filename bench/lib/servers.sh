# Sourced by run: the servers that are measured, in a directory that is thrown away.
# PostgreSQL refuses to run as root; where we are root, both run as user postgres.
# It shares the variables of run.
# shellcheck shell=bash disable=SC2034,SC2154

bin=$("${PG_CONFIG:-pg_config}" --bindir)
work=$(mktemp -d -t hold_ledger_bench.XXXXXX)
as_owner=()
if [[ $EUID -eq 0 ]]
then
	chown postgres: "$work"
	as_owner=(runuser -u postgres --)
fi

export bin work bench PGHOST=$work PGUSER=postgres PGDATABASE=postgres
sql=("$bin/psql" -XqAt -v ON_ERROR_STOP=1)

# server PROGRAM ARGUMENT...: as the servers' user
server()
{
	(cd "$work" && "${as_owner[@]}" "$@")
}

redis()
{
	redis-cli -s "$work/redis.sock" "$@"
}

finish()
{
	[[ ! -e $work/redis.pid ]] || kill "$(<"$work/redis.pid")" || true
	[[ ! -e $work/data/postmaster.pid ]] ||
		server "$bin/pg_ctl" -s -D "$work/data" -m immediate stop
	rm -rf "$work"
}

start_servers()
{
	start_postgres
	fill_postgres
	if [[ " ${schemas[*]} " == *" redis "* ]]
	then
		start_redis
		fill_redis
	fi
	"${sql[@]}" -c 'VACUUM ANALYZE' -c 'CHECKPOINT'
}

start_postgres()
{
	server "$bin/initdb" -D "$work/data" -U postgres -A trust --locale=C -E UTF8 >/dev/null
	server tee -a "$work/data/postgresql.conf" >/dev/null <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$work'
		shared_buffers = 512MB
		max_wal_size = 32GB
		min_wal_size = 4GB
		checkpoint_timeout = 1h
		jit = off
		$settings
	CONF
	server "$bin/pg_ctl" -s -w -D "$work/data" -l "$work/log" start
	postmaster=$(head -n 1 "$work/data/postmaster.pid")
}

fill_postgres()
{
	"${sql[@]}" -f "$bench/setup/common.sql"
	for schema in "${schemas[@]}"
	do
		[[ ! -e $bench/setup/$schema.sql ]] ||
			PGOPTIONS="-c client_min_messages=warning" \
				"${sql[@]}" -v schema="$schema" -f "$bench/setup/$schema.sql" >/dev/null
	done
}

# Redis, like PostgreSQL, does not rewrite its log within a run.
start_redis()
{
	gcc -O2 -Wall -Wextra -o "$work/client" "$bench/redis/client.c" -pthread \
		-I"$("${PG_CONFIG:-pg_config}" --includedir)" -L"$("${PG_CONFIG:-pg_config}" --libdir)" -lpq
	server redis-server --port 0 --unixsocket "$work/redis.sock" --unixsocketperm 777 \
		--dir "$work" --pidfile "$work/redis.pid" --daemonize yes --save '' \
		--appendonly yes --appendfsync always --auto-aof-rewrite-percentage 0 >/dev/null
	until redis ping >/dev/null 2>&1
	do
		sleep 0.1
	done
	redis_pid=$(<"$work/redis.pid")
}

# The scripts, under the names of the client's steps, and the capacities.
fill_redis()
{
	local script loaded=()

	for script in "$bench"/redis/*.lua
	do
		loaded+=("$(basename "$script" .lua)=$(redis script load "$(<"$script")")")
	done
	export scripts="${loaded[*]}"	# for redis_slice and own/crowded
	"${sql[@]}" -c "SELECT format('SET capacity:%s %s', pool, capacity) FROM bench.pools" |
		redis --pipe >/dev/null
	"${sql[@]}" -c "SELECT 'ZADD holds:3000000000001 99999999999999999 full:' || g FROM generate_series(1, 1000) g" |
		redis --pipe >/dev/null
}
