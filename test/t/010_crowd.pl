# A crowd on one pool and on many, at every isolation level, while holds expire
# and sweepers tidy: never more than the capacity at any entry of the ledger,
# every hold ends once, and no call fails but for 40001 where that is allowed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;

my $node = start_ledger('crowd');
my $seconds = 5;

# So many clients run the scripts, each as often as its weight says.
my $crowds = 0;

sub crowd
{
	my ($name, $clients, $level, %scripts) = @_;
	local $ENV{PGOPTIONS} = '-c default_transaction_isolation=' . $level =~ s/ /\\ /r;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	$crowds++;
	$node->pgbench(
		"--no-vacuum --client=$clients --jobs=2 --time=$seconds --max-tries=0",
		0, [ qr{failed transactions: 0}, qr{actually processed: [1-9]} ], [qr{^$}],
		"$name, $level", { map { ("${crowds}_$_", $scripts{$_}) } keys %scripts });
	is_sound($node, "$name, $level");
}

# 20 clients x 10 attempts want 200 of 100.
$node->safe_psql('postgres', q(
	CREATE SEQUENCE tokens;
	SELECT hold_pool_set('seats', 100);
));
$node->pgbench(
	'--no-vacuum --client=20 --jobs=2 --transactions=10',
	0, [qr{actually processed: 200/200}], [qr{^$}], '20 clients want 200 of 100',
	{ seats => q(SELECT outcome FROM hold_try('t' || nextval('tokens'), 'seats', 1, '1 hour');) });
is_deeply(
	[ rows($node, q(SELECT held, available, holds FROM hold_pool_status)) ],
	[ [ 100, 0, 100 ] ], 'they got 100');
is($node->safe_psql('postgres', q(SELECT sum((outcome = 'consumed')::int)
	FROM live_holds, hold_consume(token))), '100', 'and can consume them');
is_sound($node, 'seats');

# One pool: everybody meets at its row.
my %one_pool = (
	'try@8' => q(
\set token random(1, 40)
\set qty random(1, 3)
\set ms random(1, 400)
SELECT outcome FROM hold_try('t' || :token, 'hot', :qty, :ms * interval '1 ms');
),
	'renew@2' => q(
\set token random(1, 40)
\set ms random(1, 400)
SELECT outcome FROM hold_renew('t' || :token, :ms * interval '1 ms');
),
	'consume@2' => q(
\set token random(1, 40)
\set qty random(1, 3)
SELECT outcome FROM hold_consume('t' || :token, 'hot', :qty);
),
	'capture@1' => q(
\set token random(1, 40)
\set ref random(1, 3)
SELECT outcome FROM hold_consume('t' || :token, 'hot', 0.5, false, 'r' || :ref);
),
	'late@1' => q(
\set token random(1, 40)
SELECT outcome FROM hold_consume('t' || :token, 'hot', late => true);
),
	'release@2' => q(
\set token random(1, 40)
SELECT outcome FROM hold_release('t' || :token, 'hot');
),
	'return@4' => q(
\set token random(1, 40)
SELECT outcome FROM hold_return('t' || :token);
),
	'sweep@1' => q(SELECT hold_sweep(5);),
	'sweep_all@1' => q(CALL hold_sweep_all(3, 4);),);

# Many pools: requests of several lines, and verbs on all of a token.
my $lines = q(
	SELECT array_agg(hold_line('m' || n, 1 + n % 2) ORDER BY random())
	FROM (SELECT n FROM generate_series(1, 12) n ORDER BY random() LIMIT 3) AS chosen
);
my %many_pools = (
	'try@8' => qq(
\\set token random(1, 60)
\\set ms random(1, 400)
SELECT outcome FROM hold_try_lines('t' || :token, ($lines), :ms * interval '1 ms');
),
	'replace@3' => qq(
\\set token random(1, 60)
\\set ms random(1, 400)
SELECT outcome FROM hold_try_lines('t' || :token, ($lines), :ms * interval '1 ms', true);
),
	'renew@2' => q(
\set token random(1, 60)
SELECT outcome FROM hold_renew('t' || :token, '100 ms');
),
	'consume@3' => q(
\set token random(1, 60)
SELECT outcome FROM hold_consume('t' || :token);
),
	'late@1' => q(
\set token random(1, 60)
SELECT outcome FROM hold_consume('t' || :token, late => true);
),
	'release@2' => q(
\set token random(1, 60)
SELECT outcome FROM hold_release('t' || :token);
),
	'return@4' => q(
\set token random(1, 60)
SELECT outcome FROM hold_return('t' || :token);
),
	# a transaction of several calls, half of them rolled back; one pool, so
	# that it keeps to the order of locks
	'back@1' => q(
\set token random(1, 60)
\set pool random(1, 12)
BEGIN;
SELECT outcome FROM hold_try('t' || :token, 'm' || :pool, 1, '100 ms');
SAVEPOINT here;
SELECT outcome FROM hold_consume('t' || :token, 'm' || :pool);
ROLLBACK TO here;
SELECT outcome FROM hold_release('t' || :token, 'm' || :pool);
ROLLBACK;
),
	'sweep@1' => q(SELECT hold_sweep(20);),);

$node->safe_psql('postgres', q(
	SELECT hold_pool_set('hot', 20);
	SELECT hold_pool_set('m' || n, 6) FROM generate_series(1, 12) n;
));
crowd('one pool', 16, 'read committed', %one_pool);
crowd('one pool', 8, 'repeatable read', %one_pool);
crowd('many pools', 16, 'read committed', %many_pools);
crowd('many pools', 8, 'serializable', %many_pools);

# Where nothing was left to expire, everything is free or consumed.
$node->safe_psql('postgres', q(
	SELECT pg_sleep(0.4);
	SELECT hold_sweep(1000);
));
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM hold_pool_status
	WHERE held + expired + holds <> 0 OR available <> capacity - consumed)),
	'0', 'all holds have ended, and their units are free or consumed');
is_sound($node, 'in the end');
is($node->safe_psql('postgres', q(
	SELECT string_agg(DISTINCT event::text, ' ' ORDER BY event::text) FROM hold_entries)),
	'capacity changed consumed expired granted released renewed returned',
	'all of it has happened');

done_testing();
