-- The shop: 50 tickets, and a procedure that is one shopper's visit.

SET client_min_messages = warning;

CREATE EXTENSION hold_ledger CASCADE;

SELECT hold_pool_set('tickets', 50) AS pool_id;

-- The application's own table: who has a ticket.
CREATE TABLE bookings (shopper int PRIMARY KEY, token text NOT NULL);

-- How each visit went, for the report.
CREATE TABLE visits (shopper int PRIMARY KEY, habit text, attempts int, seconds numeric, ending text);

CREATE PROCEDURE visit(shopper int) LANGUAGE plpgsql AS $$
DECLARE
	habit text := (ARRAY['pays', 'leaves', 'dawdles'])[1 + shopper % 3];
	cart text := 'cart-' || shopper;
	ttl constant interval := '1.5 seconds';
	came timestamptz := clock_timestamp();
	got hold_grant;
	attempts int := 0;
	ending text;
BEGIN
	-- Ask until there is a ticket to hold, for ten seconds at most.
	LOOP
		SELECT * INTO got FROM hold_try(cart, 'tickets', ttl => ttl);
		COMMIT;
		attempts := attempts + 1;
		EXIT WHEN got.granted OR clock_timestamp() > came + interval '10 seconds';
		PERFORM pg_sleep(0.3 + 0.3 * random());
	END LOOP;

	IF NOT got.granted THEN
		ending := 'never got one: ' || got.outcome;
	ELSIF habit = 'leaves' THEN
		PERFORM pg_sleep(0.5);
		SELECT 'changed their mind: ' || outcome INTO ending FROM hold_release(cart);
	ELSE
		-- Paying goes on outside of any transaction; the dawdler takes too long.
		PERFORM pg_sleep(CASE habit WHEN 'pays' THEN 0.5 ELSE 1.8 END);
		SELECT CASE outcome WHEN 'consumed' THEN 'has a ticket: ' ELSE 'came too late: ' END || outcome
			INTO ending FROM hold_consume(cart);
		IF ending = 'has a ticket: consumed' THEN
			INSERT INTO bookings VALUES (shopper, cart);
		END IF;
	END IF;

	INSERT INTO visits VALUES (shopper, habit, attempts,
		round(extract(epoch FROM clock_timestamp() - came), 1), ending);
END
$$;
