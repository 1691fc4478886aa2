# The moment of expiry, many times: the owner consumes and another claims around
# the very instant, while a sweeper tidies.  The unit never goes to both, and it
# is never refused to both: whoever comes from that instant on can have it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Ledger;
use Test::More;

my $node = start_ledger('expiry');

$node->safe_psql('postgres', q(
	CREATE TABLE ready (n int PRIMARY KEY);
	CREATE TABLE round (n int PRIMARY KEY, expires_at timestamptz);
	CREATE TABLE owner (n int PRIMARY KEY, consumed bool, ended_at timestamptz);
	CREATE TABLE rival (n int, granted bool, began_at timestamptz, ended_at timestamptz);
	CREATE TABLE done ();
	SELECT hold_pool_set('p' || n, 1) FROM generate_series(1, 1000) n;

	CREATE PROCEDURE wait_until(moment timestamptz) LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_sleep_for(moment - clock_timestamp() - interval '2 ms');
		WHILE clock_timestamp() < moment LOOP END LOOP;
	END $$;

	-- holds for some milliseconds once the rival is ready, and consumes close to
	-- the end: a little later after each success, and earlier after a failure
	CREATE PROCEDURE own(most interval) LANGUAGE plpgsql AS $$
	DECLARE
		began CONSTANT timestamptz := clock_timestamp();
		lead interval := '500 us';
		over timestamptz;
		answer hold_outcome;
	BEGIN
		FOR i IN 1 .. 1000 LOOP
			EXIT WHEN clock_timestamp() > began + most;
			WHILE NOT EXISTS (SELECT FROM ready WHERE n = i) LOOP
				PERFORM pg_sleep(0.0002);
			END LOOP;
			over := (hold_try('owner' || i, 'p' || i, 1, '5 ms')).expires_at;
			INSERT INTO round VALUES (i, over);
			COMMIT;
			CALL wait_until(over - lead);
			answer := (hold_consume('owner' || i)).outcome;
			COMMIT;
			INSERT INTO owner VALUES (i, answer = 'consumed', clock_timestamp());
			lead := lead + (random() * CASE answer WHEN 'consumed' THEN -1 ELSE 1 END) *
				interval '100 us';
			COMMIT;
		END LOOP;
		INSERT INTO done DEFAULT VALUES;
	END $$;

	-- wants the unit of each round, again and again until somebody has it
	CREATE PROCEDURE rival() LANGUAGE plpgsql AS $$
	DECLARE
		over timestamptz;
		began timestamptz;
		answer hold_outcome;
	BEGIN
		FOR i IN 1 .. 1000 LOOP
			INSERT INTO ready VALUES (i);
			COMMIT;
			LOOP
				SELECT expires_at INTO over FROM round WHERE n = i;
				EXIT WHEN FOUND;
				IF EXISTS (SELECT FROM done) THEN
					RETURN;
				END IF;
				PERFORM pg_sleep(0.0002);
			END LOOP;
			CALL wait_until(over - interval '1 ms');
			LOOP
				COMMIT;
				began := clock_timestamp();
				answer := (hold_try('rival' || i, 'p' || i)).outcome;
				COMMIT;
				INSERT INTO rival VALUES (i, answer = 'granted', began, clock_timestamp());
				EXIT WHEN answer = 'granted' OR
					EXISTS (SELECT FROM owner WHERE n = i AND consumed);
			END LOOP;
		END LOOP;
	END $$;

	CREATE PROCEDURE sweeper() LANGUAGE plpgsql AS $$
	BEGIN
		WHILE NOT EXISTS (SELECT FROM done) LOOP
			PERFORM hold_sweep(10), pg_sleep(0.001);
			COMMIT;
		END LOOP;
	END $$;
));

my @sessions = map { start_psql($node, $_) }
  (q(CALL own('5 s')), 'CALL rival()', 'CALL sweeper()');
is((finish_psql($_))[1], '', 'no call failed') foreach @sessions;

my ($rounds, $consumed, $granted, $both, $none) = split /\|/, $node->safe_psql('postgres', q(
	SELECT count(*), count(*) FILTER (WHERE o.consumed), count(*) FILTER (WHERE r.granted),
		count(*) FILTER (WHERE o.consumed AND r.granted),
		count(*) FILTER (WHERE NOT o.consumed AND NOT r.granted)
	FROM owner o JOIN (SELECT n, bool_or(granted) AS granted FROM rival GROUP BY n) r USING (n)));
note "$rounds rounds: $consumed consumed, $granted granted";
cmp_ok($consumed, '>', 10, 'the owner was in time in some rounds');
cmp_ok($granted, '>', 10, 'and too late in some');
cmp_ok($node->safe_psql('postgres', q(
	SELECT count(*) FROM rival JOIN round USING (n) WHERE began_at < expires_at)),
	'>', 10, 'the rival came early in some');
is($both, 0, 'the unit never went to both');
is($none, 0, 'nor to nobody');

is($node->safe_psql('postgres', q(
	SELECT count(*) FROM owner JOIN round USING (n)
	WHERE NOT consumed AND ended_at < expires_at)),
	'0', 'the owner was never refused before the end');
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM rival JOIN round USING (n)
	WHERE granted AND ended_at < expires_at)),
	'0', 'and the rival never got it before');
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM rival r JOIN round USING (n) JOIN owner o USING (n)
	WHERE NOT o.consumed AND NOT r.granted AND r.began_at >= expires_at)),
	'0', 'nor was it refused from the end on');
is_sound($node, 'afterwards');

done_testing();
