\ir rival_stays.sql

CREATE FUNCTION hold_try_stay(p_token text, p_room bigint, p_stay daterange, p_ttl interval,
	OUT granted boolean, OUT expires_at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	v_now timestamptz;
	v_qty bigint := (upper(p_stay) - lower(p_stay)) * 1000000;
	v_id bigint;
BEGIN
	SELECT pool_id, last_at INTO v_id, v_now
	  FROM hold_pools WHERE tenant = '' AND pool = p_room::text AND stripe = -1
	   FOR NO KEY UPDATE;
	v_now := greatest(clock_timestamp(), v_now);
	PERFORM FROM room_stays WHERE tenant = '' AND room_id = p_room AND stay && p_stay;
	IF FOUND THEN
		granted := false;
		RETURN;
	END IF;
	granted := true;
	expires_at := v_now + p_ttl;
	INSERT INTO room_stays (room_id, stay, token, expires_at, token_key, held_since)
	VALUES (p_room, p_stay, p_token, hold_try_stay.expires_at, hashtextextended(p_token, 0), v_now);
	WITH room AS (
		UPDATE hold_pools SET held = held + v_qty, seq = seq + 1, last_at = v_now,
			   next_expiry = least(next_expiry, hold_try_stay.expires_at)
		 WHERE pool_id = v_id
		RETURNING pool_id, consumed, held, seq, last_at)
	INSERT INTO hold_ledger (at, pool_id, seq, qty, held, consumed, event, expires_at, room_id, token, stay)
	SELECT last_at, pool_id, seq, v_qty, held, consumed, 'granted', hold_try_stay.expires_at, p_room, p_token, p_stay
	  FROM room;
END $$;

GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA :schema TO bench_app;
