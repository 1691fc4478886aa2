-- What is left of the pool.  KEYS: holds, capacity, consumed of the pool.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
local live = redis.call('ZCOUNT', KEYS[1], '(' .. now, '+inf')

return redis.call('GET', KEYS[2]) - live - (redis.call('GET', KEYS[3]) or 0)
