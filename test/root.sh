# Sourced, after lib.sh, by the tests that need another major version of the
# server: a root file system of a newer Debian, as its packages want a newer libc.
# shellcheck shell=bash

# Where this machine has its packages from.
mirror()
{
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' | awk 'NR == 1'
}

# make_root SUITE MAJOR DIRECTORY: with server, headers and compiler, but no documentation
make_root()
{
	local mirror
	[ -n "$(mirror)" ] || apt update
	mirror=$(mirror)
	command -v mmdebstrap >/dev/null ||
		{ apt update; apt install -y --no-install-recommends mmdebstrap >/dev/null; }
	# the headers' package wants compilers that nothing here needs, so it is only unpacked
	# shellcheck disable=SC2016
	as_root mmdebstrap --quiet --mode=root --variant=apt --format=directory \
		--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		--aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--include="postgresql-$2,postgresql-$2-cron,libipc-run-perl,pgbouncer,gcc,libc6-dev,make" \
		--customize-hook='chroot "$1" sh -c "cd /var/tmp &&
			apt-get download postgresql-server-dev-'"$2"' libpq-dev &&
			for package in *.deb; do dpkg-deb -x \$package /; done; rm -f *.deb"' \
		"$1" "$3" - <<<"deb $mirror $1 main"
}

# copy_into DIRECTORY: fills a folder of the root with the tree, without what was built here.
copy_into()
{
	as_root rm -rf "$1/hold_ledger"
	as_root mkdir "$1/hold_ledger"
	tar -C "$tree" --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude=node_modules -cf - . |
		as_root tar --no-same-owner -C "$1/hold_ledger" -xf -
}

# in_root DIRECTORY COMMAND...: as root in there, with its own /proc and /dev, which
# go when the command ends
in_root()
{
	# shellcheck disable=SC2016
	as_root unshare --mount --propagation private bash -c '
		root=$1; shift
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			HOME=/root LANG=C.UTF-8 "$@"' _ "$@"
}
