-- A hold of one unit for an hour, in a sorted set by its end: 1 granted, 2 renewed,
-- 0 refused.  KEYS: holds, capacity, consumed of the pool.  ARGV: the token.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local expires_at = string.format('%.0f', now + 3600 * 1000000)

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
	redis.call('ZADD', KEYS[1], expires_at, ARGV[1])
	return 2
end
local taken = redis.call('ZCARD', KEYS[1]) + (redis.call('GET', KEYS[3]) or 0)
if taken >= tonumber(redis.call('GET', KEYS[2])) then
	return 0
end
redis.call('ZADD', KEYS[1], expires_at, ARGV[1])
return 1
