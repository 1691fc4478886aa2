\ir rival_tables.sql

-- Quantities are in millionths, as in the tables.
CREATE FUNCTION hold_try(p_token text, p_pool text, p_qty bigint, p_ttl interval,
	OUT granted boolean, OUT outcome text, OUT available bigint, OUT expires_at timestamptz, OUT version int)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	v_key bigint := hashtextextended(p_token, 0);
	v_now timestamptz;
	v_id bigint;
	v_capacity bigint;
	v_consumed bigint;
	v_held bigint;
	v_seq bigint;
	v_next timestamptz;
	v_own tid;
	v_own_qty bigint;
	v_lapsed tid;
	v_freed bigint;
	v_entries bigint;
BEGIN
	SELECT pool_id, capacity, consumed, held, seq, next_expiry, last_at
	  INTO v_id, v_capacity, v_consumed, v_held, v_seq, v_next, v_now
	  FROM hold_pools WHERE tenant = '' AND pool = p_pool AND stripe = 0
	   FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'pool "%" does not exist', p_pool USING ERRCODE = 'undefined_object';
	END IF;
	v_now := greatest(clock_timestamp(), v_now);
	granted := false;

	-- what the token has here, or had
	SELECT h.ctid, h.qty, h.expires_at, h.version
	  INTO v_own, v_own_qty, expires_at, version
	  FROM holds h WHERE token_key = v_key AND token = p_token AND pool_id = v_id;
	IF NOT FOUND THEN
		PERFORM FROM hold_ledger
		  WHERE memory_key = v_key AND event = 'consumed' AND token = p_token AND pool_id = v_id;
		IF FOUND THEN
			outcome := 'already_consumed';
			RETURN;
		END IF;
	ELSIF expires_at <= v_now THEN
		v_lapsed := v_own;
		v_own := NULL;
		v_own_qty := NULL;
		expires_at := NULL;
		version := NULL;
	END IF;

	-- expired holds leave, a few at a time, until the request fits
	WHILE v_next <= v_now
	LOOP
		WITH gone AS (
			DELETE FROM holds WHERE ctid = ANY (v_lapsed || ARRAY(
				SELECT ctid FROM holds WHERE pool_id = v_id AND expires_at <= v_now
				 ORDER BY expires_at LIMIT 16))
			RETURNING qty, expires_at, held_since, token_key, version, token),
		numbered AS (
			SELECT *, row_number() OVER w AS n, sum(qty) OVER w AS total
			  FROM gone WINDOW w AS (ORDER BY expires_at, token_key ROWS UNBOUNDED PRECEDING)),
		written AS (
			INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity,
				expires_at, memory_key, remaining, held_since, version, token)
			SELECT v_now, v_id, v_seq + n, qty, v_held - total, v_consumed, 'expired', v_capacity,
				   expires_at, token_key, 0, held_since, version, token
			  FROM numbered)
		SELECT coalesce(sum(qty), 0), count(*) INTO v_freed, v_entries FROM gone;
		v_held := v_held - v_freed;
		v_seq := v_seq + v_entries;
		v_lapsed := NULL;
		SELECT coalesce(min(h.expires_at), 'infinity') INTO v_next FROM holds h WHERE pool_id = v_id;
		EXIT WHEN v_capacity - v_consumed - v_held >= p_qty;
	END LOOP;

	IF v_capacity - v_consumed - v_held + coalesce(v_own_qty, 0) < p_qty AND coalesce(v_own_qty, 0) < p_qty THEN
		IF v_entries > 0 THEN
			UPDATE hold_pools SET held = v_held, seq = v_seq, last_at = v_now, next_expiry = v_next
			 WHERE pool_id = v_id;
		END IF;
		outcome := 'insufficient';
		available := greatest(0, v_capacity - v_consumed - v_held);
		RETURN;
	END IF;

	granted := true;
	outcome := CASE WHEN v_own IS NULL THEN 'granted' WHEN v_own_qty = p_qty THEN 'renewed' ELSE 'changed' END;
	expires_at := greatest(expires_at, v_now + p_ttl);
	version := coalesce(version, 0) + 1;
	v_held := v_held - coalesce(v_own_qty, 0) + p_qty;
	v_seq := v_seq + 1;
	available := greatest(0, v_capacity - v_consumed - v_held);
	IF v_own IS NULL THEN
		INSERT INTO holds (pool_id, qty, expires_at, held_since, token_key, token)
		VALUES (v_id, p_qty, expires_at, v_now, v_key, p_token);
	ELSE
		UPDATE holds SET qty = p_qty, expires_at = hold_try.expires_at, version = hold_try.version
		 WHERE ctid = v_own;
	END IF;
	UPDATE hold_pools SET held = v_held, seq = v_seq, last_at = v_now, next_expiry = least(v_next, expires_at)
	 WHERE pool_id = v_id;
	INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity, expires_at, token)
	VALUES (v_now, v_id, v_seq, p_qty, v_held, v_consumed, outcome::hold_event, v_capacity, expires_at, p_token);
END $$;

-- All holds of the token or none.
CREATE FUNCTION hold_consume(p_token text)
RETURNS TABLE (outcome text, pool_id bigint, consumed bigint, at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	v_key bigint := hashtextextended(p_token, 0);
	v_now timestamptz;
BEGIN
	PERFORM FROM hold_pools
	  WHERE pool_id IN (SELECT pool_id FROM holds WHERE token_key = v_key AND token = p_token)
	  ORDER BY pool_id
	    FOR NO KEY UPDATE;
	v_now := clock_timestamp();

	RETURN QUERY
	SELECT CASE WHEN expires_at <= v_now THEN 'expired' ELSE 'blocked' END, pool_id, 0::bigint, v_now
	  FROM holds
	 WHERE token_key = v_key AND token = p_token
	   AND EXISTS (SELECT FROM holds
					WHERE token_key = v_key AND token = p_token AND expires_at <= v_now);
	IF FOUND THEN
		RETURN;
	END IF;

	RETURN QUERY
	WITH gone AS (
		DELETE FROM holds WHERE token_key = v_key AND token = p_token
		RETURNING pool_id, qty, expires_at, held_since, token_key, version, token),
	moved AS (
		UPDATE hold_pools p SET held = p.held - qty, consumed = p.consumed + qty, seq = seq + 1,
			   last_at = greatest(last_at, v_now)
		  FROM gone WHERE p.pool_id = gone.pool_id
		RETURNING p.pool_id, p.capacity, p.consumed, p.held, p.seq, p.last_at)
	INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, capacity,
		expires_at, memory_key, remaining, held_since, version, token)
	SELECT last_at, pool_id, seq, qty, held, consumed, 'consumed', capacity,
		   expires_at, token_key, 0, held_since, version, token
	  FROM moved JOIN gone USING (pool_id)
	RETURNING 'consumed', pool_id, qty, at;
	IF FOUND THEN
		RETURN;
	END IF;

	RETURN QUERY
	SELECT CASE event WHEN 'consumed' THEN 'already_consumed' WHEN 'released' THEN 'already_released'
					  ELSE event::text END, pool_id, qty, at
	  FROM hold_ledger
	 WHERE memory_key = v_key AND token = p_token;
	IF NOT FOUND THEN
		RETURN QUERY SELECT 'not_found', NULL::bigint, NULL::bigint, v_now;
	END IF;
END $$;

-- One hold a night, in order, all or none.
CREATE FUNCTION hold_try_nights(p_token text, p_prefix text, p_stay daterange, p_ttl interval)
RETURNS TABLE (night date, granted boolean, outcome text, available bigint, expires_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
	v_refused boolean := false;
BEGIN
	BEGIN
		FOR night IN SELECT * FROM generate_series(lower(p_stay), upper(p_stay) - 1, '1 day')
		LOOP
			SELECT t.granted, t.outcome, t.available, t.expires_at
			  INTO granted, outcome, available, expires_at
			  FROM hold_try(p_token, p_prefix || ':' || night, 1000000, p_ttl) t;
			IF NOT granted THEN
				v_refused := true;
				RAISE EXCEPTION 'refused';	-- takes back the nights before
			END IF;
			RETURN NEXT;
		END LOOP;
	EXCEPTION WHEN raise_exception THEN
		IF NOT v_refused THEN
			RAISE;
		END IF;
		RETURN NEXT;
	END;
END $$;

GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA :schema TO bench_app;
