# Dump and restore, in every way there is: the same rows, counters, privileges
# and triggers; the memory answers retries, and life goes on.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_ledger('dump');
my $dir = $node->basedir;

# Pools and holds in every state, for two tenants, an application's role, and a
# table of its own that points to the pools.
$node->safe_psql('postgres', q(
	CREATE ROLE regress_app LOGIN;
	CREATE DATABASE source;
));
$node->safe_psql('source', q(
	CREATE EXTENSION hold_ledger CASCADE;
	SELECT hold_grant_access('regress_app', 'app');
	SET hold_ledger.clock_offset = '-1d';
	SELECT hold_pool_set('p', 100), hold_pool_set('q', 50), hold_pool_set('shut', 5),
		hold_pool_set('gone', 5), hold_pool_set('leased', 5, 'infinity');
	SELECT hold_pool_renew('leased', 7, '2100-01-01');
	SELECT hold_class_set('show', 9, '1 hour');
	SELECT hold_try('expired', 'p', 3, '1 hour', payload => '{"a": 1}');
	SELECT hold_try('live', 'p', 2.5, '6 days', payload => '{"b": "\"c\""}');
	SELECT hold_try('paid', 'p', 4), hold_try('given', 'p', 1), hold_try('returned', 'q', 6);
	SELECT hold_consume('paid', qty => 3, ref => 'invoice', reservation_id => 7);
	SELECT hold_release('given');
	SELECT hold_consume('returned');
	SELECT hold_return('returned', 'q', 2, 'credit');
	SELECT hold_try('part', 'q', 5, '6 days');
	SELECT hold_consume('part', 'q', 1, false, 'first');
	SELECT hold_try_lines('both', hold_lines('{p,q}'), '6 days');
	SELECT hold_try('seat', 'show:1', 2, '6 days');
	SELECT hold_try('outside', 'elsewhere', 1, '6 days', budget => 2);
	SELECT hold_try_stay('guest', 1, daterange('2031-05-01', '2031-05-04'), '6 days');
	SELECT hold_try_stay('booked', 2, daterange('2031-05-01', '2031-05-04'), '6 days');
	SELECT hold_consume('booked', reservation_id => 8);
	INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 9, daterange('2031-05-01', '2031-05-04'));
	SELECT hold_pool_add('p', 10, 'delivery'), hold_pool_close('shut'), hold_pool_drop('gone');
	SET hold_ledger.tenant = 'other';
	SELECT hold_pool_set('p', 2);
	SELECT hold_try('live', 'p', 1, '6 days');
	RESET hold_ledger.tenant;
	CREATE TABLE slot (pool_id bigint REFERENCES hold_pools);
	INSERT INTO slot SELECT pool_id FROM hold_pool_status;
));

# What the extension's tables and sequences hold, and what is around them.
my $contents = q(
	SELECT c.oid::regclass, query_to_xml(format(
		CASE c.relkind WHEN 'S' THEN 'SELECT last_value, is_called FROM %s'
		ELSE 'SELECT md5(string_agg(t::text, E''\n'' ORDER BY t::text)), count(*) FROM %s t' END,
		c.oid::regclass), true, true, '')
	FROM pg_extension, unnest(extconfig) AS config (id) JOIN pg_class c ON c.oid = config.id
	WHERE extname = 'hold_ledger' ORDER BY 1);
my $surroundings = q(
	SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger
	WHERE NOT tgisinternal ORDER BY 1, 2);
my $privileges = q(
	SELECT p.oid::regprocedure, ARRAY(SELECT unnest(proacl)::text ORDER BY 1)
	FROM pg_proc p WHERE proname ~ '^hold_' ORDER BY 1::text);
my $app = q(SET ROLE regress_app; SELECT outcome FROM hold_try('by app', 'q', 1););

my %expected = map { ($_, $node->safe_psql('source', $_)) }
  ($contents, $surroundings, $privileges, 'TABLE slot');

# Restores into a new database and makes sure that nothing is missing.
sub restored
{
	my ($name, $fresh, @commands) = @_;
	my $database = $name =~ tr/ -/__/r;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, $fresh) if $fresh;
	$node->command_ok([ @$_, '-d', $node->connstr($database) ], $name) foreach @commands;

	is($node->safe_psql($database, $contents), $expected{$contents}, "$name: the rows");
	is($node->safe_psql($database, $surroundings), $expected{$surroundings}, "$name: the triggers");
	is($node->safe_psql($database, 'TABLE slot'), $expected{'TABLE slot'}, "$name: foreign keys");
	is($node->safe_psql($database, 'SELECT * FROM hold_verify()'), '', "$name: hold_verify");
	if (!$fresh)
	{
		is($node->safe_psql($database, $privileges), $expected{$privileges}, "$name: privileges");
		is($node->safe_psql($database, $app), 'granted', "$name: the role can work");
	}
	goes_on($name, $database);
}

# [ call, what it answers ]; a new pool gets a new id, and a dropped one keeps its
my $newest = $node->safe_psql('source', 'SELECT max(pool_id) FROM hold_pools');
my $gone = $node->safe_psql('source', q(SELECT pool_id FROM hold_pools WHERE pool = 'gone'));
my @life = (
	[ q(outcome, consumed, refunded FROM hold_consume('live')), 'consumed|2.5|0' ],
	[ q(outcome, consumed, refunded, reservation_id FROM hold_consume('paid')),
		'already_consumed|3|1|7' ],
	[ q(outcome FROM hold_try('paid', 'p', 4)), 'already_consumed' ],
	[ q(outcome FROM hold_release('given')), 'already_released' ],
	[ q(outcome, qty FROM hold_consume('expired')), 'expired|3' ],
	[ q(outcome, consumed, held FROM hold_consume('part', 'q', 1, false, 'first')),
		'already_consumed|1|4' ],
	[ q(outcome, consumed, held FROM hold_consume('part', 'q', 1, false, 'second')),
		'consumed|1|3' ],
	[ q(outcome, refunded FROM hold_return('returned', 'q', 2, 'credit')), 'returned|2' ],
	[ q(outcome, refunded FROM hold_return('returned')), 'returned|4' ],
	[ q(outcome FROM hold_renew('both')), "renewed\nrenewed" ],
	[ q(hold_pool_add('p', 10, 'delivery')), '110' ],
	[ q(hold_sweep()), '1' ],
	[ q(outcome FROM hold_try('new', 'p')), 'granted' ],
	[ q(outcome FROM hold_try('new', 'shut')), 'closed' ],
	[ q(outcome, available FROM hold_try('new', 'show:1', 3)), 'granted|4' ],
	[ q(outcome, available FROM hold_try('new', 'show:2', 3)), 'granted|6' ],
	[ q(outcome FROM hold_try('new', 'elsewhere', 2, budget => 2)), 'insufficient' ],
	[ q(outcome, taken FROM hold_try_stay('new', 2, daterange('2031-05-03', '2031-05-05'))),
		'stay_taken|{2031-05-03}' ],
	[ q(outcome FROM hold_try_stay('new', 3, daterange('2031-05-04', '2031-05-05'))), 'granted' ],
	[ q(outcome, stay, reservation_id FROM hold_consume('guest', reservation_id => 10)),
		'consumed|[2031-05-01,2031-05-04)|10' ],
	[ q(outcome FROM hold_consume('booked', reservation_id => 8)), 'already_consumed' ],
	[ q(hold_cancel_stay(stay_id) FROM room_stays WHERE reservation_id = 9), 't' ],
	[ q(hold_pool_renew('leased', 7, '2100-01-01')), '2' ],
	[ "hold_pool_set('later', 1) > $newest", 't' ],
	[ q(hold_pool_set('gone', 1)), $gone ],
);

sub goes_on
{
	my ($name, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is($node->safe_psql($database, "SELECT $_->[0]"), $_->[1], "$name: $_->[0]") foreach @life;
	is($node->safe_psql($database, 'SELECT * FROM hold_verify()'), '', "$name: and is well");
}

my $source = $node->connstr('source');
$node->command_ok([ 'pg_dump', '-f', "$dir/plain.sql", $source ], 'pg_dump');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/custom", $source ], 'pg_dump -Fc');
$node->command_ok([ 'pg_dump', '--data-only', '-f', "$dir/data.sql", $source ],
	'pg_dump --data-only');

my @psql = qw(psql -Xqo /dev/null -v ON_ERROR_STOP=1 -f);
restored('plain', undef, [ @psql, "$dir/plain.sql" ]);
restored('custom', undef, [ 'pg_restore', '--exit-on-error', "$dir/custom" ]);

# pg_dump does not know that a foreign key to an extension's table needs the data
# of that table, so several jobs have to be told
restored('four jobs', undef, map {
	[ 'pg_restore', '--exit-on-error', '-j4', "--section=$_", "$dir/custom" ]
} qw(pre-data data post-data));
restored('single transaction', undef, [ 'pg_restore', '--single-transaction', "$dir/custom" ]);
restored('data only', q(
	CREATE EXTENSION hold_ledger CASCADE;
	CREATE TABLE slot (pool_id bigint REFERENCES hold_pools);
), [ @psql, "$dir/data.sql" ]);

done_testing();
