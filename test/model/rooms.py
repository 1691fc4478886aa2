"""The reference model: stays in rooms.

Nights are counted from a first day; a range of them is a pair, half-open.  A
token's claim in a room has pieces, as nights in its middle can be given back.
"""

from dataclasses import dataclass, field
from decimal import Decimal

from ledger import DEFAULT_TTL, ZERO, Claim, Mistake, StayId, check_ttl

MAX_NIGHTS = 366
GRANTS = ("granted", "renewed", "changed")


@dataclass
class Room:
    number: int


@dataclass
class StayClaim(Claim):
    pieces: list = field(default_factory=list)
    visited: bool = False  # by a stay that was confirmed in another room

    def hold(self, pieces):
        self.pieces = sorted(pieces)
        self.held = count(self.pieces)

    @property
    def rows(self):
        return len(self.pieces)

    @property
    def hull(self):
        return self.pieces[0][0], self.pieces[-1][1]


@dataclass
class RoomMemory:
    """All that is remembered of a token in one room."""

    claim: StayClaim
    ever_consumed: bool = False
    reservation_id: int | None = None
    payload: object = None
    captures: dict = field(default_factory=dict)
    returns: dict = field(default_factory=dict)


@dataclass
class Confirmed:
    number: StayId
    room: int
    stay: tuple
    held_since: int
    token: str | None = None
    reservation_id: int | None = None
    ref: str | None = None
    version: int = 1
    payload: object = None
    left: set = field(default_factory=set)  # rooms where it has been


def count(pieces):
    return Decimal(sum(end - start for start, end in pieces))


def nights_of(pieces):
    return {night for start, end in pieces for night in range(start, end)}


def pieces_of(nights):
    """The ranges that a set of nights falls into."""
    starts = sorted(n for n in nights if n - 1 not in nights)
    ends = sorted(n + 1 for n in nights if n + 1 not in nights)
    return list(zip(starts, ends))


def check_stay(stay):
    if not 0 < stay[1] - stay[0] <= MAX_NIGHTS:
        raise Mistake("22023")


def memories_of(world, token):
    """(room, memory) of all rooms in which the token has, or had, anything."""
    found = world.fence.room_memories.get(token, {})
    return [(Room(number), memory) for number, memory in sorted(found.items())]


def claimed_by(world, token):
    """The same of those in which it claimed something itself."""
    return [(room, m) for room, m in memories_of(world, token) if not m.claim.visited]


def memory_in(world, token, room):
    return world.fence.room_memories.get(token, {}).get(room)


def own_live(world, token, room):
    memory = memory_in(world, token, room)
    return memory.claim if memory and memory.claim.live(world.clock) else None


def in_the_way(world, room, stay, token=None, but=None):
    """(nights, until when) of all that takes one of these nights; None: for ever."""
    wanted = nights_of([stay])
    rows = [(nights_of([c.stay]), None) for c in world.fence.confirmed
            if c.room == room and c is not but]
    for other, found in world.fence.room_memories.items():
        if other != token and room in found and found[room].claim.live(world.clock):
            rows.append((nights_of(found[room].claim.pieces), found[room].claim.expires_at))
    return [(nights & wanted, until) for nights, until in rows if nights & wanted]


def try_stay(world, token, room_id, stay, ttl=None, payload=None):
    return try_stays(world, token, [room_id], stay, ttl, payload)


def try_stays(world, token, room_ids, stay, ttl=None, payload=None):
    """Rows of hold_stay_grant, one a room: all that was asked for, or nothing."""
    check_stay(stay)
    check_ttl(ttl)
    if not room_ids or len(set(room_ids)) < len(room_ids):
        raise Mistake("22023")
    outcomes = [_judge(world, token, room, stay) for room in room_ids]
    granted = all(outcome in GRANTS for outcome in outcomes)
    ways = [in_the_way(world, room, stay, token) for room in room_ids]
    if granted:
        for room in room_ids:
            _take(world, token, room, stay, world.clock + (ttl or DEFAULT_TTL), payload)
    return [
        _grant_row(world, token, room, stay, ways[i],
                   "blocked" if outcomes[i] in GRANTS and not granted else outcomes[i])
        for i, room in enumerate(room_ids)]


def _judge(world, token, room, stay):
    own = own_live(world, token, room)
    if counts_in(world, token, room):
        return "already_consumed"
    if in_the_way(world, room, stay, token):
        return "stay_taken"
    if own:
        return "renewed" if own.pieces == [stay] else "changed"
    return "granted"


def _take(world, token, room, stay, until, payload):
    claim = own_live(world, token, room)
    if claim:
        claim.hold([stay])
        claim.version += 1
        claim.expires_at = max(claim.expires_at, until)
        claim.payload = claim.payload if payload is None else payload
        return
    claim = StayClaim(ZERO, until, world.clock, payload=payload)
    claim.hold([stay])
    memory = memory_in(world, token, room)
    if memory:
        memory.claim = claim
    else:
        world.fence.room_memories.setdefault(token, {})[room] = RoomMemory(claim)


def _grant_row(world, token, room, stay, way, outcome):
    own = own_live(world, token, room)
    taken = sorted(set().union(*[nights for nights, _ in way]))
    times = [until for _, until in way]
    return {
        "granted": outcome in GRANTS, "outcome": outcome, "room_id": room, "stay": stay,
        "taken": taken,
        "expires_at": own.expires_at if own else None,
        "version": own.version if own else None,
        "retry_at": max(times) if outcome == "stay_taken" and None not in times else None}


def release_stay(world, token, room_id, nights=None):
    """How many nights the token gives back."""
    if nights is not None:
        check_stay(nights)
    claim = own_live(world, token, room_id)
    if claim is None:
        return 0
    held = nights_of(claim.pieces)
    back = held if nights is None else held & nights_of([nights])
    if held == back:
        claim.end("released", world.clock)
    else:
        claim.hold(pieces_of(held - back))
    return len(back)


def insert_stay(world, room_id, stay, reservation_id=None, ref=None):
    """Not a verb: what an application does by itself."""
    check_stay(stay)
    if reservation_id is None and ref is None:
        raise Mistake("22004")
    if in_the_way(world, room_id, stay):
        raise Mistake("23P01")
    confirm(world, room_id, stay, world.clock, reservation_id=reservation_id, ref=ref)


def confirm(world, room, stay, held_since, **more):
    world.stays_made += 1
    world.fence.confirmed.append(
        Confirmed(StayId(world.stays_made), room, stay, held_since, **more))


def find(world, stay_id):
    return next((c for c in world.fence.confirmed if c.number == stay_id), None)


def move_stay(world, stay_id, room_id=None, stay=None):
    if stay is not None:
        check_stay(stay)
    found = find(world, stay_id)
    if found is None:
        return [{"granted": False, "outcome": "not_found", "taken": []} | dict.fromkeys(
            ("room_id", "stay", "expires_at", "version", "retry_at"))]
    room, stay = room_id or found.room, stay or found.stay
    way = in_the_way(world, room, stay, but=found)
    outcome = _judge_move(world, found, room, stay, way)
    if outcome == "changed":
        _move(world, found, room, stay)
    row = _grant_row(world, None, room, stay, way, outcome)
    return [row | {"version": found.version}]


def _judge_move(world, found, room, stay, way):
    if way:
        return "stay_taken"
    if room == found.room:
        return "renewed" if stay == found.stay else "changed"
    if found.token is not None and (
            own_live(world, found.token, room) or own_confirmed(world, found.token, room)):
        return "blocked"
    return "changed"


def _move(world, found, room, stay):
    if found.token is not None:
        _leave(world, found)
        if not counts_in(world, found.token, room):
            _visit(world, found, room)
    found.version += 1
    found.left |= {found.room}
    found.room, found.stay = room, stay


def _leave(world, found):
    """What its room will tell once the stay has been given up."""
    claim = memory_in(world, found.token, found.room).claim
    claim.pieces, claim.version, claim.payload = [found.stay], found.version, found.payload
    claim.ref, claim.reservation_id = found.ref, found.reservation_id


def _visit(world, found, room):
    """What the token had in the room before is history."""
    claim = StayClaim(ZERO, 0, found.held_since, visited=True)
    claim.end("consumed", world.clock)
    memory = world.fence.room_memories[found.token].setdefault(room, RoomMemory(claim))
    memory.claim, memory.ever_consumed = claim, True
    memory.reservation_id, memory.payload = found.reservation_id, found.payload


def counts_in(world, token, room):
    """Is one of the token's confirmed stays there, or was on its way?"""
    return any(c.token == token and room in c.left | {c.room} for c in world.fence.confirmed)


def own_confirmed(world, token, room):
    return [c for c in world.fence.confirmed if c.token == token and c.room == room]


def cancel_stay(world, stay_id):
    found = find(world, stay_id)
    if found is None:
        return False
    _give_up(world, found)
    return True


def _give_up(world, found):
    """All rooms where it was may be claimed afresh, but for other stays of its token."""
    world.fence.confirmed.remove(found)
    if found.token is None:
        return
    _leave(world, found)
    for room in found.left | {found.room}:
        if not counts_in(world, found.token, room):
            claim = memory_in(world, found.token, room).claim
            claim.ended, claim.ended_at = "returned", world.clock


# What hold_consume and its kin do with a stay.


def fits_late(world, token, room, claim):
    return not any(in_the_way(world, room.number, piece, token) for piece in claim.pieces)


def consume_one(world, token, room, memory, call):
    claim = memory.claim
    row = row_of(world, room, memory, "consumed") | {
        "consumed": claim.held, "held": ZERO, "at": world.clock,
        "reservation_id": call["reservation_id"]}
    if claim.expired(world.clock):
        claim.held_since = world.clock  # claimed anew
    for piece in claim.pieces:
        confirm(world, room.number, piece, claim.held_since, token=token,
                reservation_id=call["reservation_id"], ref=call["ref"],
                version=claim.version, payload=claim.payload)
    memory.ever_consumed = True
    memory.reservation_id, memory.payload = call["reservation_id"], claim.payload
    claim.ref, claim.reservation_id = call["ref"], call["reservation_id"]
    claim.end("consumed", world.clock)
    claim.last = row
    if call["ref"] is not None:
        memory.captures[call["ref"]] = row
    return row


def row_of(world, room, memory, outcome):
    """The row of a stay to which nothing happens."""
    claim = memory.claim
    if outcome == "already_consumed":
        return claim.last | {"outcome": outcome}
    at = claim.expires_at if outcome == "expired" else claim.ended_at
    return {
        "outcome": outcome, "pool": None, "qty": claim.held,
        "consumed": ZERO, "refunded": ZERO,
        "held": claim.held if claim.live(world.clock) else ZERO,
        "at": world.clock if claim.live(world.clock) or outcome == "blocked" else at,
        "payload": claim.payload, "room_id": room.number, "stay": claim.hull,
        "reservation_id": None}


def give_back(world, token, room, memory):
    claim = memory.claim
    own = own_confirmed(world, token, room.number)
    for found in own:
        _give_up(world, found)
    if own:
        claim.pieces = sorted(c.stay for c in own)
    row = row_of(world, room, memory, "returned")
    return row | {
        "qty": row["held"], "refunded": count(c.stay for c in own), "at": world.clock,
        "reservation_id": memory.reservation_id, "payload": memory.payload}


def state_rows(world, token, room, memory):
    """Rows of hold_get: one a piece of what is held or confirmed."""
    claim = memory.claim
    row = {"kind": "stay", "pool": None, "pool_id": None, "generation": 1, "qty": ZERO,
           "consumed": ZERO, "version": claim.version, "payload": claim.payload,
           "expires_at": claim.expires_at, "ref": claim.ref, "room_id": room.number,
           "reservation_id": claim.reservation_id}
    if claim.ended == "consumed":
        own = own_confirmed(world, token, room.number)
        return [row | {"state": "consumed", "consumed": count([c.stay]), "stay": c.stay,
                       "version": c.version, "expires_at": None, "payload": c.payload,
                       "ref": c.ref, "reservation_id": c.reservation_id}
                for c in sorted(own, key=lambda c: c.stay)]
    if claim.live(world.clock):
        return [row | {"state": "granted", "stay": piece, "qty": count([piece])}
                for piece in claim.pieces]
    until = None if claim.ended == "returned" else claim.expires_at
    return [row | {"state": claim.ended or "expired", "stay": claim.hull, "expires_at": until}]


def stays(world):
    """Rows of hold_stays; what has expired may be there or not."""
    rows = [
        {"stay_id": c.number, "room_id": c.room, "stay": c.stay,
         "reservation_id": c.reservation_id, "ref": c.ref, "state": "confirmed",
         "expires_at": None, "version": c.version, "held_since": c.held_since,
         "token": c.token, "payload": c.payload}
        for c in world.fence.confirmed]
    for token, found in world.fence.room_memories.items():
        for room, memory in found.items():
            if memory.claim.live(world.clock):
                rows += [_held_row(token, room, memory.claim, p) for p in memory.claim.pieces]
    return sorted(rows, key=lambda row: (row["room_id"], row["stay"]))


def _held_row(token, room, claim, piece):
    return {"room_id": room, "stay": piece, "reservation_id": None, "ref": None,
            "state": "held", "expires_at": claim.expires_at, "version": claim.version,
            "held_since": claim.held_since, "token": token, "payload": claim.payload}
