# Holds in prepared transactions.  They are neither there nor gone: whoever needs
# the pool waits, also after a crash, and then finds what was committed or
# nothing of what was rolled back.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;

my $node = start_ledger('prepared');

sub query
{
	return $node->safe_psql('postgres', $_[0]);
}

# What each pool has: available, held, consumed.
sub pools
{
	return { map { (shift @$_, "@$_") }
		  rows($node, 'SELECT pool, available, held, consumed FROM hold_pool_status') };
}

# Asserts that a call waits for the prepared transactions, and only waits.
sub waits
{
	my ($call, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	my ($result, undef, $error) = $node->psql('postgres',
		"SET lock_timeout = '50ms'; SELECT * FROM $call",
		extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
	is($error =~ s/.*ERROR: +(\w+).*/$1/sr, '55P03', $name);
}

query(q(
	SELECT hold_pool_set(p, 5) FROM unnest('{claim,pay,give,add,many}'::text[]) p;
	SELECT hold_try('payer', 'pay', 2, '1 hour'), hold_try('giver', 'give', 2, '1 hour');
));

# One transaction a kind of work, and the same again to be rolled back.
my %work = (
	claim => q(SELECT hold_try('claimer%s', 'claim', 1, '1 hour');),
	pay => q(SELECT hold_consume('payer', 'pay', 1, false, '%s');),
	give => q(SELECT hold_release('giver');),
	add => q(SELECT hold_pool_add('add', 10);),
	external => q(SELECT hold_try('new%s', 'external', 1, '1 hour', budget => 3);),
	many => q(SAVEPOINT here;
		SELECT hold_try('many%s', 'many', 5);
		ROLLBACK TO here;
		SELECT hold_try_lines('many%s', hold_lines('{many}', '{2}'), '1 hour', true);),);

sub prepare
{
	my ($kind, $try) = @_;
	my $work = $work{$kind} =~ s/%s/$try/gr;
	query("BEGIN; $work PREPARE TRANSACTION '$kind$try'");
}

my %before = (
	claim => '5 0 0', pay => '3 2 0', give => '3 2 0', add => '5 0 0', many => '5 0 0');
my %after = (
	claim => '4 1 0', pay => '3 1 1', give => '5 0 0', add => '15 0 0', many => '3 2 0',
	external => ' 1 0');

# rolled back, before and after a crash
prepare($_, 1) foreach sort keys %work;
is_deeply(pools(), \%before, 'what is prepared is not there');
waits(q(hold_try('other', 'claim')), 'a claim waits');
waits(q(hold_consume('payer')), 'a payment waits');
waits(q(hold_pool_set('add', 1)), 'an operator waits');
waits(q(hold_try('other', 'external', 1, budget => 3)), 'the maker of a pool waits');
is(query(q(SET hold_ledger.clock_offset = '2h'; SELECT hold_sweep())), '0',
	'a sweep does not wait');
query("ROLLBACK PREPARED '${_}1'") foreach qw(claim external many);
$node->stop('immediate');
$node->start;
waits(q(hold_consume('payer')), 'a payment waits after a crash');
query("ROLLBACK PREPARED '${_}1'") foreach qw(pay give add);
is_deeply(pools(), \%before, 'nothing is left of what was rolled back');
is_sound($node, 'rolled back');

# committed, before and after a crash
prepare($_, 2) foreach sort keys %work;
query("COMMIT PREPARED '${_}2'") foreach qw(claim external many);
$node->stop('immediate');
$node->start;
waits(q(hold_release('giver')), 'a release waits after a crash');
is(query(q(SELECT count(*) FROM pg_prepared_xacts)), 3, 'three are still prepared');
query("COMMIT PREPARED '${_}2'") foreach qw(pay give add);
is_deeply(pools(), \%after, 'all is there that was committed');
is_sound($node, 'committed');

# and the retries know it
is(query(q(SELECT outcome, consumed FROM hold_consume('payer', 'pay', 1, false, '2'))),
	'already_consumed|1', 'a capture that was prepared is remembered');
is(query(q(SELECT outcome FROM hold_release('giver'))), 'already_released', 'so is a release');
is(query(q(SELECT outcome FROM hold_try('claimer2', 'claim', 1))), 'renewed', 'and a claim');
is(query(q(SELECT outcome FROM hold_try('claimer1', 'claim', 1))), 'granted',
	'what was rolled back is not');
is_sound($node, 'retried');

done_testing();
