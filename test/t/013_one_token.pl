# Twenty sessions call with one token, or with one ref, at the same time, again
# and again: there is one claim, one payment, one capture and one delivery, and
# all the others are told so.  Then they do all there is to two tokens.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;

my $node = start_ledger('token');
my $clients = 20;
my $rounds = 20;

$node->safe_psql('postgres', q(
	CREATE TABLE answer (round int, outcome hold_outcome, consumed numeric);
	SELECT hold_pool_set('p', 1000);
	SELECT hold_pool_set('q', 1000);
));

# Each client makes the call once a round, and notes what it is told.
sub race
{
	my ($name, $call) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	$node->safe_psql('postgres', 'TRUNCATE answer');
	$node->pgbench(
		"--no-vacuum --client=$clients --jobs=2 --transactions=$rounds --define=round=0",
		0, [qr{actually processed: (\d+)/\1}], [qr{^$}], $name,
		{ $name =~ tr/ /_/r => "\\set round :round + 1\n$call" });
	return rows($node, q(
		SELECT outcome, count(*), count(DISTINCT round) FROM answer
		GROUP BY outcome ORDER BY outcome));
}

my $others = ($clients - 1) * $rounds;

is_deeply(
	[ race('first call', q(
		INSERT INTO answer SELECT :round, outcome FROM hold_try('t' || :round, 'p', 2, '1 hour');
	)) ],
	[ [ 'granted', $rounds, $rounds ], [ 'renewed', $others, $rounds ] ],
	'one claim a token, renewed by the others');
is($node->safe_psql('postgres', q(SELECT hold_count('p'), hold_available('p'))),
	$rounds . '|' . (1000 - 2 * $rounds), 'that is what is held');

is_deeply(
	[ race('capture', q(
		INSERT INTO answer
		SELECT :round, outcome, consumed FROM hold_consume('t' || :round, 'p', 0.5, false, 'one');
	)) ],
	[ [ 'already_consumed', $others, $rounds ], [ 'consumed', $rounds, $rounds ] ],
	'one capture a ref');
is_deeply(
	[ rows($node, 'SELECT DISTINCT consumed FROM answer') ], [ ['0.5'] ],
	'whose figures everybody is told');

is_deeply(
	[ race('payment', q(
		INSERT INTO answer SELECT :round, outcome, consumed FROM hold_consume('t' || :round);
	)) ],
	[ [ 'already_consumed', $others, $rounds ], [ 'consumed', $rounds, $rounds ] ],
	'one payment a token');
is_deeply(
	[ rows($node, 'SELECT DISTINCT consumed FROM answer') ], [ ['1.5'] ],
	'whose figures everybody is told');

is_deeply(
	[ race('refund', q(
		INSERT INTO answer SELECT :round, outcome, refunded FROM hold_return('t' || :round);
	)) ],
	[ [ 'returned', $clients * $rounds, $rounds ] ],
	'every refund is told that it was made');
is($node->safe_psql('postgres', 'SELECT sum(consumed) FROM answer'),
	2 * $rounds, 'once a token');

race('delivery', q(SELECT hold_pool_add('p', 10, 'delivery ' || :round);));
is($node->safe_psql('postgres', q(SELECT hold_available('p'))),
	1000 + 10 * $rounds, 'one delivery a ref');
is_sound($node, 'races');

# All there is, to two tokens in two pools.
$node->pgbench(
	"--no-vacuum --client=$clients --jobs=2 --time=3 --max-tries=10", 0,
	[ qr{failed transactions: 0}, qr{actually processed: [1-9]} ], [qr{^$}], 'two tokens',
	{
		'token_try@4' => q(
\set token random(1, 2)
\set qty random(1, 3)
\set ms random(1, 100)
SELECT outcome FROM hold_try('hot' || :token, 'p', :qty, :ms * interval '1 ms');
),
		'token_lines@4' => q(
\set token random(1, 2)
\set ms random(1, 100)
SELECT outcome FROM hold_try_lines('hot' || :token, ARRAY[hold_line('q'), hold_line('p')],
	:ms * interval '1 ms');
),
		'token_replace@1' => q(
\set token random(1, 2)
SELECT outcome FROM hold_try_lines('hot' || :token, ARRAY[hold_line('q')], '50 ms', true);
),
		'token_renew@2' => q(
\set token random(1, 2)
SELECT outcome FROM hold_renew('hot' || :token, '50 ms');
),
		'token_consume@2' => q(
\set token random(1, 2)
SELECT outcome FROM hold_consume('hot' || :token);
),
		'token_release@2' => q(
\set token random(1, 2)
SELECT outcome FROM hold_release('hot' || :token);
),
		'token_return@4' => q(
\set token random(1, 2)
SELECT outcome FROM hold_return('hot' || :token);
),
		'token_sweep@1' => q(SELECT hold_sweep(100);),
	});
is_sound($node, 'two tokens');
is($node->safe_psql('postgres', q(
	SELECT string_agg(DISTINCT event::text, ' ' ORDER BY event::text)
	FROM hold_entries WHERE token ~ '^hot')),
	'changed consumed expired granted released renewed returned',
	'all of it has happened');

done_testing();
