"""What stays.py replaces: nights held in Redis by a script, reservations in PostgreSQL."""

from datetime import timedelta

TTL = 15 * 60 * 1000

# KEYS: the nights of a room.  ARGV: token, milliseconds.
HOLD_ROOM = """
    local taken = {}
    for i, key in ipairs(KEYS) do
        local holder = redis.call('GET', key)
        if holder and holder ~= ARGV[1] then table.insert(taken, i) end
    end
    if #taken == 0 then
        for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
    end
    return taken"""

RELEASE_ROOM = """
    local released = 0
    for _, key in ipairs(KEYS) do
        if redis.call('GET', key) == ARGV[1] then released = released + redis.call('DEL', key) end
    end
    return released"""

# KEYS: the nights of a type.  ARGV: token, milliseconds, rooms free on each night.
HOLD_TYPE = """
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local full = {}
    for i, key in ipairs(KEYS) do
        redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
        if not redis.call('ZSCORE', key, ARGV[1])
            and redis.call('ZCARD', key) >= tonumber(ARGV[2 + i]) then
            table.insert(full, i)
        end
    end
    if #full == 0 then
        for _, key in ipairs(KEYS) do redis.call('ZADD', key, now + ARGV[2], ARGV[1]) end
    end
    return full"""


def nights(arrive, leave):
    return [arrive + timedelta(days=n) for n in range((leave - arrive).days)]


class Stays:
    """Answers the positions of the nights that are taken: none of them means held."""

    def __init__(self, redis, connection):
        self.redis = redis
        self.connection = connection

    def hold_room(self, token, room_id, arrive, leave):
        keys = [f"night:{{room-{room_id}}}:{night}" for night in nights(arrive, leave)]
        return self.redis.eval(HOLD_ROOM, len(keys), *keys, token, TTL)

    def release_room(self, token, room_id, arrive, leave):
        keys = [f"night:{{room-{room_id}}}:{night}" for night in nights(arrive, leave)]
        return self.redis.eval(RELEASE_ROOM, len(keys), *keys, token)

    def rooms_free(self, room_type, arrive, leave):
        """What the caller reads just before hold_type: total minus confirmed, by night."""
        return [free for free, in self.connection.execute(
            """SELECT (SELECT count(*) FROM rooms WHERE room_type = %(type)s)
                   - (SELECT count(*) FROM old.reservations
                      WHERE room_type = %(type)s AND stay @> night::date)
               FROM generate_series(%(arrive)s::date, %(leave)s::date - 1, '1 day') AS night""",
            {"type": room_type, "arrive": arrive, "leave": leave})]

    def hold_type(self, token, room_type, arrive, leave, free):
        keys = self.type_keys(room_type, arrive, leave)
        return self.redis.eval(HOLD_TYPE, len(keys), *keys, token, TTL, *free)

    def book_type(self, token, room_type, arrive, leave):
        self.connection.execute(
            "INSERT INTO old.reservations (room_type, stay) VALUES (%s, daterange(%s, %s))",
            [room_type, arrive, leave])
        for key in self.type_keys(room_type, arrive, leave):
            self.redis.zrem(key, token)

    def book_room(self, reservation_id, room_id, arrive, leave):
        self.connection.execute("INSERT INTO old.room_stays VALUES (%s, %s, daterange(%s, %s))",
                                [room_id, reservation_id, arrive, leave])

    @staticmethod
    def type_keys(room_type, arrive, leave):
        return [f"nights:{{{room_type}}}:{night}" for night in nights(arrive, leave)]
