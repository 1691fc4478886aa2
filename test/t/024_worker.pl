# The background worker: sweeps where it is told to, survives what goes wrong,
# follows the settings, stops at once, and never runs on a standby.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = PostgreSQL::Test::Cluster->new('worker');
my $workers = q(SELECT pid, datname, state FROM pg_stat_activity
	WHERE backend_type = 'hold_ledger sweep');

# Makes holds that have expired.
sub make_expired
{
	my ($where, $name, $count, $database) = @_;
	$where->safe_psql($database // 'postgres', qq(
		SET hold_ledger.clock_offset = '-1 h';
		SELECT hold_pool_set('$name ' || p, $count) FROM generate_series(1, 5) p;
		SELECT hold_try('$name ' || i, '$name ' || i % 5 + 1, 1, '1 min')
		FROM generate_series(1, $count) i;
	));
}

sub expired
{
	my ($where, $name, $database) = @_;
	return $where->safe_psql($database // 'postgres',
		"SELECT sum(expired) FROM hold_pool_status WHERE pool LIKE '$name %'");
}

sub swept
{
	my ($where, $name, $database) = @_;
	return $where->poll_query_until($database // 'postgres',
		"SELECT sum(expired) = 0 FROM hold_pool_status WHERE pool LIKE '$name %'");
}

# Appends a setting and has it read.
sub set_to
{
	my ($where, $setting) = @_;
	$where->append_conf('postgresql.conf', $setting);
	$where->reload;
}

$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q(
shared_preload_libraries = 'hold_ledger'
statement_timeout = 60s
default_transaction_isolation = 'repeatable read'
));
$node->start;
is($node->safe_psql('postgres', $workers), '', 'no worker without a database to sweep');

#
# It sweeps, as soon as there is an extension
#

$node->append_conf('postgresql.conf', q(
hold_ledger.sweep_database = 'postgres'
hold_ledger.sweep_interval = '200ms'
));
$node->restart;
$node->poll_query_until('postgres', qq(SELECT count(*) = 1 FROM ($workers) w WHERE state = 'idle'));
my ($pid, $database) = split /\|/, $node->safe_psql('postgres', $workers);
is($database, 'postgres', 'it shows itself in pg_stat_activity');
sleep(1);
is(scalar(() = slurp_file($node->logfile) =~ /extension "hold_ledger" is not installed/g), 1,
	'it says once that the extension is missing');

$node->safe_psql('postgres', q(
	CREATE SCHEMA "Odd one";
	CREATE EXTENSION hold_ledger SCHEMA "Odd one" CASCADE;
	ALTER DATABASE postgres SET search_path = "Odd one", public;
	CREATE FUNCTION public.hold_sweep(integer) RETURNS bigint LANGUAGE plpgsql
	AS $$ BEGIN RAISE EXCEPTION 'wrong function'; END $$;
));
make_expired($node, 'first', 20);
ok(swept($node, 'first'), 'then what has expired is swept');
unlike(slurp_file($node->logfile), qr/ERROR:  wrong function/, 'by the function of the extension alone');
is($node->safe_psql('postgres', q(SELECT DISTINCT actor = current_user FROM hold_entries
	WHERE event = 'expired')), 't', 'the ledger tells by whom');

# many, in several transactions
set_to($node, "hold_ledger.sweep_interval = '1h'");
make_expired($node, 'many', 2500);
set_to($node, "hold_ledger.sweep_interval = '200ms'");
ok(swept($node, 'many'), 'a backlog is swept');
is($node->safe_psql('postgres', q(
	SELECT max(n) <= 1000, count(*) >= 3 FROM (
		SELECT count(*) AS n FROM hold_ledger l WHERE event = 'expired' AND token LIKE 'many %'
		GROUP BY l.xmin) batch
)), 't|t', 'in batches with a commit after each');
is_sound($node, 'swept');

#
# It survives
#

$node->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES');
$node->wait_for_log(qr/cannot change table "hold_pools" because it publishes/);
$node->safe_psql('postgres', 'DROP PUBLICATION everything');
make_expired($node, 'error', 5);
ok(swept($node, 'error'), 'after an error it goes on');

$node->safe_psql('postgres', q(
	DROP FUNCTION public.hold_sweep;
	DROP EXTENSION hold_ledger;
	CREATE EXTENSION hold_ledger SCHEMA public;
	ALTER DATABASE postgres RESET search_path;
));
make_expired($node, 'again', 5);
ok(swept($node, 'again'), 'the extension may be dropped and made again');
is((split /\|/, $node->safe_psql('postgres', $workers))[0], $pid, 'all of that by one process');

#
# It follows the settings
#

set_to($node, "hold_ledger.sweep_interval = '1h'");
sleep(1);
make_expired($node, 'later', 5);
sleep(1);
is(expired($node, 'later'), '5', 'it rests as long as the setting says');
set_to($node, "hold_ledger.sweep_interval = '200ms'");
ok(swept($node, 'later'), 'which it reads anew');

$node->safe_psql('postgres', 'CREATE DATABASE shop');
$node->safe_psql('shop', 'CREATE EXTENSION hold_ledger CASCADE');
make_expired($node, 'shop', 5, 'shop');
set_to($node, "hold_ledger.sweep_database = 'shop'");
ok(swept($node, 'shop', 'shop'), 'it moves to another database');
set_to($node, "hold_ledger.sweep_database = ''");
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM ($workers) w"),
	'and ends when there is none');

#
# It stops at once, also in the middle of something
#

set_to($node, "hold_ledger.sweep_database = 'postgres'");
$node->restart;
my $session = start_psql($node, q(
	BEGIN;
	LOCK hold_pools;
	SELECT pg_sleep(50);
));
ok($node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity
	WHERE backend_type = 'hold_ledger sweep' AND wait_event_type = 'Lock'
		AND state = 'active' AND query = 'hold_sweep')), 'it waits for a lock on the table');
my $before = time;
$node->stop('fast');
cmp_ok(time - $before, '<', 20, 'a shutdown does not wait for it');
eval { finish_psql($session) };
$node->start;

#
# A standby has none till it is promoted
#

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
set_to($node, "hold_ledger.sweep_interval = '1h'");
sleep(1);
make_expired($node, 'standby', 5);
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is($standby->safe_psql('postgres', $workers), '', 'no worker on a standby');
is(expired($standby, 'standby'), '5', 'which shows what the primary has not swept');

$node->stop('immediate');
$standby->promote;
ok(swept($standby, 'standby'), 'promoted, it sweeps');
is_sound($standby, 'promoted');

done_testing();
