# A crowd behind PgBouncer in transaction mode: forty clients share four server
# connections, so that what a session kept would reach the wrong client.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IPC::Run ();
use Ledger;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'pgbouncer is not installed' if !grep { -x "$_/pgbouncer" } split /:/, $ENV{PATH};

my $node = start_ledger('pooled');
$node->append_conf('postgresql.conf', "session_preload_libraries = 'hold_ledger'\n");
$node->restart;

my $folder = PostgreSQL::Test::Utils::tempdir_short();
my $port = PostgreSQL::Test::Cluster::get_free_port();
append_to_file("$folder/pgbouncer.ini", sprintf q(
[databases]
postgres = host=%s port=%d dbname=postgres user=%s
[pgbouncer]
pool_mode = transaction
auth_type = any
listen_addr =
listen_port = %d
unix_socket_dir = %s
default_pool_size = 4
max_client_conn = 100
ignore_startup_parameters = extra_float_digits,options
), $node->host, $node->port, scalar getpwuid($>), $port, $folder);
my $pooler = IPC::Run::start([ 'pgbouncer', "$folder/pgbouncer.ini" ], '<', \undef,
	'>', "$folder/out", '2>', "$folder/err");

END
{
	local $?;
	$pooler->kill_kill if $pooler;
}


my $through = "host=$folder port=$port dbname=postgres";
foreach (1 .. 100)
{
	last if -S "$folder/.s.PGSQL.$port";
	select undef, undef, undef, 0.1;
}

sub pooled
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql, connstr => $through);
}

# So many clients run the scripts through the pooler, with simple statements, as
# those that are prepared need a later PgBouncer.
sub crowd
{
	my ($name, $options, $expected, $scripts) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	$node->pgbench("--no-vacuum --client=40 --jobs=2 --protocol=simple $options",
		0, [ qr{failed transactions: 0}, $expected ], [qr{^$}], $name, $scripts, $through);
}

is(pooled(q(SELECT hold_pool_set('seats', 100) > 0)), 't', 'the pooler answers');
pooled(q(CREATE SEQUENCE tokens));
crowd('40 clients want 200 of 100', '--transactions=5', qr{actually processed: 200/200},
	{ pooled_seats => q(SELECT outcome FROM hold_try('t' || nextval('tokens'), 'seats', 1, '1 hour');) });
is_deeply([ rows($node, q(SELECT held, available, holds FROM hold_pool_status)) ],
	[ [ 100, 0, 100 ] ], 'they got 100');
is(pooled(q(SELECT sum((outcome = 'consumed')::int) FROM live_holds, hold_consume(token))),
	'100', 'and can consume them');
cmp_ok($node->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity
	WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())),
	'<=', 4, 'over no more than four connections');

# Each step of a purchase may be on another connection, and each transaction in another
# tenant.  Every client buys ten times, in two tenants by turns.
$node->safe_psql('postgres', q(
	SET hold_ledger.tenant = 'north'; SELECT hold_pool_set('show', 150);
	SET hold_ledger.tenant = 'south'; SELECT hold_pool_set('show', 250);
	RESET hold_ledger.tenant;
	CREATE TABLE bookings (tenant text, token text);
));
my $purchase = q(
SELECT nextval('tokens') AS token, (ARRAY['north', 'south'])[1 + currval('tokens') % 2] AS tenant \gset
BEGIN;
SET LOCAL hold_ledger.tenant = ':tenant';
SELECT outcome FROM hold_try('p' || :token, 'show', 1, '1 hour');
COMMIT;
BEGIN;
SET LOCAL hold_ledger.tenant = ':tenant';
SELECT outcome FROM hold_renew('p' || :token);
COMMIT;
BEGIN;
SET LOCAL hold_ledger.tenant = ':tenant';
INSERT INTO bookings SELECT ':tenant', 'p' || :token FROM hold_consume('p' || :token) WHERE outcome = 'consumed';
COMMIT;
SELECT hold_count('seats');
);
crowd('purchases in two tenants', '--transactions=10', qr{actually processed: 400/400},
	{ pooled_purchase => $purchase });
is_deeply([ rows($node, q(SELECT tenant, count(*), count(DISTINCT token) FROM bookings
	GROUP BY tenant ORDER BY tenant)) ],
	[ [ 'north', 150, 150 ], [ 'south', 200, 200 ] ],
	'each tenant sold what it has, to those who asked');
is(pooled(q(SELECT string_agg(pool, ' ') FROM hold_pool_status)), 'seats',
	'no tenant is left in a connection');

# The same few tokens from all sides, through the pooler.
pooled(q(SELECT hold_pool_set('few', 20)));
crowd('a crowd', '--time=4', qr{actually processed: [1-9]}, {
	'pooled_try@4' => q(
\set token random(1, 40)
\set ms random(1, 300)
SELECT outcome FROM hold_try('c' || :token, 'few', 1, :ms * interval '1 ms');
),
	'pooled_consume@1' => q(
\set token random(1, 40)
SELECT outcome FROM hold_consume('c' || :token);
),
	'pooled_return@2' => q(
\set token random(1, 40)
SELECT outcome FROM hold_return('c' || :token);
),
	'pooled_release@1' => q(
\set token random(1, 40)
SELECT outcome FROM hold_release('c' || :token);
),
	'pooled_sweep@1' => q(SELECT hold_sweep(5);),
});
is_sound($node, 'behind the pooler');
is($node->safe_psql('postgres', q(SELECT string_agg(DISTINCT event::text, ' ' ORDER BY event::text)
	FROM hold_entries WHERE pool = 'few')),
	'capacity consumed expired granted released renewed returned',
	'all of it has happened');

done_testing();
