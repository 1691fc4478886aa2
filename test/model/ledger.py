"""The reference model: what it remembers.

Written from the contract alone, without a look at the code that it judges.
Nothing here is stored twice: what is held, available or expired is counted
anew from the holds, each time that somebody asks.

Times are whole minutes since the test began.  A hold lives while its
expires_at is greater than the clock; the server's clock is always a little
ahead of the full minute, so what was begun earlier also ends earlier.
"""

from dataclasses import dataclass, field
from decimal import Decimal

DEFAULT_TTL = 10
MAX_TTL = 7 * 24 * 60
ZERO = Decimal(0)


class Mistake(Exception):
    """An error with this SQLSTATE, which leaves nothing behind."""

    def __init__(self, sqlstate):
        super().__init__(sqlstate)
        self.sqlstate = sqlstate


class Undetermined:
    """A value on which the contract leaves some freedom."""

    def __init__(self, allowed):
        self.allowed = allowed

    def __eq__(self, other):
        return self.allowed(other)


class PoolId(int):
    """In the order of making; the server's own numbers have gaps."""


class StayId(int):
    """The same of confirmed stays."""


@dataclass
class Pool:
    name: str
    number: PoolId
    capacity: Decimal | None = None  # None: external, or told by a function
    maker: str | None = None  # prefix of the class that made it
    stripes: int = 1  # to callers they make no difference
    expires_at: int | None = None
    closed: bool = False
    dropped: bool = False
    generation: int = 1
    consumed: Decimal = ZERO  # in the present generation
    leases: dict = field(default_factory=dict)  # end: (generation, capacity)
    refs: set = field(default_factory=set)  # of hold_pool_add


@dataclass
class Claim:
    """What a token has, or had, in one pool (or room), and how it ended."""

    held: Decimal
    expires_at: int
    held_since: int
    generation: int = 1
    version: int = 1
    payload: object = None
    ended: str | None = None  # consumed, released, returned; None: live or expired
    ended_at: int | None = None
    ref: str | None = None
    reservation_id: int | None = None
    last: dict | None = None  # the row of the step that consumed it
    swept: bool = False
    rows = 1  # that a sweep counts

    def live(self, clock):
        return self.ended is None and self.expires_at > clock

    def expired(self, clock):
        return self.ended is None and self.expires_at <= clock

    def end(self, how, clock):
        self.ended, self.ended_at, self.held = how, clock, ZERO


@dataclass
class Memory:
    """All that is remembered of a token in one pool."""

    claim: Claim
    consumed: Decimal = ZERO  # and not returned
    ever_consumed: bool = False
    reservation_id: int | None = None  # of what was consumed last
    payload: object = None  # the same
    captures: dict = field(default_factory=dict)  # ref: the row it got
    returns: dict = field(default_factory=dict)


@dataclass
class PoolClass:
    capacity: Decimal | None = None
    ttl: int | None = None
    stripes: int | None = None
    asks: bool = False  # is there a capacity_from?


@dataclass
class Fence:
    """All that one tenant sees."""

    pools: dict = field(default_factory=dict)  # name: Pool
    classes: dict = field(default_factory=dict)  # prefix: PoolClass
    memories: dict = field(default_factory=dict)  # token: {pool name: Memory}
    stock: dict = field(default_factory=dict)  # what capacity_from answers
    room_memories: dict = field(default_factory=dict)  # token: {room: RoomMemory}
    confirmed: list = field(default_factory=list)

    def claims(self):
        """Each token's present claim in each pool and room."""
        for found in [*self.memories.values(), *self.room_memories.values()]:
            for memory in found.values():
                yield memory.claim


@dataclass
class World:
    clock: int = 0
    tenant: str = "a"
    fences: dict = field(default_factory=lambda: {"a": Fence(), "b": Fence()})
    made: int = 0  # pools
    stays_made: int = 0

    @property
    def fence(self):
        return self.fences[self.tenant]

    def known(self, name):
        """The pool of that name, or None."""
        pool = self.fence.pools.get(name)
        return pool if pool and not pool.dropped else None

    def pool(self, name):
        pool = self.known(name)
        if pool is None:
            raise Mistake("42704")
        return pool

    def class_for(self, name):
        """The class that would make a pool of that name: the longest prefix."""
        parts = name.split(":")
        prefixes = [":".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]
        return next((p for p in prefixes if p in self.fence.classes), None)

    def make_pool(self, name, capacity, maker=None):
        """A new pool, or one that was dropped and lives again under its old id."""
        pool = self.fence.pools.get(name)
        if pool is None:
            self.made += 1
            pool = self.fence.pools[name] = Pool(name, PoolId(self.made), maker=maker)
        pool.capacity = capacity
        pool.maker = maker or pool.maker
        pool.dropped = pool.closed = False
        pool.expires_at = None
        return pool

    def make_by_class(self, name):
        maker = self.class_for(name)
        kind = self.fence.classes[maker]
        pool = self.make_pool(name, kind.capacity, maker)
        pool.stripes = pool.stripes if kind.stripes is None else kind.stripes
        return pool

    def would_make(self, name):
        """Would a class make it, or make it again after it was dropped?"""
        return self.known(name) is None and self.class_for(name) is not None

    def memories_of(self, token):
        """(pool, memory) of all pools of a token, in the order of their ids."""
        found = self.fence.memories.get(token, {})
        pairs = [(self.known(name), memory) for name, memory in found.items()
                 if self.known(name)]
        return sorted(pairs, key=lambda pair: pair[0].number)

    def memory(self, token, pool):
        return self.fence.memories.get(token, {}).get(pool.name)

    def claims_in(self, pool, any_generation=False):
        """(token, claim) of all live claims on the pool's present lease."""
        for token, found in self.fence.memories.items():
            memory = found.get(pool.name)
            if memory and memory.claim.live(self.clock):
                if any_generation or memory.claim.generation == pool.generation:
                    yield token, memory.claim

    def held(self, pool, but_of=None):
        return sum((c.held for t, c in self.claims_in(pool) if t != but_of), ZERO)

    def lease_over(self, pool):
        return pool.expires_at is not None and pool.expires_at <= self.clock

    def class_of(self, pool):
        return self.fence.classes.get(pool.maker, PoolClass())

    def asks(self, pool):
        """Does a function of the application tell the pool's capacity?"""
        return pool.capacity is None and self.class_of(pool).asks

    def told(self, name):
        """What the application's function says holds may take."""
        answer = self.fence.stock.get(name)
        if answer is None:
            raise Mistake("42704")
        return answer

    def room_for(self, pool, budget=None, but_of=None):
        """What holds could still take beside the live ones of others.

        None where nobody knows.  Negative where more is promised than there is.
        """
        limits = []
        if pool.capacity is not None:
            limits.append(pool.capacity - pool.consumed)
        elif self.asks(pool):
            limits.append(self.told(pool.name))
        if budget is not None:
            limits.append(budget)
        return min(limits) - self.held(pool, but_of) if limits else None

    def available(self, pool, budget=None):
        """What the next hold could have, or None where nobody knows."""
        room = self.room_for(pool, budget)
        if room is None:
            return None
        if pool.closed or self.lease_over(pool):
            return ZERO
        return max(ZERO, room)


def check_qty(qty, zero=False):
    if qty is None:
        raise Mistake("22004")
    if qty < 0 or (qty == 0 and not zero) or qty.as_tuple().exponent < -6:
        raise Mistake("22023")


def check_ttl(ttl):
    if ttl is not None and not 0 < ttl <= MAX_TTL:
        raise Mistake("22023")
