# The server falls in the middle of a crowd, several times.  Whatever a session
# had been told is there afterwards, what it had not asked for is not, and the
# ledger is sound.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;
use Time::HiRes qw(usleep);

my $node = start_ledger('crash');
my $workers = 6;

$node->safe_psql('postgres', q(
	SELECT hold_pool_set('p' || n, 1000000) FROM generate_series(1, 3) n;
));

# What a worker asks: for each token a claim, of one pool or of two, and then
# that it be consumed, released or left alone.  Each answer is on a line.
sub requests
{
	my ($worker) = @_;
	my %ends = (
		consume => 'hold_consume(%s)',
		capture => q{hold_consume(%s, 'p1', 0.5, false, 'one')},
		release => 'hold_release(%s)');
	my @requests;

	foreach (1 .. 1500)
	{
		my $token = "$worker.$_";
		my $end = (keys %ends, '')[ rand 4 ];
		my $claim = rand() < 0.5 ? q{hold_try(%s, 'p1', 1, '1 hour')}
		  : q{hold_try_lines(%s, hold_lines('{p3,p1}'), '1 hour')};
		push @requests, [ $token, 'granted', $claim ];
		push @requests, [ $token, $end, $ends{$end} ] if $end;
	}
	return @requests;
}

sub statement
{
	my ($token, undef, $call) = @{ $_[0] };
	return sprintf "SELECT DISTINCT outcome FROM $call;\n", "'$token'";
}

# The state that hold_get tells after each request.
my %state_after = (
	granted => 'granted', consume => 'consumed', capture => 'granted', release => 'released');

foreach my $fall (1 .. 3)
{
	my (%asked, %sessions, %told, %in_doubt);

	foreach my $worker (map { "fall$fall.$_" } 1 .. $workers)
	{
		$asked{$worker} = [ requests($worker) ];
		$sessions{$worker} = start_psql($node, join '', map { statement($_) } @{ $asked{$worker} });
	}
	usleep(600_000);
	$node->stop('immediate');

	foreach my $worker (keys %sessions)
	{
		my @answers = split /\n/, (finish_psql($sessions{$worker}))[0];
		my @requests = @{ $asked{$worker} };
		$told{ $_->[0] } = $state_after{ $_->[1] } foreach splice @requests, 0, scalar @answers;
		$in_doubt{ $requests[0][0] } = $state_after{ $requests[0][1] } if @requests;
	}
	$node->start;

	# a token is what its session was told last, or what it asked for last
	my %found = map { ($_->[0], $_->[1]) } rows($node, qq(
		SELECT token, min(state) FROM (SELECT DISTINCT token FROM hold_entries
			WHERE token ~ '^fall$fall') AS seen, hold_get(token)
		GROUP BY token));
	my @wrong = grep {
		my ($told, $found) = ($told{$_} // 'nothing', $found{$_} // 'nothing');
		$told ne $found && ($in_doubt{$_} // '') ne $found
	} keys %{ { %told, %found } };

	note "fall $fall: " . keys(%told) . ' tokens were answered';
	cmp_ok(scalar keys %told, '>', 100, "fall $fall: it was in the middle of a crowd");
	is(few(map { "$_ is " . ($found{$_} // 'nothing') . ', not ' . ($told{$_} // 'nothing') }
			@wrong), '', "fall $fall: nothing was lost or made up");
	is($node->safe_psql('postgres', 'SELECT * FROM hold_verify()'),
		'', "fall $fall: the ledger is sound");
}
is_sound($node, 'in the end');

done_testing();
