# Sourced by the scripts that need a server: puts in place what is missing,
# installs the extension, and works as user postgres in a directory of its own.
# Arguments of the form VARIABLE=value go to every make.

set -euo pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL

tree=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
settings=()
work=

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Runs a command in $work, as initdb refuses root.
as_postgres()
{
	as_root runuser -u postgres -- \
		env -C "$work" HOME="$work" LC_ALL=C.UTF-8 PGCTLTIMEOUT=300 "$@"
}

in_tree()
{
	make -s -C "$tree" "${settings[@]}" "$@"
}

# value NAME: what the Makefile says
value()
{
	in_tree "print-$1"
}

# Is all there that builds and tests need?
equipped()
{
	local pg_config
	pg_config=$(value PG_CONFIG)
	command -v gcc >/dev/null &&
		command -v "$pg_config" >/dev/null &&
		[ -x "$("$pg_config" --bindir)/postgres" ] &&
		[ -e "$("$pg_config" --includedir-server)/postgres.h" ] &&
		perl -MIPC::Run -e1 2>/dev/null &&
		{ command -v pg_bsd_indent >/dev/null || [ -z "$(indenter)" ]; } &&
		{ [ -e "$("$pg_config" --pkglibdir)/pg_cron.so" ] || [ -z "$(scheduler)" ]; } &&
		{ command -v pgbouncer >/dev/null || [ -z "$(pooler)" ]; }
}

# The indenter's package, where there is one.
indenter()
{
	apt-cache pkgnames pg-bsd-indent 2>/dev/null || true
}

# The major version of Debian's server that the Makefile found.
found_major()
{
	value PG_CONFIG | sed -n 's,^/usr/lib/postgresql/\([0-9]*\)/.*,\1,p' | grep .
}

# pg_cron's package for that server, where there is one.
scheduler()
{
	local major
	major=$(found_major) || return 0
	apt-cache pkgnames "postgresql-$major-cron" 2>/dev/null || true
}

# The connection pooler's package, where there is one.
pooler()
{
	apt-cache pkgnames pgbouncer 2>/dev/null | grep -x pgbouncer || true
}

# The server that the Makefile found, else 15, else the newest there is.
major()
{
	found_major && return
	apt-cache pkgnames postgresql-server-dev- | sed -n 's/.*-\([0-9]*\)$/\1/p' |
		sort -rn | awk 'NR == 1 || $1 == 15 { found = $1 } END { print found }'
}

apt()
{
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# Installs what is missing.
equip()
{
	local major
	equipped && return
	echo "installing packages"
	apt update
	major=$(major)
	# shellcheck disable=SC2046
	apt install -y --no-install-recommends gcc libc6-dev libipc-run-perl $(indenter) $(pooler) \
		"postgresql-$major" "postgresql-server-dev-$major" \
		$(apt-cache pkgnames "postgresql-$major-cron") >/dev/null
}

# Builds in the tree and installs.
install_extension()
{
	equip
	in_tree -j "$(nproc)" all
	as_root make -s -C "$tree" "${settings[@]}" install >/dev/null
}

# Makes $work, which postgres owns.
make_work()
{
	work=$(mktemp -d /tmp/hold_ledger.XXXXXX)
	as_root chown postgres: "$work"
}

# Fills it with the tree, since postgres may not enter the clone.
copy_tree()
{
	tar -C "$tree" --exclude=./.git --exclude=node_modules -cf - . | as_postgres tar -xf -
}

# Makes a copy of the tree, for a build of another kind, in $work/tree.
copy_sources()
{
	mkdir "$work/tree"
	tar -C "$tree" --exclude=./.git --exclude='*.o' --exclude='*.so' -cf - . |
		tar -C "$work/tree" -xf -
}

# Makes a copy of the server, for such a build, and sets $bin.  What pg_config
# knows is in the same places below another root, where the copy finds its parts.
copy_server()
{
	local pg_config what path
	pg_config=$(value PG_CONFIG)
	for what in bindir pkglibdir sharedir includedir-server
	do
		path=$("$pg_config" "--$what")
		mkdir -p "$work/server$path"
		cp -a "$path/." "$work/server$path"
	done
	bin=$work/server$("$pg_config" --bindir)
}
