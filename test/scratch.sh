# Sourced, after lib.sh, by the programs in Python that need a server of their
# own: starts one in $work, with a copy of the tree beside it, and throws both
# away in the end.

python=/usr/bin/python3
options=()

# Splits arguments into those for make and those for the program.
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
	"$python" -c "import ${*/%/,} sys" 2>/dev/null && return
	apt update
	apt install -y --no-install-recommends python3 "${@/#/python3-}" >/dev/null
}

server()
{
	as_postgres "$bin/pg_ctl" -s -w -D data "$@"
}

# start_server OPTION...: all are also its settings
start_server()
{
	as_postgres "$bin/initdb" -D data -U postgres -A trust --no-sync >/dev/null
	server -l log start -o "-k $work -c listen_addresses= -c timezone=UTC $*"
}

# client PROGRAM ARGUMENT...: on that server
client()
{
	local program=$1
	shift
	as_postgres "$bin/$program" -h "$work" -U postgres "$@"
}

# make_database NAME SCRIPT: with what the script makes in it
make_database()
{
	client createdb "$1"
	client psql -Xqt -v ON_ERROR_STOP=1 -d "$1" <"$tree/$2" >/dev/null
}

# run_python ARGUMENT...: as user postgres, in the copy of the tree
run_python()
{
	as_postgres env PYTHONDONTWRITEBYTECODE=1 "$python" "$@"
}

finish()
{
	[ -z "$work" ] || server -m immediate stop 2>/dev/null || true
	[ -z "$work" ] || as_root rm -rf "$work"
}

# prepare MODULE...: all that is needed but the server
prepare()
{
	trap finish EXIT
	install_extension
	equip_python "$@"
	bin=$("$(value PG_CONFIG)" --bindir)
	make_work
	copy_tree
}
