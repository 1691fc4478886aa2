-- Reading: hold_get, hold_available, hold_available_many, hold_count, the
-- histories and the views, and that all of them tell the same.

SET hold_ledger.tenant = 'read';

SELECT pool, hold_pool_set(pool, capacity) IS NOT NULL AS made
FROM (VALUES ('p', 10), ('q', 5), ('r', 0)) AS v (pool, capacity);

--
-- hold_get: one row a pool, with its present state
--

SELECT pool, outcome FROM hold_try_lines('ann', hold_lines('{p,q}', '{3,2}'), '5 minutes', payload => '{"cart": 1}');
SELECT kind, pool, pool_id = (SELECT s.pool_id FROM hold_pool_status s WHERE s.pool = g.pool) AS same_id,
	generation, qty, consumed, state, regress_minutes(expires_at) AS expires_in, version, payload,
	ref, room_id, stay, reservation_id
FROM hold_get('ann') g ORDER BY pool;

SELECT outcome FROM hold_renew('ann', '5 minutes');
SELECT outcome FROM hold_consume('ann', 'p', 1, final => false, ref => 'first', reservation_id => 3);
SELECT pool, qty, consumed, state, version, ref, reservation_id FROM hold_get('ann') ORDER BY pool;
SELECT outcome FROM hold_consume('ann', 'p', 0.5, ref => 'second', reservation_id => 4);
SELECT outcome FROM hold_release('ann', 'q');
SELECT pool, qty, consumed, state, version, payload, ref, reservation_id FROM hold_get('ann') ORDER BY pool;
SELECT count(*) FROM hold_get('nobody');

-- expired: the same whether swept or not
SELECT outcome FROM hold_try('bob', 'p', 2, '1 minute', payload => '{"cart": 2}');
SELECT outcome FROM hold_consume('bob', 'p', 0.5, final => false, ref => 'first');
SET hold_ledger.clock_offset = '1 min';
SELECT pool, qty, consumed, state, regress_minutes(expires_at) AS expires_in, version, payload, ref FROM hold_get('bob');
CREATE TEMP TABLE unswept AS SELECT * FROM hold_get('bob');
SELECT hold_sweep() > 0 AS swept;
SELECT pool, qty, consumed, state, regress_minutes(expires_at) AS expires_in, version, payload, ref FROM hold_get('bob');
SELECT count(*) FROM (SELECT * FROM unswept EXCEPT SELECT * FROM hold_get('bob')) otherwise;
RESET hold_ledger.clock_offset;

--
-- hold_available, hold_available_many, hold_count
--

SELECT outcome FROM hold_try('cid', 'p', 4, '5 minutes');
SELECT outcome FROM hold_try('dan', 'p', 0.25, '10 minutes');
SELECT hold_available('p'), hold_available('q'), hold_available('r');
SELECT hold_count('p'), hold_count('q'), hold_count('r');
SELECT hold_available('nowhere');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_count('nowhere');
\echo :LAST_ERROR_SQLSTATE

-- one row an element, in order, also for what is not there or asked for twice
SELECT ordinality, pool, available, held, closed
FROM hold_available_many('{q,nowhere,p,r,p}') WITH ORDINALITY;
SELECT count(*) FROM hold_available_many('{}');

-- many
SELECT count(*), count(available) FROM hold_available_many(ARRAY(SELECT 'p' FROM generate_series(1, 5000)));

-- it can be joined, filtered, and called for each row of a query
SELECT s.pool, a.available FROM hold_pool_status s, hold_available_many(ARRAY[s.pool]) a ORDER BY s.pool;
SELECT pool FROM hold_pool_status WHERE hold_available(pool) > 3 ORDER BY pool;

--
-- Views
--

SELECT pool, capacity, consumed, held, expired, available, holds,
	regress_minutes(next_expiry) AS next_in, closed, generation, stripes
FROM hold_pool_status ORDER BY pool;
SELECT token, pool, qty, regress_minutes(expires_at) AS expires_in, version, payload,
	regress_minutes(held_since) AS since
FROM live_holds ORDER BY token;

-- qty is what is still held; held_since stays when it is renewed
SELECT outcome FROM hold_consume('dan', qty => 0.05, final => false, ref => 'a');
SET hold_ledger.clock_offset = '3 min';
SELECT outcome FROM hold_renew('dan', '10 minutes');
SELECT token, qty, regress_minutes(expires_at) AS expires_in, version, regress_minutes(held_since) AS since
FROM live_holds ORDER BY token;
RESET hold_ledger.clock_offset;

-- a prefix is looked up in an index
CREATE FUNCTION pg_temp.plan(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END $$;
SET enable_seqscan = off;
SELECT count(*) FROM pg_temp.plan($$SELECT * FROM hold_pool_status WHERE pool >= 'p:' AND pool < 'p;'$$) AS line
WHERE line LIKE '%Index Cond%tenant%pool >= %pool < %';
RESET enable_seqscan;

--
-- Histories
--

-- in order, since a day ago unless said
SELECT pool, seq, event, qty, held, consumed, capacity, ref, payload, reservation_id
FROM hold_history('ann');
SELECT seq, event, token, qty, held, consumed, capacity FROM hold_pool_history('q');
SELECT count(*) FROM hold_history('nobody');

-- of several pools, in the order of time
SET hold_ledger.clock_offset = '1 h';
SELECT outcome FROM hold_try('eve', 'q', 1, '1 day');
SET hold_ledger.clock_offset = '2 h';
SELECT outcome FROM hold_try('eve', 'p', 1, '1 day');
SET hold_ledger.clock_offset = '3 h';
SELECT outcome FROM hold_renew('eve', '1 day');
SELECT pool, event, regress_minutes(at) AS at FROM hold_history('eve', '1 day');

-- since: from then on
SELECT pool, event FROM hold_history('eve', '90 minutes');
SELECT event, token FROM hold_pool_history('p', '90 minutes');
SELECT count(*) FROM hold_history('eve', '1 minute');
SELECT count(*) FROM hold_history('eve', '0');
SET hold_ledger.clock_offset = '27 h';
SELECT count(*) FROM hold_history('eve');
SELECT count(*) FROM hold_history('eve', '2 days');
SELECT count(*) FROM hold_history('eve', '1 month');
RESET hold_ledger.clock_offset;

--
-- One availability: at each of a thousand random steps, all ways to ask for it
-- give the same number
--

SELECT hold_pool_set('x', 10) IS NOT NULL AS made;

-- what is left according to the ledger alone: a token holds what its newest claim
-- says, less what it consumed, released or let expire since
CREATE FUNCTION pg_temp.replayed(asked text) RETURNS numeric
LANGUAGE plpgsql AS $$ BEGIN RETURN (
	WITH entry AS (
		SELECT * FROM hold_entries WHERE pool = asked
	), token AS (
		SELECT sum(CASE WHEN seq = newest_claim THEN qty WHEN seq > newest_claim THEN -qty END) AS held,
			max(expires_at) FILTER (WHERE seq = newest_claim) AS expires_at,
			COALESCE(sum(qty) FILTER (WHERE event = 'consumed'), 0) AS consumed
		FROM (SELECT *, max(seq) FILTER (WHERE event IN ('granted', 'renewed', 'changed'))
				OVER (PARTITION BY token) AS newest_claim FROM entry WHERE token IS NOT NULL) e
		GROUP BY e.token
	)
	SELECT CASE (SELECT event FROM entry WHERE event IN ('opened', 'closed') ORDER BY seq DESC LIMIT 1)
		WHEN 'closed' THEN 0
		ELSE greatest(0, (SELECT capacity FROM entry ORDER BY seq DESC LIMIT 1)
			- COALESCE((SELECT sum(consumed) FROM token), 0)
			- COALESCE((SELECT sum(held) FROM token WHERE expires_at > hold_clock()), 0))
		END
); END $$;

-- is exactly that much to be had?  What the probe did is taken back.
CREATE FUNCTION pg_temp.probed(asked text, left_over numeric) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
	fits boolean := true;
	more_fits boolean;
BEGIN
	SELECT granted OR available <> left_over INTO more_fits
	FROM hold_try('probe', asked, left_over + 0.000001);
	IF left_over > 0 THEN
		SELECT granted AND available = 0 INTO fits FROM hold_try('probe', asked, left_over);
	END IF;
	RAISE EXCEPTION 'take it back';
EXCEPTION WHEN raise_exception THEN
	RETURN fits AND NOT more_fits;
END
$$;

CREATE FUNCTION pg_temp.take_step(step integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	token CONSTANT text := 't' || step / 25 || '-' || floor(random() * 6);
	qty CONSTANT numeric := round((random() * 4)::numeric, floor(random() * 7)::integer) + 0.000001;
BEGIN
	CASE floor(random() * 20)
		WHEN 0, 1, 2, 3, 4, 5, 6 THEN
			PERFORM hold_try(token, 'x', qty, make_interval(secs => 1 + random() * 60));
		WHEN 7, 8 THEN PERFORM hold_renew(token, make_interval(secs => 1 + random() * 60));
		WHEN 9, 10 THEN PERFORM hold_release(token);
		WHEN 11 THEN PERFORM hold_consume(token, qty => qty / 8);
		WHEN 12, 13 THEN
			PERFORM hold_consume(token, qty => round(qty / 8, 6), final => false, ref => step::text);
		WHEN 14 THEN PERFORM hold_consume(token, qty => round(qty / 8, 6), late => true);
		WHEN 15 THEN PERFORM hold_sweep(1 + floor(random() * 2)::integer);
		WHEN 16 THEN PERFORM hold_pool_add('x', round(qty / 2, 3));
		WHEN 17 THEN
			PERFORM hold_pool_set('x', greatest(0, capacity - qty / 4)) FROM hold_pool_status WHERE pool = 'x';
		WHEN 18 THEN
			IF random() < 0.3 THEN
				PERFORM hold_pool_close('x');
			ELSE
				PERFORM hold_pool_open('x');
			END IF;
		ELSE
			PERFORM set_config('hold_ledger.clock_offset', (step / 5 + floor(random() * 5)) || ' s', false);
	END CASE;
EXCEPTION WHEN invalid_parameter_value THEN
	-- too many decimals, now and then
	NULL;
END
$$;

-- do all of them agree, at this moment?
CREATE FUNCTION pg_temp.agreed(asked text, OUT answers text, OUT agree boolean)
LANGUAGE plpgsql AS $$
BEGIN
	SELECT concat_ws(' ', f.available, s.available, m.available, r.available),
		f.available = s.available AND s.available = m.available AND m.available = r.available
			AND (s.closed OR pg_temp.probed(asked, f.available))
	INTO answers, agree
	FROM hold_pool_status s, hold_available(s.pool) AS f (available),
		hold_available_many(ARRAY[s.pool]) m, pg_temp.replayed(s.pool) AS r (available)
	WHERE s.pool = asked;
END
$$;

DO $$
DECLARE
	steps integer := 0;
	answer record;
	seen hold_event[];
BEGIN
	PERFORM setseed(0.42);
	LOOP
		PERFORM pg_temp.take_step(steps);
		-- a hold may expire between two of the questions, but hardly twice
		FOR attempt IN 1..3 LOOP
			SELECT * INTO answer FROM pg_temp.agreed('x');
			EXIT WHEN answer.agree;
		END LOOP;
		EXIT WHEN NOT answer.agree OR steps = 1000;
		steps := steps + 1;
	END LOOP;
	SELECT array_agg(DISTINCT event ORDER BY event) INTO seen FROM hold_entries WHERE pool = 'x';
	RAISE NOTICE '% steps agree, then %', steps, CASE WHEN answer.agree THEN 'the end' ELSE answer.answers END;
	RAISE NOTICE 'seen were %', seen;
END
$$;
SELECT regress_ok();
