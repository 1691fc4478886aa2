# The examples of README.md, run from top to bottom in one database: each chapter
# is a session of psql.  An sql block prints what the text block right behind it
# shows, its errors included; one without such a block must not fail.  A block
# under <!-- not run: why --> is only counted.  Then the reference is held
# against the catalogs.

use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $mark = '-- next example --';
my $readme = slurp_file('README.md');
my $node = PostgreSQL::Test::Cluster->new('readme');

# Returns the sql blocks in order: chapter, line, code, shown (if anything) and
# reason (if it is not run).
sub examples
{
	my ($chapter, @examples) = ('');
	my $heading = qr{^\#\#\ (?<heading>.*)$}m;
	my $block = qr{^(?:<!--\ not\ run:\ (?<reason>.*?)\ -->\n)?
		```sql\n(?<code>.*?)^```$
		(?:\n\n```text\n(?<shown>.*?)^```$)?}msx;

	while ($readme =~ m{$heading|$block}g)
	{
		my %found = %+;
		if (defined $found{heading})
		{
			$chapter = $found{heading};
			next;
		}
		$found{chapter} = $chapter;
		$found{line} = 1 + substr($readme, 0, $-[0]) =~ tr/\n//;
		push @examples, \%found;
	}
	return @examples;
}

# Without what no reader sees: blanks at the ends of lines, empty lines around.
sub tidy
{
	my $text = shift;
	$text =~ s/[ \t]+$//mg;
	$text =~ s/\A\n+|\n+\z//g;
	return $text;
}

# Runs the examples of one chapter in one session and checks what each printed.
sub run_chapter
{
	my @examples = @_;
	my $script = join '', "\\pset footer off\n",
	  map { "\\echo $mark\n$_->{code}\n" } @examples;
	IPC::Run::run(
		[ 'psql', '-Xq', '-d', $node->connstr('postgres') ],
		'<', \$script, '>&', \my $output,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	my (undef, @printed) = split /^\Q$mark\E\n/m, $output, -1;

	foreach my $example (@examples)
	{
		my $printed = tidy(shift(@printed) // 'the session is over');
		my $name = "$example->{chapter}, line $example->{line}";
		if (defined $example->{shown})
		{
			is($printed, tidy($example->{shown}), "$name: prints what is shown");
		}
		else
		{
			unlike($printed, qr/^(ERROR|FATAL|PANIC|the session is over)/m,
				"$name: runs");
		}
	}
}

# Checks that the README contains every line that a query returns.
sub documents
{
	my ($what, $query) = @_;
	my @lines = split /\n/, $node->safe_psql('postgres', $query);
	my @missing = grep { index($readme, $_) < 0 } @lines;
	die "there is no $what" if !@lines;
	is(join("\n", @missing), '', "the reference has every $what");
}

$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', 'statement_timeout = 60s');
$node->start;

my @examples = examples();
my @run = grep { !defined $_->{reason} } @examples;
my @left = grep { defined $_->{reason} } @examples;
while (@run)
{
	my $chapter = $run[0]->{chapter};
	run_chapter(grep { $_->{chapter} eq $chapter } @run);
	@run = grep { $_->{chapter} ne $chapter } @run;
}

note("line $_->{line} is not run: $_->{reason}") foreach @left;
cmp_ok(@left, '<=', 3, 'few examples are not run');
is(scalar(() = $readme =~ /^```sql$/mg),
	scalar @examples, 'no example was overlooked');
is(scalar(() = $readme =~ /^```text$/mg),
	scalar(grep { defined $_->{shown} } @examples), 'nor what one shows');

documents('function, with its arguments', q{
	SELECT format('`%s(%s)`', p.proname, regexp_replace(regexp_replace(a.arguments,
		'\mIN |(, )?\mOUT .*', '', 'g'), ' DEFAULT (''[^'']*''|[^,:]+)(::[^,]+)?', ' => \1', 'g'))
	FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid
		JOIN pg_extension e ON e.oid = d.refobjid,
		LATERAL replace(pg_get_function_arguments(p.oid),
			'timestamp with time zone', 'timestamptz') AS a (arguments)
	WHERE d.classid = 'pg_proc'::regclass AND e.extname = 'hold_ledger'
		AND p.prorettype <> 'trigger'::regtype});
my @functions = split /\n/, $node->safe_psql('postgres', q{
	SELECT p.proname
	FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid
		JOIN pg_extension e ON e.oid = d.refobjid
	WHERE d.classid = 'pg_proc'::regclass AND e.extname = 'hold_ledger'});
my %named = map { $_ => 1 } $readme =~ /\b(hold_\w+)\(/g;
delete @named{@functions};
is(join(' ', sort keys %named), '', 'it names no other function');
documents('setting', q{
	LOAD 'hold_ledger';
	SELECT format('| `%s` |', name) FROM pg_settings
	WHERE name LIKE 'hold_ledger.%'});
documents('outcome and event', q{
	SELECT format('| `%s` |', e.enumlabel) FROM pg_enum e
	WHERE e.enumtypid IN ('hold_outcome'::regtype, 'hold_event'::regtype)});
documents('column', q{
	SELECT format('| `%s` |', a.attname)
	FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
	WHERE a.attnum > 0 AND (c.oid IN ('hold_pool_status'::regclass,
		'live_holds'::regclass, 'hold_entries'::regclass, 'room_stays'::regclass)
		OR c.reltype IN ('hold_grant'::regtype, 'hold_stay_grant'::regtype,
			'hold_settlement'::regtype))});

done_testing();
