# hold_stats of a server that preloads the library: all sessions of a database
# together, as many as the ledger has.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_ledger('stats', allows_streaming => 1);
is($node->safe_psql('postgres', 'SELECT scope FROM hold_stats()'), 'session',
	'not preloaded, each session counts its own');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'hold_ledger'");
$node->restart;
is($node->safe_psql('postgres', 'SELECT scope, abs(extract(epoch FROM
	since - pg_postmaster_start_time())) < 30 FROM hold_stats()'),
	'server|t', 'preloaded, all sessions share their counts since the server started');
is($node->safe_psql('postgres', q(SELECT granted + renewed + changed + refused + consumed
	+ released + expired + returned + evicted FROM hold_stats())), '0', 'which begin at 0');

my @events = qw(granted renewed changed consumed released expired returned);
my $counted = 'SELECT ' . join(', ', @events) . ' FROM hold_stats()';
my $written = 'SELECT ' . join(', ', map { "count(*) FILTER (WHERE event = '$_')" } @events)
  . ' FROM hold_ledger';

sub same_as_ledger
{
	my ($where, $name, $database) = @_;
	$database //= 'postgres';
	is($where->safe_psql($database, $counted), $where->safe_psql($database, $written), $name);
}

# A crowd that grants, refuses, settles and rolls back.
$node->safe_psql('postgres', q(
	SELECT hold_pool_set('p', 400), hold_pool_set('q', 60), hold_pool_set('spread', 300, stripes => 8);
));
$node->pgbench('--no-vacuum --client=10 --jobs=2 --transactions=40', 0,
	[qr{actually processed: 400/400}], [qr{^$}], 'a crowd', {
	'025_crowd' => q(
		\set n random(1, 60)
		SELECT FROM hold_try('a' || :n, 'p', 1 + :n % 2);
		SELECT FROM hold_try_lines('b' || :client_id || '-' || :n, hold_lines('{p,q,spread}'));
		BEGIN;
		SAVEPOINT s;
		SELECT FROM hold_try('c' || :client_id || '-' || :n, 'spread');
		ROLLBACK TO s;
		COMMIT;
		SELECT FROM hold_consume('a' || :n);
		BEGIN;
		SELECT FROM hold_try('d' || :n, 'q', ttl => '50 ms');
		ROLLBACK;
		SELECT FROM hold_try('e' || :n, 'q', ttl => '50 ms');
		SELECT FROM hold_return('a' || :n);
		SELECT FROM hold_release('b' || :client_id || '-' || :n);
		SELECT hold_sweep(10);
	) });
$node->safe_psql('postgres',
	q(SELECT hold_try('greedy ' || n, 'p', 500) FROM generate_series(1, 11) n));
same_as_ledger($node, 'what a crowd did is counted as the ledger has it');
is($node->safe_psql('postgres', q(SELECT granted > 100, consumed > 10, expired >= evicted,
		refused > 10, refused = already_consumed + closed + pool_expired + insufficient
			+ stay_taken + blocked
	FROM hold_stats())), 't|t|t|t|t', 'refusals are told by outcome');
is_sound($node, 'counted');

# The counts of another database are its own.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q(
	CREATE EXTENSION hold_ledger CASCADE;
	SELECT hold_pool_set('p', 5);
	SELECT hold_try('ann', 'p', 6);
	SELECT hold_try('ann', 'p', 5);
));
is($node->safe_psql('other', 'SELECT granted, refused FROM hold_stats()'), '1|1',
	'another database has counts of its own');
same_as_ledger($node, 'and has not touched those of the first');

# A transaction that is killed has not happened.
my $session = start_psql($node, q(
	BEGIN;
	SELECT FROM hold_try('killed', 'p');
	SELECT pg_sleep(50);
));
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity
	WHERE query ~ 'pg_sleep' AND wait_event = 'PgSleep'));
$node->safe_psql('postgres', q(SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE query ~ 'pg_sleep' AND wait_event = 'PgSleep'));
eval { finish_psql($session) };
same_as_ledger($node, 'what was killed is not counted');

# A standby answers with counts of its own, and tells how old what it sees is.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
is($standby->safe_psql('postgres', 'SELECT scope, granted FROM hold_stats()'), 'server|0',
	'a standby has counted nothing');
$node->safe_psql('other', q(
	SET hold_ledger.clock_offset = '-1 h';
	SELECT hold_pool_set('lag', 5);
	SELECT hold_try('lag', 'lag', 1, '30 min');
));
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is($standby->safe_psql('other', q(SELECT sweep_lag BETWEEN '29 min' AND '35 min' FROM hold_stats())),
	't', 'but knows how far the sweep lags behind');

# After a crash it begins anew, and says so.
my $since = $node->safe_psql('postgres', 'SELECT since FROM hold_stats()');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', "SELECT since > '$since', granted FROM hold_stats()"), 't|0',
	'counts begin anew with the server');

# More databases than there is room for: the last ones count for themselves.
$node->safe_psql('postgres', 'CREATE DATABASE model_of_many');
$node->safe_psql('model_of_many', 'CREATE EXTENSION hold_ledger CASCADE');
$node->safe_psql('postgres', "CREATE DATABASE many_$_ TEMPLATE model_of_many") foreach 1 .. 33;
my %scopes;
$scopes{ $node->safe_psql("many_$_", 'SELECT scope FROM hold_stats()') }++ foreach 1 .. 33;
is(join(' ', map { "$_ $scopes{$_}" } sort keys %scopes), 'server 31 session 2',
	'databases that find no place count session by session');

done_testing();
