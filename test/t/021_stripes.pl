# A crowd on a pool of several counter rows, nearly full, while an operator
# changes how many there are: never more than there is,
# every hold ends once, nobody deadlocks.  The same on an adaptive pool, which
# splits by itself under the crowd and merges when it has gone.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;

my $node = start_ledger('stripes');
my $seconds = 6;
$node->append_conf('postgresql.conf', 'deadlock_timeout = 10ms');
$node->reload;

sub crowd
{
	my ($name, $clients, $level, %scripts) = @_;
	local $ENV{PGOPTIONS} = '-c default_transaction_isolation=' . $level =~ s/ /\\ /r;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	$node->pgbench(
		"--no-vacuum --client=$clients --jobs=2 --time=$seconds --max-tries=0",
		0, [ qr{failed transactions: 0}, qr{actually processed: [1-9]} ], [qr{^$}],
		"$name, $level", { map { (($name . $level . $_) =~ s/ /_/gr, $scripts{$_}) } keys %scripts });
	is_sound($node, "$name, $level");
}

sub script
{
	my ($pool) = @_;
	return (
		'try@8' => qq(
\\set token random(1, 60)
\\set qty random(1, 3)
\\set ms random(1, 400)
SELECT outcome FROM hold_try('t' || :token, '$pool', :qty, :ms * interval '1 ms');
),
		'lines@2' => qq(
\\set token random(1, 60)
SELECT outcome FROM hold_try_lines('t' || :token, hold_lines('{$pool,other}'), '100 ms', true);
),
		'batch@1' => qq(
\\set token random(1, 55)
SELECT outcome FROM hold_try_batch(ARRAY(
	SELECT ROW('t' || n, '$pool', 1, '100 ms', NULL, NULL)::hold_request FROM generate_series(:token, :token + 5) n));
),
		'renew@2' => q(
\set token random(1, 60)
SELECT outcome FROM hold_renew('t' || :token, '200 ms');
),
		'consume@2' => qq(
\\set token random(1, 60)
\\set qty random(1, 3)
SELECT outcome FROM hold_consume('t' || :token, '$pool', :qty);
),
		'capture@1' => qq(
\\set token random(1, 60)
\\set ref random(1, 3)
SELECT outcome FROM hold_consume('t' || :token, '$pool', 0.5, false, 'r' || :ref);
),
		'late@2' => qq(
\\set token random(1, 60)
SELECT outcome FROM hold_consume('t' || :token, '$pool', late => true);
),
		'release@2' => q(
\set token random(1, 60)
SELECT outcome FROM hold_release('t' || :token);
),
		'return@5' => q(
\set token random(1, 60)
SELECT outcome FROM hold_return('t' || :token);
),
		'budget@1' => qq(
\\set token random(1, 60)
SELECT outcome FROM hold_try('t' || :token, '$pool', 1, '100 ms', budget => 25);
),
		'sweep@1' => q(SELECT hold_sweep(5);),);
}

# An operator beside the crowd.
my %operator = (
	'stripes@1' => q(
\set stripes random(0, 8)
SELECT hold_pool_set('hot', 20, stripes => :stripes);
),
	'shut@1' => q(SELECT hold_pool_close('hot');),
	'open@2' => q(SELECT hold_pool_open('hot');),);

$node->safe_psql('postgres', q(
	SELECT hold_pool_set('hot', 20, stripes => 4);
	SELECT hold_pool_set('other', 12, stripes => 3);
	SELECT hold_pool_set('auto', 1000, stripes => 0);
));
crowd('fixed', 16, 'read committed', script('hot'));
crowd('fixed', 8, 'repeatable read', script('hot'));
crowd('fixed', 8, 'serializable', script('hot'));
crowd('changing', 16, 'read committed', script('hot'), %operator);
is($node->safe_psql('postgres', q(SELECT max(rows) > 4 FROM hold_pools WHERE pool = 'hot')),
	't', 'the number of rows has changed');

# Everything can be had, and no more, by a crowd that asks for single units.
$node->safe_psql('postgres', q(
	SELECT hold_pool_set('seats', 300, stripes => 16);
	CREATE SEQUENCE tokens;
));
$node->pgbench(
	'--no-vacuum --client=20 --jobs=2 --transactions=20',
	0, [qr{actually processed: 400/400}], [qr{^$}], '20 clients want 400 of 300',
	{ seats => q(SELECT outcome FROM hold_try('s' || nextval('tokens'), 'seats', 1, '1 hour');) });
is_deeply(
	[ rows($node, q(SELECT held, available, holds FROM hold_pool_status WHERE pool = 'seats')) ],
	[ [ 300, 0, 300 ] ], 'they got 300');

# The adaptive pool: claims that wait for a session with an open transaction
# split it.
my $homes = q(SELECT homes FROM hold_pools WHERE pool = 'auto' AND stripe = 0);
is($node->safe_psql('postgres', $homes), '1', 'an adaptive pool begins with one row');
$node->pgbench(
	'--no-vacuum --client=12 --jobs=2 --time=4', 0, [qr{actually processed}], [qr{^$}],
	'a crowd on the adaptive pool',
	{ auto => q(
BEGIN;
SELECT outcome FROM hold_try('a' || nextval('tokens'), 'auto', 1, '1 s');
SELECT pg_sleep(0.005);
COMMIT;
) });
is($node->safe_psql('postgres', $homes), '16', 'and splits under a crowd');
is_sound($node, 'after the crowd');
crowd('adaptive', 12, 'read committed', script('auto'));
$node->safe_psql('postgres', q(
	SET hold_ledger.clock_offset = '1 min';
	SELECT * FROM hold_try('quiet', 'auto', 1, '1 hour');
));
is($node->safe_psql('postgres', $homes), '1', 'and merges when it is quiet');

no_deadlock($node);
is_sound($node, 'in the end');

done_testing();
