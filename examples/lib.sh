# Sourced by the run scripts of the examples: a server and, for what an example
# replaces, a Redis, both thrown away afterwards.  A story that differs from its
# README, and a test that fails, count as failed; the last line of an example is
# "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

here=$(realpath "$(dirname "$0")")
passed=0
failed=0

# need PROBE PACKAGE...: installs the packages if the command PROBE fails
need()
{
	as_postgres bash -c "$1" >/dev/null 2>&1 && return
	apt update
	apt install -y --no-install-recommends "${@:2}" >/dev/null
}

server()
{
	as_postgres "$bin/pg_ctl" -s -w -D data "$@"
}

# client PROGRAM ARGUMENT...: on the example's server
client()
{
	local program=$1
	shift
	as_postgres "$bin/$program" -h "$work" -U postgres "$@" postgres
}

# Runs an SQL script from standard input.
sql()
{
	client psql -Xq -v ON_ERROR_STOP=1
}

# start_server [OPTION]...: an empty one, with the extension installed
start_server()
{
	install_extension
	bin=$("$(value PG_CONFIG)" --bindir)
	make_work
	as_postgres "$bin/initdb" -D data -U postgres -A trust --no-sync >/dev/null
	server -l log start -o "-k $work -c listen_addresses= -c statement_timeout=60s $*"
}

start_redis()
{
	as_postgres redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" \
		--pidfile "$work/redis.pid" --daemonize yes --save '' >/dev/null
	for _ in {1..300}
	do
		! as_postgres redis-cli -s redis.sock ping >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "Redis did not start" >&2
	return 1
}

stop_redis()
{
	[ ! -e "$work/redis.pid" ] || as_root kill "$(as_root cat "$work/redis.pid")"
}

# Stops what was started; the script ends as it would have.
clean_up()
{
	[ -n "$work" ] || return 0
	stop_redis || true
	server -m immediate stop 2>/dev/null || true
	as_root rm -rf "$work"
}

# Says how the example went.
finish()
{
	local status=$?
	clean_up
	[ $status -eq 0 ] || [ $failed -gt 0 ] || failed=1
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ] && [ $passed -gt 0 ] || exit 1
}

# start_example [OPTION]...: a server, the example's files on it, and its schemas
start_example()
{
	trap finish EXIT
	start_server -c max_connections=120 -c fsync=off "$@"
	tar -C "$here" --exclude=./node_modules --exclude=./dist -cf - . | as_postgres tar -xf -
	sql < <(echo "SET client_min_messages = warning;"; cat "$here/schema.sql") >/dev/null
	[ ! -e "$here/old/schema.sql" ] || sql <"$here/old/schema.sql" >/dev/null
}

# Runs a command of the example, beside its files.
at_home()
{
	as_postgres env PGHOST="$work" PGUSER=postgres PGDATABASE=postgres \
		REDIS_SOCKET="$work/redis.sock" PYTHONDONTWRITEBYTECODE=1 "$@"
}

# count GOOD BAD
count()
{
	passed=$((passed + $1))
	failed=$((failed + $2))
}

# story COMMAND...: what it prints is the README's first text block
story()
{
	local told status=0
	told=$(mktemp)
	at_home "$@" | tee "$told" || status=1
	if [ $status -eq 0 ] && diff -u <(awk '/^```$/ && inside { exit } inside; /^```text$/ { inside = 1 }' \
		"$here/README.md") "$told"
	then
		count 1 0
	else
		count 0 1
	fi
	rm "$told"
}

# tests COUNTER COMMAND...: COUNTER reads what it prints and says "GOOD BAD"
tests()
{
	local output status=0 good bad
	output=$(mktemp)
	at_home "${@:2}" 2>&1 | tee "$output" || status=1
	read -r good bad < <("$1" <"$output")
	rm "$output"
	[ $status -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
	count "$good" "$bad"
}

of_node()
{
	awk '$2 == "pass" { good = $3 } $2 == "fail" { bad = $3 } END { print good + 0, bad + 0 }'
}

of_unittest()
{
	awk '/^Ran / { total = $2 }
		/^FAILED / { gsub(/[^0-9]+/, " "); for (i = 1; i <= NF; i++) bad += $i }
		END { print total - bad, bad + 0 }'
}

of_minitest()
{
	awk '/ runs, .* assertions, / { bad = $5 + $7; good = $1 - bad - $9 }
		END { print good + 0, bad + 0 }'
}
