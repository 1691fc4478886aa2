SELECT * FROM hold_consume(:token);
