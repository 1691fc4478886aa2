# What the tests that need a server share: a server with the extension, and a
# replay of its ledger that knows nothing of the extension's own hold_verify().

package Ledger;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(start_ledger rows few start_psql finish_psql is_sound no_deadlock);

# Starts a server with the extension.  No statement may wait for ever.
sub start_ledger
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(%options);
	$node->append_conf(
		'postgresql.conf', q(
statement_timeout = 60s
log_statement = none
max_prepared_transactions = 10
));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION hold_ledger CASCADE');
	return $node;
}

# Returns what a query answers, as a list of lists.
sub rows
{
	my ($node, $query, $database) = @_;
	return map { [ split /\|/, $_, -1 ] }
	  split /\n/, $node->safe_psql($database // 'postgres', $query);
}

# The first lines of a list, for a message.
sub few
{
	return join "\n", @_ > 10 ? (@_[ 0 .. 9 ], '...') : @_;
}

# Starts a session that runs the statements, each in a transaction of its own.
my $sessions = 0;

sub start_psql
{
	my ($node, $statements) = @_;
	my $base = $node->basedir . '/session' . ++$sessions;

	append_to_file("$base.sql", $statements);
	return {
		base => $base,
		run => IPC::Run::start(
			[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'),
				'-f', "$base.sql" ],
			'>', "$base.out", '2>', "$base.err", IPC::Run::timeout(60)),
	};
}

# Waits for its end and returns what it printed, and what it complained about.
sub finish_psql
{
	my $session = shift;
	$session->{run}->finish;
	return map { slurp_file("$session->{base}.$_") } qw(out err);
}

# How an event moves what the token holds and what the pool has consumed, from
# what the token held before: (held after, consumed more).
my %moves = (
	granted => sub { $_[0] == 0 ? ($_[1], 0) : () },
	renewed => sub { $_[0] == $_[1] ? ($_[1], 0) : () },
	changed => sub { $_[0] > 0 && $_[0] != $_[1] ? ($_[1], 0) : () },
	consumed => sub { $_[0] >= $_[1] ? ($_[0] - $_[1], $_[1]) : () },
	released => sub { $_[0] >= $_[1] ? ($_[0] - $_[1], 0) : () },
	expired => sub { $_[0] == $_[1] ? (0, 0) : () },
	returned => sub { ($_[0], -$_[1]) },);

# Is it the wrong time for this?  A hold expires when its time is over, and is
# settled before, unless it was granted late in order to be consumed.
sub untimely
{
	my ($token, $event, $at, $expires_at) = @_;
	my $over = $at ge $expires_at;

	$token->{late} = $over if $event eq 'granted';
	return !$over if $event eq 'expired';
	return $over && !$token->{late} if $event eq 'consumed' || $event eq 'released';
	return 0;
}

# Replays the entries of one pool in order and returns what is wrong: a number
# that is missing, a time that runs backwards, a hold that ends twice or at the
# wrong time, a balance that does not follow, more than the capacity.  Fills in
# what is left held.
sub replay_pool
{
	my ($left, @entries) = @_;
	my ($last_seq, $last_at, $held, $consumed) = (0, '', 0, 0);
	my (%tokens, @wrong);

	foreach (@entries)
	{
		my ($pool, $seq, $at, $event, $name, $qty, $expires_at, @balances) = @$_;
		my $capacity = pop @balances;
		my $complain = sub { push @wrong, "$pool, entry $seq: @_" };
		$complain->("comes after $last_seq") if $seq != $last_seq + 1;
		$complain->('time runs backwards') if $at lt $last_at;
		($last_seq, $last_at) = ($seq, $at);
		if ($name ne '')
		{
			my $token = $tokens{$name} //= { held => 0 };
			my ($after, $more) = $moves{$event}->($token->{held}, $qty);
			$complain->("$event $qty of $name, which held $token->{held}")
			  if !defined $after;
			$complain->("$event at $at for $expires_at")
			  if untimely($token, $event, $at, $expires_at);
			$held += ($after // 0) - $token->{held};
			$consumed += $more // 0;
			$token->{held} = $after // 0;
		}
		$complain->("balances @balances, not $held $consumed")
		  if $balances[0] != $held || $balances[1] != $consumed;
		$complain->("$held + $consumed of $capacity")
		  if $capacity ne '' && $held + $consumed > $capacity;
		$complain->('less than nothing') if $held < 0 || $consumed < 0;
	}
	$left->{"$entries[0][0] $_"} = $tokens{$_}{held}
	  foreach grep { $tokens{$_}{held} } keys %tokens;
	return @wrong;
}

# Replays the whole ledger and compares what is left with the holds.
sub replay
{
	my ($node, $database) = @_;
	my (%pools, %left, @wrong);

	push @{ $pools{ $_->[0] } }, $_ foreach rows($node, q(
		SELECT pool || '/' || stripe, seq, to_char(at, 'YYYY-MM-DD HH24:MI:SS.US'),
			event, token, qty, to_char(expires_at, 'YYYY-MM-DD HH24:MI:SS.US'),
			held, consumed, capacity
		FROM hold_entries WHERE pool IS NOT NULL ORDER BY pool, stripe, seq), $database);
	push @wrong, replay_pool(\%left, @$_) foreach values %pools;

	my %holds = map { ("$_->[0] $_->[1]", $_->[2]) } rows($node, q(
		SELECT pool || '/' || stripe, token, hold_units(qty)
		FROM holds JOIN hold_pools USING (pool_id)), $database);
	push @wrong, map { "$_ holds " . ($holds{$_} // 0) . ', not ' . ($left{$_} // 0) }
	  grep { ($holds{$_} // 0) != ($left{$_} // 0) } keys %{ { %left, %holds } };
	return @wrong;
}

# Asserts that the ledger, the counters and the holds say the same, and that no
# capacity was ever passed.
sub is_sound
{
	my ($node, $when, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is($node->safe_psql($database // 'postgres', 'SELECT * FROM hold_verify()'),
		'', "$when: hold_verify finds nothing");
	is(few(replay($node, $database)), '', "$when: the ledger replays to what is held");
}

# Asserts that nobody deadlocked; if somebody did, shows what the log says.
sub no_deadlock
{
	my ($node) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @said = slurp_file($node->logfile) =~ /(deadlock detected\n(?:.*\n){0,9})/g;

	is(few(@said), '', 'nobody deadlocked');
}

1;
