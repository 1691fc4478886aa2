# Stays under a crowd: 16 clients hold, move, confirm, give up and insert stays of
# one to five nights in four rooms.  No function ever meets the exclusion
# constraint or a deadlock (deadlock_timeout is 10 ms, so that every cycle is
# found), no night is ever somebody else's as well, and the ledger tells whose
# each was.  Then all of it is dumped, restored in three ways, and goes on.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_ledger('stays');
$node->append_conf('postgresql.conf', 'deadlock_timeout = 10ms');
$node->reload;
$node->safe_psql('postgres', q(
	SELECT hold_pool_set('breakfast', 1000000);
	-- one to five nights of twenty
	CREATE FUNCTION some_nights() RETURNS daterange LANGUAGE sql VOLATILE AS $$
		SELECT daterange(first, first + 1 + (random() * 5)::int % 5)
		FROM (SELECT '2031-05-01'::date + (random() * 20)::int) AS stay (first)
	$$;
	CREATE FUNCTION some_rooms() RETURNS bigint[] LANGUAGE sql VOLATILE AS $$
		SELECT ARRAY(SELECT n FROM generate_series(1, 4) n
			ORDER BY random() LIMIT 1 + (random() * 3)::int)
	$$;
	CREATE FUNCTION some_room() RETURNS bigint LANGUAGE sql VOLATILE AS $$
		SELECT 1 + (random() * 4)::int % 4
	$$;
	-- one of the ten names of this half second, or of the one before
	CREATE FUNCTION some_token() RETURNS text LANGUAGE sql VOLATILE AS $$
		SELECT format('%s.%s', floor(extract(epoch FROM clock_timestamp()) * 2 - random()),
			(random() * 10)::int)
	$$;
	CREATE FUNCTION some_stay() RETURNS bigint LANGUAGE sql VOLATILE AS $$
		SELECT COALESCE((SELECT stay_id FROM room_stays WHERE expires_at IS NULL
			ORDER BY random() LIMIT 1), 0)
	$$;
));

# What the ledger says about the nights of a room, replayed by its numbers.
# Answers what is wrong, and who has which night in the end.
sub replay_room
{
	my ($owners, @entries) = @_;
	my (%night, @wrong);

	foreach (@entries)
	{
		my ($room, $seq, $event, $token, $first, $departure, $held, $consumed) = @$_;
		# given up after it had left: no night comes free here
		next if $event eq 'opened' || $first eq '';
		my @nights = ($first .. $departure - 1);
		my $complain = sub { push @wrong, "room $room, entry $seq, $event of $token: @_" };
		my $mine = "held by $token";
		my $confirmed = "confirmed for $token";
		my $is = sub { my $state = shift; return grep { ($night{$_} // 'free') ne $state } @nights };

		if ($event eq 'changed')
		{
			delete @night{ grep { $night{$_} eq $mine } keys %night };
		}
		if ($event eq 'granted' || $event eq 'changed')
		{
			$complain->('not free') if $is->('free');
			@night{@nights} = ($mine) x @nights;
		}
		elsif ($event eq 'consumed')
		{
			# held before, or inserted, or moved in
			$complain->('not free') if $is->($mine) && $is->('free');
			@night{@nights} = ($confirmed) x @nights;
		}
		elsif ($event eq 'released' || $event eq 'expired')
		{
			$complain->('not held') if $is->($mine);
			delete @night{@nights};
		}
		elsif ($event eq 'returned')
		{
			$complain->('not confirmed') if $is->($confirmed);
			delete @night{@nights};
		}
		elsif ($event eq 'renewed')
		{
			$complain->('not held') if $is->($mine);
		}
		my $now_held = grep { /^held/ } values %night;
		my $now_confirmed = grep { /^confirmed/ } values %night;
		$complain->("balances $held $consumed, not $now_held $now_confirmed")
		  if $held != $now_held || $consumed != $now_confirmed;
	}
	$owners->{"$entries[0][0] $_"} = $night{$_} foreach keys %night;
	return @wrong;
}

# Asserts that no night was ever given twice, and that stays, counters and ledger
# say the same.
sub stays_are_sound
{
	my ($when, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my (%rooms, %owners, @wrong);

	is($node->safe_psql($database, 'SELECT * FROM hold_verify()'), '',
		"$when: hold_verify finds nothing");
	is($node->safe_psql($database, q(
		SELECT a.*, b.* FROM room_stays a JOIN room_stays b ON a.stay_id < b.stay_id
		WHERE a.tenant = b.tenant AND a.room_id = b.room_id
			AND lower(a.stay) < upper(b.stay) AND lower(b.stay) < upper(a.stay))),
		'', "$when: no two stays share a night");

	push @{ $rooms{ $_->[0] } }, $_ foreach rows($node, q(
		SELECT room_id, seq, event, COALESCE(token, '-'), lower(stay) - '2031-01-01',
			upper(stay) - '2031-01-01', held, consumed
		FROM hold_entries WHERE pool IS NULL ORDER BY room_id, seq), $database);
	push @wrong, replay_room(\%owners, @$_) foreach values %rooms;
	my %stays = map { ("$_->[0] $_->[1]", $_->[2]) } rows($node, q(
		SELECT room_id, night, CASE WHEN expires_at IS NULL THEN 'confirmed for '
			ELSE 'held by ' END || COALESCE(token, '-')
		FROM room_stays,
			generate_series(lower(stay) - '2031-01-01', upper(stay) - '2031-01-02') night
		WHERE tenant = hold_tenant()), $database);
	push @wrong, map { "$_: " . ($stays{$_} // 'free') . ', in the ledger ' . ($owners{$_} // 'free') }
	  grep { ($stays{$_} // '') ne ($owners{$_} // '') } sort keys %{ { %stays, %owners } };
	is(join("\n", @wrong[ 0 .. ($#wrong < 9 ? $#wrong : 9) ]),
		'', "$when: the ledger replays to the stays, night by night");
	return;
}

#
# The crowd
#

$node->pgbench(
	'--no-vacuum --client=16 --jobs=2 --time=8', 0,
	[qr{actually processed: [1-9]}], [qr{^$}], 'stays in few rooms',
	{
		'try@10' => q(SELECT outcome FROM hold_try_stays(some_token(), some_rooms(), some_nights(), '300 ms');),
		'try_one@6' => q(SELECT outcome FROM hold_try_stay(some_token(), some_room(), some_nights(), '300 ms');),
		# pools before rooms
		'breakfast@4' => q(
DO $$
DECLARE
	token CONSTANT text := some_token();
BEGIN
	PERFORM hold_try(token, 'breakfast', 1, '300 ms');
	PERFORM hold_try_stays(token, some_rooms(), some_nights(), '300 ms');
END $$;
),
		'rollback@2' => q(
BEGIN;
SELECT outcome FROM hold_try_stays(some_token(), some_rooms(), some_nights(), '300 ms');
ROLLBACK;
),
		'renew@2' => q(SELECT outcome FROM hold_renew(some_token(), '300 ms');),
		'consume@6' => q(SELECT outcome FROM hold_consume(some_token(), reservation_id => 1);),
		'late@2' => q(SELECT outcome FROM hold_consume(some_token(), ref => 'late', late => true);),
		'release@2' => q(SELECT outcome FROM hold_release(some_token());),
		'release_nights@6' => q(SELECT hold_release_stay(some_token(), some_room(), some_nights());),
		'return@3' => q(SELECT outcome FROM hold_return(some_token());),
		'move@6' => q(SELECT outcome FROM hold_move_stay(some_stay(), some_room(), some_nights());),
		'move_room@3' => q(SELECT outcome FROM hold_move_stay(some_stay(), some_room());),
		'cancel@8' => q(SELECT hold_cancel_stay(some_stay());),
		# the only one that may see the constraint
		'insert@3' => q(
DO $$ BEGIN
	INSERT INTO room_stays (room_id, reservation_id, stay)
	VALUES (some_room(), 2, some_nights());
EXCEPTION WHEN exclusion_violation THEN
END $$;
),
		'insert_or_not@3' => q(
INSERT INTO room_stays (room_id, ref, stay) VALUES (some_room(), 'r', some_nights())
ON CONFLICT DO NOTHING;
),
		'sweep@1' => q(SELECT hold_sweep(20);),
	});
no_deadlock($node);
is($node->safe_psql('postgres', q(
	SELECT event FROM unnest(ARRAY['granted', 'renewed', 'changed', 'consumed', 'released',
		'expired', 'returned']::hold_event[]) event
	WHERE (SELECT count(*) FROM hold_entries e WHERE e.event = event.event AND e.pool IS NULL) < 20)),
	'', 'all of it has happened many times');
stays_are_sound('after the crowd', 'postgres');

#
# Dump and restore
#

# live holds, in two pieces too, confirmed stays of every kind, another tenant,
# and what has expired and was not swept
$node->safe_psql('postgres', q{
	SELECT hold_sweep(100000);
	SELECT hold_try('ann', 'breakfast', 2, '6 hours');
	SELECT hold_try_stays('ann', '{11,12}', '[2031-07-01,2031-07-08)', '6 hours', '{"cart": 1}');
	SELECT hold_release_stay('ann', 11, '[2031-07-03,2031-07-05)');
	SELECT hold_try_stay('bob', 13, '[2031-07-01,2031-07-03)');
	SELECT hold_consume('bob', reservation_id => 77);
	INSERT INTO room_stays (room_id, ref, stay) VALUES (13, 'R-1', '[2031-07-03,2031-07-05)');
	SELECT hold_try_stay('cid', 13, '[2031-07-10,2031-07-12)', '1 ms');
	SET hold_ledger.tenant = 'another';
	SELECT hold_try_stay('dan', 13, '[2031-07-01,2031-07-12)', '6 hours');
});

my $all = q(
	SELECT 'stay', to_jsonb(s) FROM room_stays s
	UNION ALL SELECT 'pool', to_jsonb(p) FROM hold_pools p
	UNION ALL SELECT 'hold', to_jsonb(h) FROM holds h
	UNION ALL SELECT 'entry', to_jsonb(l) FROM hold_ledger l
	ORDER BY 1, 2);
my $before = $node->safe_psql('postgres', $all);
my $base = $node->basedir;

# Restores a dump and goes on where it was made.
sub goes_on
{
	my ($how, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is($node->safe_psql($database, $all) eq $before ? 'same' : 'differs', 'same', "$how: nothing is lost");
	stays_are_sound($how, $database);
	is($node->safe_psql($database, q{
		SELECT outcome, taken FROM hold_try_stay('eve', 11, '[2031-07-01,2031-07-08)');
		SELECT outcome FROM hold_try_stay('eve', 11, '[2031-07-03,2031-07-05)');
		SELECT outcome, version FROM hold_renew('ann', '7 hours') ORDER BY 2;
		SELECT outcome, qty FROM hold_consume('ann', ref => 'R-2') ORDER BY 2;
		SELECT outcome, reservation_id FROM hold_consume('bob', reservation_id => 78);
		SELECT outcome FROM hold_try_stay('bob', 13, '[2031-08-01,2031-08-02)');
		INSERT INTO room_stays (room_id, ref, stay) VALUES (13, 'R-3', '[2031-07-11,2031-07-12)');
		INSERT INTO room_stays (room_id, ref, stay) VALUES (13, 'R-4', '[2031-07-04,2031-07-05)')
			ON CONFLICT DO NOTHING;
		SELECT outcome FROM hold_move_stay((SELECT stay_id FROM room_stays WHERE ref = 'R-1'), 14);
		SELECT hold_cancel_stay((SELECT stay_id FROM room_stays WHERE ref = 'R-1'));
		SELECT refunded FROM hold_return('bob');
		SELECT state FROM hold_get('cid');
		SET hold_ledger.tenant = 'another';
		SELECT outcome, consumed FROM hold_consume('dan', reservation_id => 5)}),
		join("\n", 'stay_taken|{2031-07-01,2031-07-02,2031-07-05,2031-07-06,2031-07-07}',
			'granted', 'renewed|2', 'renewed|2', 'renewed|2',
			'consumed|2', 'consumed|5', 'consumed|7', 'already_consumed|77', 'already_consumed',
			'changed', 't', '2', 'expired', 'consumed|11'),
		"$how: holds, refusals, retries and stays go on");
	stays_are_sound("$how, going on", $database);
	return;
}

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(plain custom data_only);

$node->command_ok([ 'pg_dump', '-f', "$base/plain.sql", '-d', $node->connstr('postgres') ], 'plain dump');
$node->command_ok(
	[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('plain'), '-f', "$base/plain.sql" ],
	'plain dump is restored');
goes_on('plain', 'plain');

$node->command_ok([ 'pg_dump', '-Fc', '-f', "$base/custom", '-d', $node->connstr('postgres') ],
	'custom dump');
$node->command_ok(
	[ 'pg_restore', '--exit-on-error', '--jobs=4', '-d', $node->connstr('custom'), "$base/custom" ],
	'custom dump is restored, in parallel');
goes_on('custom', 'custom');

$node->command_ok(
	[ 'pg_dump', '-Fc', '--data-only', '-f', "$base/data", '-d', $node->connstr('postgres') ],
	'dump of the data alone');
$node->safe_psql('data_only', 'CREATE EXTENSION hold_ledger CASCADE');
$node->command_ok(
	[ 'pg_restore', '--exit-on-error', '-d', $node->connstr('data_only'), "$base/data" ],
	'data is restored into a fresh extension');
goes_on('data only', 'data_only');

$node->stop;
done_testing();
