"""The ledger, replayed entry by entry: an account of its own of every counter row.

Written from the contract.  A replay complains about an entry that cannot follow
from those before it, and keeps what the row was like after each.
"""

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import accumulate

from record import UNIT, Call, Transaction

ROWS = """SELECT pool_id, CASE WHEN room_id IS NULL THEN pool ELSE room_id::text END,
	stripe, room_id IS NOT NULL, held, consumed, capacity, seq, class_id <> 0
	FROM hold_pools"""
MOMENT = "(1000000 * extract(epoch FROM {}))::bigint"
ENTRIES = f"""SELECT pool_id, seq, {MOMENT.format("at")}, event::text, qty, held, consumed,
	capacity, generation, {MOMENT.format("expires_at")}, taken, token, ref,
	lower(stay) - '2031-01-01', upper(stay) - '2031-01-01', actor
	FROM hold_ledger ORDER BY pool_id, seq"""
HOLDS = f"SELECT pool_id, token, qty, {MOMENT.format('expires_at')} FROM holds"
STAYS = f"""SELECT p.pool_id, s.token, lower(stay) - '2031-01-01', upper(stay) - '2031-01-01',
	{MOMENT.format("expires_at")}
	FROM room_stays s JOIN hold_pools p ON p.room_id = s.room_id"""
FOREVER = 1 << 62


@dataclass(slots=True, eq=False)
class Entry:
    pool_id: int
    seq: int
    at: int
    event: str
    qty: int
    held: int
    consumed: int
    capacity: int | None
    generation: int
    expires_at: int | None
    taken: int | None
    token: str | None
    ref: str | None
    first: int | None
    departure: int | None
    actor: str
    row: object = None
    call: Call | None = None
    transaction: Transaction | None = None
    earliest: int = 0  # when others could see it
    latest: int = FOREVER
    after: object = None  # how the row was then

    def __str__(self):
        return (f"{self.row.name}/{self.row.stripe} entry {self.seq}"
                f" ({self.event} {self.qty / UNIT:g} {self.token or ''})")

    @property
    def nights(self):
        return range(self.first, self.departure) if self.first is not None else range(0)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a token holds in a row, or whose a night is; until None: confirmed."""

    qty: int
    until: int | None
    generation: int = 1
    token: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """A counter row at one moment."""

    held: int = 0
    consumed: int = 0
    capacity: int | None = None
    generation: int = 1
    closed: bool = False
    lease_end: int = FOREVER
    claims: dict = field(default_factory=dict)  # of tokens; in a room, of nights

    def room(self, clock, but_of=None):
        """What others could have, where the row has a capacity."""
        if self.capacity is None:
            return FOREVER
        return self.capacity - self.consumed - self.live(clock, but_of)

    def live(self, clock, but_of=None):
        return sum(c.qty for token, c in self.claims.items()
                   if c.until > clock and c.generation == self.generation and token != but_of)


class Wrong(Exception):
    """An entry that cannot be."""


def need(condition, what):
    if not condition:
        raise Wrong(what)


@dataclass
class Row:
    """A counter row, with what the server says of it in the end, and its entries."""

    pool_id: int
    name: str
    stripe: int
    is_room: bool
    held: int
    consumed: int
    capacity: int | None
    seq: int
    of_class: bool
    entries: list = field(default_factory=list)
    timeline: object = None

    @property
    def place(self):
        return int(self.name) if self.is_room else self.name

    def replay(self):
        """Yields what is wrong, and fills in the state after each entry."""
        state = State()
        last = Entry(self.pool_id, 0, 0, *[None] * 13)
        events = ROOM_EVENTS if self.is_room else POOL_EVENTS
        for entry in self.entries:
            if entry.seq != last.seq + 1:
                yield f"{entry} comes after {last.seq}"
            if entry.at < last.at:
                yield f"{entry}: time runs backwards"
            try:
                state = events[entry.event](state, entry, last)
                check_balances(state, entry)
            except Wrong as wrong:
                yield f"{entry}: {wrong}"
                state = replace(state, held=entry.held, consumed=entry.consumed,
                                capacity=entry.capacity)
            entry.after, last = state, entry

    @property
    def state(self):
        return self.entries[-1].after if self.entries else State()


def check_balances(state, entry):
    found = entry.held, entry.consumed, entry.capacity
    should = state.held, state.consumed, state.capacity
    need(found == should, f"held, consumed, capacity are {found}, not {should}")


# Pools.


def claim_of(state, entry):
    claim = state.claims.get(entry.token)
    need(claim, "nothing is held")
    return claim


def put(state, entry, claim, taken=0):
    """The token holds that from now on, and has consumed so much of it."""
    before = state.claims.get(entry.token)
    claims = {token: c for token, c in state.claims.items() if token != entry.token}
    if claim.qty:
        claims[entry.token] = claim
    if entry.generation != state.generation:
        return replace(state, claims=claims)
    more = claim.qty - (before.qty if before else 0)
    return replace(state, claims=claims, held=state.held + more, consumed=state.consumed + taken)


def take(state, entry, claim):
    """The same where it takes more: it must fit."""
    after = put(state, entry, claim)
    need(after.held <= state.held or state.capacity is None or
         after.held + after.consumed <= state.capacity,
         f"{after.held} + {after.consumed} are more than {state.capacity}")
    need(not state.closed, "the pool is closed")
    need(entry.at < state.lease_end, "the lease is over")
    need(entry.generation == state.generation, "the generation is over")
    return after


def granted(state, entry, last):
    need(entry.token not in state.claims, "it is held")
    return take(state, entry, Claim(entry.qty, entry.expires_at, entry.generation))


def renewed(state, entry, last):
    claim = claim_of(state, entry)
    need(claim.until > entry.at, "it has expired")
    need(entry.expires_at >= claim.until, "it is shortened")
    need((entry.event == "renewed") == (entry.qty == claim.qty), "it is not what was held")
    return take(state, entry, Claim(entry.qty, entry.expires_at, entry.generation))


def is_late(entry, last):
    """Is it what was just granted in order to be consumed at once?"""
    return last.event == "granted" and (last.token, last.at) == (entry.token, entry.at)


def consumed(state, entry, last):
    claim = claim_of(state, entry)
    need(claim.until > entry.at or is_late(entry, last), "it has expired")
    need(0 < entry.qty <= claim.qty, f"{claim.qty} is held")
    return put(state, entry, replace(claim, qty=claim.qty - entry.qty), entry.qty)


def released(state, entry, last):
    claim = claim_of(state, entry)
    need(claim.until > entry.at, "it has expired")
    need(0 < entry.qty <= claim.qty, f"{claim.qty} is held")
    return put(state, entry, replace(claim, qty=claim.qty - entry.qty))


def expired(state, entry, last):
    claim = claim_of(state, entry)
    need(claim.until <= entry.at, "it is live")
    need(entry.qty == claim.qty, f"{claim.qty} is held")
    return put(state, entry, replace(claim, qty=0))


def returned(state, entry, last):
    if entry.generation != state.generation:
        return state
    need(state.consumed >= entry.qty, "less was consumed")
    return replace(state, consumed=state.consumed - entry.qty)


def resized(state, entry, last):
    if entry.capacity is None:
        return replace(state, capacity=None)
    return replace(state, capacity=(state.capacity or 0) + entry.qty,
                   lease_end=entry.expires_at or FOREVER)


def opened(state, entry, last):
    return replace(state, closed=False, lease_end=entry.expires_at or FOREVER,
                   capacity=entry.capacity)


def closed(state, entry, last):
    return replace(state, closed=True)


def succeeded(state, entry, last):
    need(entry.generation == state.generation + 1, "a generation is missing")
    return replace(state, held=0, consumed=0, capacity=entry.capacity,
                   generation=entry.generation, lease_end=entry.expires_at or FOREVER)


POOL_EVENTS = {
    "granted": granted, "renewed": renewed, "changed": renewed, "consumed": consumed,
    "released": released, "expired": expired, "returned": returned, "capacity": resized,
    "opened": opened, "closed": closed, "generation": succeeded}


# Rooms: the units are nights.


def count(nights, confirmed):
    return UNIT * sum((claim.until is None) == confirmed for claim in nights.values())


def with_nights(state, nights):
    return replace(state, claims=nights, held=count(nights, False), consumed=count(nights, True))


def occupy(state, entry, nights, until):
    """The token has these nights too, which nobody has."""
    need(entry.qty == UNIT * len(entry.nights), "it is not the nights that it tells")
    for night in entry.nights:
        need(night not in nights, f"night {night} is taken")
    claim = Claim(UNIT, until, token=entry.token)
    return with_nights(state, nights | dict.fromkeys(entry.nights, claim))


def leave(state, entry, is_right):
    """The token gives these nights up, which are as they should be."""
    need(entry.qty == UNIT * len(entry.nights), "it is not the nights that it tells")
    for night in entry.nights:
        claim = state.claims.get(night)
        need(claim and claim.token == entry.token and is_right(claim),
             f"night {night} is not so: {claim}")
    return {night: c for night, c in state.claims.items() if night not in entry.nights}


def room_granted(state, entry, last):
    return occupy(state, entry, state.claims, entry.expires_at)


def is_live(claim, at):
    return claim.until is not None and claim.until > at


def room_renewed(state, entry, last):
    nights = leave(state, entry, lambda c: is_live(c, entry.at) and entry.expires_at >= c.until)
    return occupy(state, entry, nights, entry.expires_at)


def room_changed(state, entry, last):
    own = [c for c in state.claims.values() if c.token == entry.token and c.until is not None]
    need(own and all(is_live(c, entry.at) for c in own), "nothing live is held")
    nights = {night: c for night, c in state.claims.items() if c not in own}
    return occupy(state, entry, nights, entry.expires_at)


def room_consumed(state, entry, last):
    if entry.expires_at is None:  # one that was moved here, or an application inserted
        return occupy(state, entry, state.claims, None)
    late = is_late(entry, last)
    nights = leave(state, entry, lambda c: c.until is not None and (late or c.until > entry.at))
    return occupy(state, entry, nights, None)


def room_released(state, entry, last):
    return with_nights(state, leave(state, entry, lambda c: is_live(c, entry.at)))


def room_expired(state, entry, last):
    return with_nights(state, leave(
        state, entry, lambda c: c.until is not None and c.until <= entry.at))


def room_returned(state, entry, last):
    return with_nights(state, leave(state, entry, lambda c: c.until is None))


ROOM_EVENTS = {
    "granted": room_granted, "renewed": room_renewed, "changed": room_changed,
    "consumed": room_consumed, "released": room_released, "expired": room_expired,
    "returned": room_returned, "opened": lambda state, entry, last: state}


class Ledger:
    """All that the server has in the end."""

    def __init__(self, execute):
        self.rows = {row[0]: Row(*row) for row in execute(ROWS)}
        self.entries = [Entry(*entry) for entry in execute(ENTRIES)]
        for entry in self.entries:
            entry.row = self.rows[entry.pool_id]
            entry.row.entries.append(entry)
        self.holds = {(p, token): (qty, until) for p, token, qty, until in execute(HOLDS)}
        self.nights = {
            (p, night): (token, until) for p, token, first, departure, until in execute(STAYS)
            for night in range(first, departure)}
        self.marks = set(execute("SELECT session, number FROM marks"))
        self.problems = execute("SELECT * FROM hold_verify()")

    def rows_of(self, place):
        return [row for row in self.rows.values() if row.place == place]

    def replay(self):
        for row in self.rows.values():
            yield from row.replay()

    def compare(self):
        """Yields where the replay ends elsewhere than the tables."""
        holds, nights = {}, {}
        for row in self.rows.values():
            state = row.state
            found = row.held, row.consumed, row.capacity, row.seq
            should = state.held, state.consumed, state.capacity, len(row.entries)
            if found != should:
                yield f"{row.name}/{row.stripe} has {found}, not {should}"
            for key, claim in state.claims.items():
                if row.is_room:
                    nights[row.pool_id, key] = claim.token, claim.until
                else:
                    holds[row.pool_id, key] = claim.qty, claim.until
        yield from differences(self.holds, holds)
        yield from differences(self.nights, nights)


def differences(found, should):
    for key in found.keys() | should.keys():
        if found.get(key) != should.get(key):
            yield f"{key} has {found.get(key)}, not {should.get(key)}"


class Timeline:
    """Entries in the order in which they came into force, and when others saw them."""

    def __init__(self, entries):
        self.entries = entries
        self.earliest = list(accumulate((e.earliest for e in entries), max))
        self.latest = list(accumulate((e.latest for e in reversed(entries)), min))[::-1]

    def possible(self, call, transaction, since=None):
        """The entries of which one was the newest when the call looked; None: none yet.

        It looks while it runs or, with the snapshot of its transaction, since then.
        """
        base = bisect_right(self.latest, since or call.start)
        end = bisect_right(self.earliest, call.end)
        for i, entry in enumerate(self.entries[base:], base + 1):
            if entry.at > call.start:
                break
            if entry.transaction is transaction:
                base = i
        return [self.entries[i - 1] if i else None for i in range(base, max(base, end) + 1)]
