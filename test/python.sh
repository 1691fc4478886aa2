# Sourced by the scripts that let a Python program loose on a server that is
# thrown away.  VARIABLE=value goes to make, other arguments to the program.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python=/usr/bin/python3
options=()

parse()
{
	local argument
	for argument
	do
		case $argument in
			[A-Z]*=*) settings+=("$argument") ;;
			*) options+=("$argument") ;;
		esac
	done
}

# equip_python MODULE...: Debian's own Python has Debian's modules.
equip_python()
{
	"$python" -c "import $(printf '%s,' "$@" | sed 's/,$//')" 2>/dev/null && return
	apt update
	apt install -y --no-install-recommends python3 "${@/#/python3-}" >/dev/null
}

server()
{
	as_postgres "$bin/pg_ctl" -s -w -D data "$@"
}

# start_server [SETTING]...: with more settings than all need
start_server()
{
	bin=$("$(value PG_CONFIG)" --bindir)
	make_work
	copy_tree
	as_postgres "$bin/initdb" -D data -U postgres -A trust --no-sync >/dev/null
	server -l log start -o "-k $work -c listen_addresses= -c fsync=off \
		-c synchronous_commit=off -c timezone=UTC $(printf -- '-c %s ' "$@")"
}

# client PROGRAM ARGUMENT...: on that server
client()
{
	local program=$1
	shift
	as_postgres "$bin/$program" -h "$work" -U postgres "$@"
}

# program FILE: the program itself, with what it was told
program()
{
	as_postgres env PYTHONDONTWRITEBYTECODE=1 \
		"$python" "$1" --dsn "host=$work user=postgres" "${options[@]}"
}

finish()
{
	[ -z "$work" ] || server -m immediate stop 2>/dev/null || true
	[ -z "$work" ] || as_root rm -rf "$work"
}

trap finish EXIT
