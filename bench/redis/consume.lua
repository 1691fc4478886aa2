-- The hold becomes a consumed unit: 1, or 0 if the token has no live hold.
-- KEYS: holds, capacity, consumed of the pool.  ARGV: the token.
local time = redis.call('TIME')
local expires_at = redis.call('ZSCORE', KEYS[1], ARGV[1])

if not expires_at or tonumber(expires_at) <= time[1] * 1000000 + time[2] then
	return 0
end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('INCR', KEYS[3])
return 1
