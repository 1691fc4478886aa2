# A request of a thousand lines waits in the middle for a lock, and is cancelled,
# times out, or its session is ended.  It stops at once, and leaves nothing: no
# hold, no entry, no pool that was made for it, no lock.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;
use Time::HiRes qw(time);

my $node = start_ledger('cancel');

$node->safe_psql('postgres', q(
	SELECT hold_pool_set('p' || n, 5) FROM generate_series(1, 1000) n;
	SELECT hold_try_lines('old', hold_lines(ARRAY(SELECT 'p' || n FROM generate_series(1, 1000) n)),
		'1 hour');
	CREATE TABLE before AS SELECT pool, available, held FROM hold_pool_status;
));
my $entries = $node->safe_psql('postgres', 'SELECT count(*) FROM hold_entries');

# Somebody has the pool in the middle, and a pool that is being made.
my $rival = $node->background_psql('postgres');
$rival->query_safe(q(BEGIN; SELECT hold_try('rival', 'p500');
	SELECT hold_try('rival', 'new500', 1, budget => 5);));

my $lines = q(hold_lines(ARRAY(SELECT 'p' || n FROM generate_series(1, 1000) n)));
my $new_lines = q(ARRAY(SELECT hold_line('new' || n, 1, 5) FROM generate_series(1, 1000) n));
my %calls = (
	'hold_try_lines' => "hold_try_lines('waiter', $lines)",
	'hold_try_lines for new pools' => "hold_try_lines('waiter', $new_lines)",
	'hold_try_lines with replace' =>
	  "hold_try_lines('old', ARRAY[hold_line('p1', 2)], replace => true)",
	'hold_try_batch' => q(hold_try_batch(ARRAY(SELECT
		row('waiter', 'p' || n, 1, NULL, NULL, NULL)::hold_request FROM generate_series(490, 500) n))),
	'hold_consume' => q(hold_consume('old')),
	'hold_consume_batch' => q(hold_consume_batch('{nobody,old}')),
	'hold_release' => q(hold_release('old')),
	'hold_renew' => q(hold_renew('old')),);

# Is nothing left?  Others can lock what the call had locked by then.
sub nothing_left
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is($node->safe_psql('postgres', 'SELECT count(*) FROM hold_entries'), $entries,
		"$name: no entry");
	is($node->safe_psql('postgres', q(
		(TABLE before EXCEPT SELECT pool, available, held FROM hold_pool_status)
		UNION ALL (SELECT pool, available, held FROM hold_pool_status EXCEPT TABLE before))),
		'', "$name: no pool, no unit");
	is($node->safe_psql('postgres', q(
		SET lock_timeout = '1s';
		BEGIN;
		SELECT count(*) FROM hold_try_lines('next', hold_lines(ARRAY(
			SELECT 'p' || n FROM generate_series(1, 1000) n WHERE n <> 500)));
		SELECT outcome FROM hold_try('next', 'new1', 1, budget => 5);
		ROLLBACK;)), "999\ngranted", "$name: no lock");
}

foreach my $name (sort keys %calls)
{
	foreach my $how (qw(cancel terminate))
	{
		my $session = start_psql($node, "\\set VERBOSITY verbose\n"
			  . "SET application_name = 'waiter';\nSELECT * FROM $calls{$name};\n");
		$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity
			WHERE application_name = 'waiter' AND wait_event_type = 'Lock'))
		  or die "$name does not wait";

		my $since = time;
		$node->safe_psql('postgres', qq(SELECT pg_${how}_backend(pid) FROM pg_stat_activity
			WHERE application_name = 'waiter'));
		my $error = (finish_psql($session))[1];
		cmp_ok(time - $since, '<', 5, "$name, $how: it stops at once");
		like($error, $how eq 'cancel' ? qr/ERROR:  57014/ : qr/FATAL:  57P01/,
			"$name, $how: it says why");
		unlike($error, qr/DETAIL/, "$name, $how: and nothing of ours");
		nothing_left("$name, $how");
	}
}

# a timeout in the middle of the work, with nobody to wait for
$rival->query_safe('ROLLBACK');
$rival->quit;
foreach my $ms (50, 200)
{
	my $since = time;
	my (undef, undef, $error) = $node->psql('postgres', qq(
		SET hold_ledger.max_lines = 100000;
		SET statement_timeout = '${ms}ms';
		SELECT * FROM hold_try_lines('waiter', ARRAY(
			SELECT hold_line('new' || n, 1, 5) FROM generate_series(1, 50000) n));));
	like($error, qr/canceling statement due to statement timeout/, "$ms ms are not enough");
	cmp_ok(time - $since, '<', 5, "$ms ms: it stops at once");
	nothing_left("$ms ms");
}

# and then it works
is($node->safe_psql('postgres', qq(SELECT count(*) FROM $calls{hold_consume}
	WHERE outcome = 'consumed')), '1000', 'the next call gets what it wants');
is_sound($node, 'afterwards');

done_testing();
