# hold_schedule with the real pg_cron: the job runs in the next minute and sweeps,
# over a connection as in a background worker of its own.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($library) = run_command([ 'pg_config', '--pkglibdir' ]);
plan skip_all => 'pg_cron is not installed' if !-e "$library/pg_cron.so";

# Starts a server with pg_cron and an extension in a schema with an odd name.
sub start_with_cron
{
	my ($name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init;
	$node->append_conf('postgresql.conf', join "\n", @settings, sprintf q(
shared_preload_libraries = 'pg_cron'
cron.database_name = 'shop'
cron.host = '%s'
statement_timeout = 60s
), $node->host);
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE shop');
	$node->safe_psql('shop', q(
		CREATE SCHEMA "My shop";
		ALTER DATABASE shop SET search_path = "My shop", public;
		CREATE EXTENSION hold_ledger SCHEMA "My shop" CASCADE;
	));
	return $node;
}

# Makes a hold and lets it expire.
sub make_expired
{
	my ($node) = @_;
	$node->safe_psql('shop', q(
		SET hold_ledger.clock_offset = '-1 h';
		SELECT hold_pool_set('p', 5);
		SELECT hold_try('gone', 'p', 2, '1 min');
		SELECT hold_try('live', 'p', 1, '1 d');
	));
	is($node->safe_psql('shop', 'SELECT held, expired FROM hold_pool_status'), '1|2',
		$node->name . ': a hold has expired and is still there');
}

sub refused
{
	my ($node, $database, $call, $message, $name) = @_;
	my ($code, undef, $error) = $node->psql($database, "SELECT $call");
	like($error, $message, $name);
	isnt($code, 0, "$name: an error");
}

my $node = start_with_cron('connection');
my $other = start_with_cron('worker', 'cron.use_background_workers = on');

refused($node, 'shop', 'hold_schedule()',
	qr/pg_cron is not installed.*CREATE EXTENSION pg_cron/s, 'preloaded alone is not enough');
$_->safe_psql('shop', 'CREATE EXTENSION pg_cron') foreach $node, $other;

$node->safe_psql('postgres', 'CREATE EXTENSION hold_ledger CASCADE');
refused($node, 'postgres', 'hold_schedule()',
	qr/pg_cron is in another database.*"cron.database_name" is "shop"/s, 'in another database');

# what the hint says there does it
my (undef, undef, $error) = $node->psql('postgres', q(SELECT hold_schedule('5 4 * * *')));
my ($instead) = $error =~ /HINT: .*: (SELECT cron.*)/;
$node->safe_psql('shop', $instead);
is($node->safe_psql('shop', 'SELECT schedule, command, database FROM cron.job'),
	'5 4 * * *|CALL public.hold_sweep_all()|postgres', 'the hint makes a job for the other database');
(undef, undef, $error) = $node->psql('postgres', 'SELECT hold_unschedule()');
($instead) = $error =~ /HINT: .*: (SELECT cron.*)/;
$node->safe_psql('shop', $instead);
is($node->safe_psql('shop', 'SELECT count(*) FROM cron.job'), '0', 'and takes it away');

# an operator is enough, and twice is one job, whoever asks
$node->safe_psql('shop', q(
	CREATE ROLE keeper LOGIN;
	SELECT hold_grant_access('keeper', 'operator')));
my $first = $node->safe_psql('shop', q(SET ROLE keeper; SELECT hold_schedule('*/7 * * * *')));
is($node->safe_psql('shop', 'SELECT hold_schedule()'), $first, 'twice is one job');
is($node->safe_psql('shop', 'SELECT schedule, command, database, active FROM cron.job'),
	'* * * * *|CALL "My shop".hold_sweep_all()|shop|t', 'with the later schedule');

# one that was made inactive works again
$node->safe_psql('shop', "SELECT cron.alter_job($first, active => false)");
$node->safe_psql('shop', 'SELECT hold_schedule()');
is($node->safe_psql('shop', 'SELECT count(*), bool_and(active) FROM cron.job'), '1|t',
	'a job that slept is woken');

is($node->safe_psql('shop', 'SET ROLE keeper; SELECT hold_unschedule()'), 't', 'it is taken away');
is($node->safe_psql('shop', 'SELECT hold_unschedule()'), 'f', 'once');
is($node->safe_psql('shop', 'SELECT count(*) FROM cron.job'), '0', 'and is gone');

refused($node, 'shop', q(hold_schedule('every day')),
	qr/pg_cron does not know the schedule "every day"\nHINT/, 'a schedule that is none');

# functions that others put beside pg_cron's are not called
$node->safe_psql('shop', q(
	CREATE FUNCTION cron.schedule(varchar, varchar, varchar) RETURNS bigint
		LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called as %', current_user; END $$;
	CREATE SCHEMA bad;
	CREATE FUNCTION bad.quote_ident(text) RETURNS text
		LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called as %', current_user; END $$;
	CREATE TABLE bad.job (jobid bigint);
));
like($node->safe_psql('shop', q(
	SET search_path = bad, cron, "My shop", pg_catalog;
	SELECT hold_schedule())), qr/^\d+$/, 'a hostile search_path changes nothing');

# seconds, where pg_cron knows them
my $knows_seconds = $node->safe_psql('shop',
	q(SELECT extversion !~ '^1\.[0-4]' FROM pg_extension WHERE extname = 'pg_cron')) eq 't';
if ($knows_seconds)
{
	$other->safe_psql('shop', q(SELECT hold_schedule('1 second')));
	is($other->safe_psql('shop', 'SELECT schedule FROM cron.job'), '1 second',
		'a schedule of seconds');
}
else
{
	refused($other, 'shop', q(hold_schedule('1 second')),
		qr/HINT: .*pg_cron 1.5 or later knows "10 seconds"/, 'a schedule of seconds');
	$other->safe_psql('shop', 'SELECT hold_schedule()');
}

# then a minute has to go by
make_expired($_) foreach $node, $other;
foreach my $each ($node, $other)
{
	my $name = $each->name;
	$each->poll_query_until('shop', q(
		SELECT EXISTS (SELECT FROM cron.job_run_details WHERE status NOT IN ('starting', 'running'))
	)) or die 'the job never ran';
	is($each->safe_psql('shop', 'SELECT DISTINCT status FROM cron.job_run_details'),
		'succeeded', "$name: the job succeeded");
	is($each->safe_psql('shop', 'SELECT held, expired FROM hold_pool_status'), '1|0',
		"$name: what had expired is gone");
	is($each->safe_psql('shop', q(SELECT event FROM hold_history('gone') ORDER BY seq DESC LIMIT 1)),
		'expired', "$name: and the ledger tells so");
	is_sound($each, $name, 'shop');
}

done_testing();
