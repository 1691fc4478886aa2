# A standby answers what the primary answers, expired holds included, and refuses
# all that writes.  Promoted, it goes on where the primary was.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use PostgreSQL::Test::Cluster;
use Test::More;

my $primary = start_ledger('primary', allows_streaming => 1);
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

$primary->safe_psql('postgres', q(
	SET hold_ledger.clock_offset = '-2h';
	SELECT hold_pool_set('p', 100), hold_pool_set('q', 5);
	SELECT hold_class_set('show', 9);
	SELECT hold_try('t' || n, 'p', n, '1 hour') FROM generate_series(1, 5) n;
	SELECT hold_try('live' || n, 'p', 0.5, '1 day') FROM generate_series(1, 5) n;
	SELECT hold_try_lines('both', hold_lines('{p,q}'), '1 day');
	SELECT hold_consume('live1'), hold_consume('live2', 'p', 0.25, false, 'one'),
		hold_release('live3');
	SELECT hold_try_stay('guest', 1, daterange('2031-05-01', '2031-05-04'), '1 day');
));
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my @reads = (
	q(hold_available('p')),
	q(hold_available('show:1')),
	q(* FROM hold_available_many('{p,q,show:1,unknown}')),
	q(hold_count('p')),
	(map { "* FROM hold_get('$_')" } qw(t1 live1 live2 live3 both guest unknown)),
	q(* FROM hold_history('both', '3 days')),
	q(* FROM hold_pool_history('q', '3 days')),
	q(* FROM hold_pool_status ORDER BY pool),
	q(* FROM live_holds ORDER BY token, pool),
	q(* FROM hold_entries ORDER BY pool, seq),
	q(* FROM hold_verify()),);

my $reads = join '', map { "\\echo $_\nSELECT $_;\n" } @reads;
is($standby->safe_psql('postgres', $reads), $primary->safe_psql('postgres', $reads),
	'the standby answers what the primary answers');
is($standby->safe_psql('postgres', q(SELECT held, expired, available FROM hold_pool_status
	WHERE pool = 'p')), '2.25|15|97', 'expired is expired on the standby too');
is($standby->safe_psql('postgres', q(SET default_transaction_isolation = 'repeatable read';
	SELECT hold_available('p'))), '97', 'with one snapshot too');

my @writes = (
	q(hold_try('new', 'p')),
	q(hold_try('new', 'p', 1000)),
	q(hold_try('live1', 'p')),
	q(hold_try_lines('new', hold_lines('{p}'))),
	q(hold_try_stay('new', 2, daterange('2031-05-01', '2031-05-04'))),
	q(hold_renew('both')),
	q(hold_consume('both')),
	q(hold_consume('unknown')),
	q(hold_release('both')),
	q(hold_return('live1')),
	q(hold_pool_set('p', 100)),
	q(hold_pool_add('p', 1)),
	q(hold_pool_close('p')),
	q(hold_pool_open('p')),
	q(hold_pool_drop('p')),
	q(hold_pool_renew('p', 1, '2100-01-01')),
	q(hold_class_set('show', 9)),
	q(hold_sweep()),
	q(hold_trim()),
	q(hold_repair()),);

# Asserts that each of them is refused, line by line.
sub refused
{
	my ($node, $first, $name) = @_;
	my @statements = ($first, (map { "SELECT $_;" } @writes), 'CALL hold_sweep_all();');
	my (undef, undef, $error) = $node->psql('postgres', join("\n", @statements),
		on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
	is($error, join("\n", map { "psql:<stdin>:$_: ERROR:  25006" } 2 .. @statements), $name);
}

refused($standby, '', 'the standby refuses all that writes');
refused($primary, 'SET default_transaction_read_only = on;', 'so does a read-only transaction');
is($primary->safe_psql('postgres', $reads), $standby->safe_psql('postgres', $reads),
	'and nothing has changed');

$primary->stop('immediate');
$standby->promote;
is($standby->safe_psql('postgres', q(
	SELECT outcome, consumed FROM hold_consume('live1');
	SELECT outcome, consumed FROM hold_consume('live2', 'p', 0.25, false, 'one');
	SELECT outcome FROM hold_try('new', 'p');
	SELECT hold_sweep();
)), "already_consumed|0.5\nalready_consumed|0.25\ngranted\n1", 'promoted, it goes on');
is($standby->safe_psql('postgres', q(
	SELECT hold_pool_set('new', 1) > (SELECT max(pool_id) FROM hold_pools))),
	't', 'and numbers go on too');
is_sound($standby, 'promoted');

done_testing();
