# While a snapshot is open, nothing of a hot pool's row can be cleared away; a
# call finds the newest version all the same, without passing the others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;

my $node = start_ledger('hints');

# How many pages the second of two calls in a new session looks at, so that
# what a session reads but once does not count.  The first call looks for
# another pool, unless it is this very one.
sub pages
{
	my ($first) = @_;
	my $plan = $node->safe_psql('postgres', qq(
		SELECT FROM hold_try('before', '$first');
		EXPLAIN (ANALYZE, BUFFERS, FORMAT YAML) SELECT FROM hold_try('after', 'hot');
	));
	my ($hit) = $plan =~ /Shared Hit Blocks: (\d+)/;
	my ($read) = $plan =~ /Shared Read Blocks: (\d+)/;
	return $hit + $read;
}

sub write_hot
{
	$node->safe_psql('postgres', q(
		DO $$
		BEGIN
			FOR i IN 1 .. 3000 LOOP
				PERFORM FROM hold_try('hot ' || i, 'hot');
				COMMIT;
				PERFORM FROM hold_release('hot ' || i);
				COMMIT;
			END LOOP;
		END $$;
	));
}

sub old_snapshot
{
	my $session = start_psql($node, q(
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT FROM hold_pool_status;
		SELECT pg_sleep(50);
	));
	$node->poll_query_until('postgres', q(
		SELECT count(*) = 1 FROM pg_stat_activity
		WHERE query ~ 'pg_sleep' AND wait_event = 'PgSleep' AND backend_xmin IS NOT NULL));
	return $session;
}

sub close_snapshot
{
	my ($session) = @_;
	$node->safe_psql('postgres', q(
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE query ~ 'pg_sleep' AND wait_event = 'PgSleep'));
	finish_psql($session);
}

$node->safe_psql('postgres', q(
	SELECT hold_pool_set('hot', 100000);
	SELECT hold_pool_set('cold', 100);
));
my $calm = pages('hot');
cmp_ok($calm, '<', 60, 'a call looks at a few pages');
my $session = old_snapshot();
write_hot();
cmp_ok(pages('hot'), '<', $calm + 20, 'and at no more in a session that has met the pool');
cmp_ok(pages('cold'), '>', $calm + 50, 'but passes the old versions in one that has not');
close_snapshot($session);

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'hold_ledger'");
$node->restart;
$session = old_snapshot();
write_hot();
cmp_ok(pages('cold'), '<', $calm + 20, 'unless the library is preloaded');
close_snapshot($session);

# Hints that lead to nothing, or to other rows, are of no harm.
$node->safe_psql('postgres', q(
	VACUUM FULL hold_pools;
	SELECT hold_pool_set('more ' || n, n) FROM generate_series(1, 500) n;
));
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM generate_series(1, 500) n WHERE hold_available('more ' || n) <> n)),
	'0', 'after the table was rewritten');
is($node->safe_psql('postgres', q(
	BEGIN;
	SELECT FROM hold_try('gone', 'hot');
	ROLLBACK;
	VACUUM hold_pools;
	SELECT outcome FROM hold_try('here', 'hot');
)), 'granted', 'after a version was rolled back and cleared away');
is_sound($node, 'in the end');

done_testing();
