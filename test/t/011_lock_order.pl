# Calls that touch many pools and rooms, in random orders and by all the verbs
# that lock several, never deadlock: neither on pools that are there nor on those
# that a budget or a class brings into being.  deadlock_timeout is 10 ms, so that
# every cycle is found.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;

my $node = start_ledger('lock_order');
$node->append_conf('postgresql.conf', 'deadlock_timeout = 10ms');
$node->reload;

# The ids, by which pools are locked, are in another order than the names.
$node->safe_psql('postgres', q(
	SELECT hold_pool_set('p' || n, 1000) FROM generate_series(1, 16) n ORDER BY random();
	SELECT hold_class_set('class', 1000);
	CREATE TABLE slot (pool_id bigint REFERENCES hold_pools);

	-- a booking made by hand, where the room is free
	CREATE FUNCTION book(room bigint, night date) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO room_stays (room_id, reservation_id, stay)
		VALUES (room, 1, daterange(night, night + 1));
	EXCEPTION WHEN exclusion_violation THEN NULL;
	END $$;
));

# Some of the pools in some order, then the same with pools that are not there
# for long: their names come from the minute hand of a fast clock.
my $some = q(ARRAY(SELECT hold_line('p' || n)
	FROM generate_series(1, 16) n ORDER BY random() LIMIT 6));
my $fresh = q(floor(extract(epoch FROM clock_timestamp()) * 20));
my $new = qq(ARRAY(SELECT hold_line('new' || $fresh || '.' || n, 1, 1000)
	FROM generate_series(1, 6) n ORDER BY random() LIMIT 4));
my $of_class = qq(ARRAY(SELECT hold_line('class:' || $fresh || '.' || n)
	FROM generate_series(1, 6) n ORDER BY random() LIMIT 4));
my $batch = q(ARRAY(SELECT row('t' || n, 'p' || n, 1, '50 ms', NULL, NULL)::hold_request
	FROM generate_series(1, 16) n ORDER BY random() LIMIT 6));
my $new_batch = qq(ARRAY(SELECT row('t' || n, 'new' || $fresh || '.' || n, 1, '50 ms', 1000, NULL)::hold_request
	FROM generate_series(1, 6) n ORDER BY random() LIMIT 4));
my $tokens = q(ARRAY(SELECT 't' || n FROM generate_series(1, 30) n ORDER BY random() LIMIT 4));
my $rooms = q(ARRAY(SELECT n FROM generate_series(1, 8) n ORDER BY random() LIMIT 3));
my $stay = q(daterange('2031-05-01'::date + :night, '2031-05-03'::date + :night));
my $confirmed = q(SELECT stay_id FROM room_stays WHERE reservation_id IS NOT NULL
	ORDER BY random() LIMIT 1);

$node->pgbench(
	'--no-vacuum --client=16 --jobs=2 --time=8 --max-tries=10', 0,
	[ qr{failed transactions: 0}, qr{actually processed: [1-9]} ], [qr{^$}],
	'many pools in random orders',
	{
		'try@6' => qq(
\\set token random(1, 30)
SELECT outcome FROM hold_try_lines('t' || :token, $some, '50 ms');
),
		'replace@3' => qq(
\\set token random(1, 30)
SELECT outcome FROM hold_try_lines('t' || :token, $some, '50 ms', true);
),
		'new@2' => qq(
\\set token random(1, 30)
SELECT outcome FROM hold_try_lines('t' || :token, $new, '50 ms', random() < 0.5);
),
		'class@2' => qq(
\\set token random(1, 30)
SELECT outcome FROM hold_try_lines('t' || :token, $of_class || $some, '50 ms');
),
		'batch@3' => qq(SELECT outcome FROM hold_try_batch($batch);),
		'new_batch@2' => qq(SELECT outcome FROM hold_try_batch($new_batch || $batch);),
		'consume_batch@2' => qq(
SELECT outcome FROM hold_consume_batch($tokens, refs => '{a,b,c,d}');
),
		'renew@2' => q(
\set token random(1, 30)
SELECT outcome FROM hold_renew('t' || :token, '50 ms');
),
		'release@2' => q(
\set token random(1, 30)
SELECT outcome FROM hold_release('t' || :token);
),
		'consume@2' => q(
\set token random(1, 30)
SELECT outcome FROM hold_consume('t' || :token, reservation_id => 1);
),
		'late@1' => q(
\set token random(1, 30)
SELECT outcome FROM hold_consume('t' || :token, late => true, reservation_id => 1);
),
		'stays@3' => qq(
\\set token random(1, 30)
\\set night random(1, 5)
SELECT outcome FROM hold_try_stays('t' || :token, $rooms, $stay, '200 ms');
),
		'leave@1' => qq(
\\set token random(1, 30)
\\set night random(1, 5)
\\set room random(1, 8)
SELECT hold_release_stay('t' || :token, :room, $stay);
),
		'move@1' => qq(
\\set night random(1, 5)
SELECT outcome FROM ($confirmed) AS any_stay, hold_move_stay(stay_id, :night, $stay);
),
		'cancel@1' => qq(SELECT hold_cancel_stay(stay_id) FROM ($confirmed) AS any_stay;),
		'book@1' => q(
\set room random(1, 8)
\set night random(1, 9)
SELECT book(:room, '2031-05-01'::date + :night);
),
		'return@3' => q(
\set token random(1, 30)
SELECT outcome FROM hold_return('t' || :token);
),
		'sweep@1' => q(SELECT hold_sweep(50);),
		# a foreign key, and then the same pool
		'point@1' => q(
\set token random(1, 30)
\set pool random(1, 16)
BEGIN;
INSERT INTO slot SELECT pool_id FROM hold_pool_status WHERE pool = 'p' || :pool;
SELECT outcome FROM hold_try('t' || :token, 'p' || :pool, 1, '50 ms');
COMMIT;
),
	});
no_deadlock($node);
cmp_ok($node->safe_psql('postgres',
	q(SELECT count(*) FROM hold_pool_status WHERE pool ~ '^(new|class:)')),
	'>', 20, 'many pools were made on the way');
is($node->safe_psql('postgres', q(
	SELECT pool FROM hold_pool_status WHERE pool ~ '^(new|class:)'
	EXCEPT SELECT pool FROM hold_entries WHERE event = 'granted')),
	'', 'and none by a request that was refused');
is($node->safe_psql('postgres', q(
	SELECT string_agg(DISTINCT event::text, ' ' ORDER BY event::text)
	FROM hold_entries WHERE room_id IS NOT NULL AND token IS NOT NULL)),
	'changed consumed expired granted released renewed returned',
	'rooms were used in every way');
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM room_stays a JOIN room_stays b
		ON a.room_id = b.room_id AND a.stay && b.stay AND a.stay_id < b.stay_id)),
	'0', 'and no two stays overlap');
is_sound($node, 'afterwards');

done_testing();
