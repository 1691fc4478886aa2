# The tree itself: every test is run and every golden has a test, the C code is
# laid out as PostgreSQL's, and the version is the same wherever it is given.

use strict;
use warnings;

use JSON::PP qw(decode_json);
use Test::More;

sub names
{
	return join ' ', sort map { s{.*/}{}r =~ s{\.[^.]*$}{}r } glob shift;
}

sub listed
{
	my $list = `make -s print-$_[0]`;
	return join ' ', sort split ' ', $list;
}

sub content
{
	open my $file, '<', $_[0] or die "$_[0]: $!";
	local $/;
	return <$file>;
}

# prove was handed the environment of a make that may have been told to run
# fewer tests
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};

is(listed('REGRESS'), names('test/sql/*.sql'), 'every regress test is run');
is(listed('ISOLATION'), names('test/isolation/specs/*.spec'),
	'every isolation test is run');
is(listed('TAP'), names('test/t/*.pl'), 'every TAP test is run');

is(names('expected/*.out'), names('test/sql/*.sql'),
	'regress tests and expected files match');
# "_1" is what else an isolation test may print
is(join(' ', grep { !/_1$/ } split ' ', names('test/isolation/expected/*.out')),
	names('test/isolation/specs/*.spec'),
	'isolation tests and expected files match');

my ($version) = content('hold_ledger.control') =~ /^default_version = '(.*)'/m;
my $meta = decode_json(content('META.json'));
my $provided = $meta->{provides}{hold_ledger};
is($meta->{version}, "$version.0", 'META.json has the version of the control file');
is($provided->{version}, "$version.0", 'and so has what it provides');
is($provided->{file}, "sql/hold_ledger--$version.sql", 'from that script');

SKIP:
{
	skip 'pg_bsd_indent is not installed', 1
	  if system('command -v pg_bsd_indent >/dev/null');
	is(system('make -s format-check >&2'), 0, 'the C code is formatted');
}

done_testing();
