WITH gone AS (SELECT pool, consumed FROM hold_consume(:token) WHERE outcome = 'consumed') INSERT INTO bookings SELECT :token, pool, consumed FROM gone;
