"""The reference model: hold_try and its kin, and hold_renew."""

import copy
from dataclasses import dataclass
from decimal import Decimal

from ledger import DEFAULT_TTL, ZERO, Claim, Memory, Mistake, Pool, check_qty, check_ttl
import rooms
from settling import all_or_none, how_it_ended, number_rows

GRANTS = ("granted", "renewed", "changed")


@dataclass
class Line:
    """All that one request wants of one pool."""

    pool: Pool
    qty: Decimal = ZERO
    budget: Decimal | None = None
    outcome: str | None = None
    judged: bool = False  # by the room that there is
    available: Decimal | None = None
    retry_at: int | None = None


def try_hold(world, token, pool, qty=Decimal(1), ttl=None, budget=None, payload=None):
    return try_lines(world, token, [(pool, qty, budget)], ttl, False, payload)


def try_lines(world, token, lines, ttl=None, replace=False, payload=None):
    """Rows of hold_grant, one a line: all that was asked for, or nothing."""
    check_ttl(ttl)
    if not lines:
        raise Mistake("22023")
    for _, qty, _ in lines:
        check_qty(qty)
    before = (copy.deepcopy(world.fence.pools), world.made)
    wanted = _sum_lines(world, lines)
    for line in wanted.values():
        _judge(world, token, line)
    granted = all(line.outcome in GRANTS for line in wanted.values())
    if granted:
        if replace:
            _release_others(world, token, wanted)
        until = world.clock + (ttl or _shortest_ttl(world, wanted.values()))
        for line in wanted.values():
            _take(world, token, line, until, payload)
    rows = [
        _grant_row(world, token, number, wanted[pool], qty, granted)
        for number, (pool, qty, _) in enumerate(lines, 1)
    ]
    if not granted:
        world.fence.pools, world.made = before
    return rows


def _sum_lines(world, lines):
    wanted = {}
    for name, qty, budget in lines:
        line = wanted.setdefault(name, Line(None))
        line.qty += qty
        if budget is not None:
            line.budget = budget if line.budget is None else min(line.budget, budget)
    for name in sorted(wanted):
        wanted[name].pool = _find_or_make(world, name, wanted[name].budget)
    return wanted


def _find_or_make(world, name, budget):
    known = world.known(name)
    if known:
        return known
    if world.would_make(name):
        return world.make_by_class(name)
    if budget is None:
        raise Mistake("42704")
    return world.make_pool(name, None)


def _judge(world, token, line):
    pool = line.pool
    memory = world.memory(token, pool)
    own = memory.claim if memory and memory.claim.live(world.clock) else None
    if memory and memory.consumed > 0 and own is None:
        line.outcome = "already_consumed"
    elif pool.closed:
        line.outcome = "closed"
    elif world.lease_over(pool) or (own and own.generation < pool.generation):
        line.outcome = "pool_expired"
    elif own and line.qty <= own.held:
        line.outcome = "renewed" if line.qty == own.held else "changed"
    else:
        _judge_room(world, token, line, own)


def _judge_room(world, token, line, own):
    room = world.room_for(line.pool, line.budget, but_of=token)
    if room is None:
        raise Mistake("22004")
    line.judged = True
    if line.qty <= room:
        line.outcome = "changed" if own else "granted"
        return
    line.outcome = "insufficient"
    line.available = max(own.held if own else ZERO, room)
    line.retry_at = _next_expiry(world, line.pool, token)


def _next_expiry(world, pool, but_of):
    times = [c.expires_at for token, c in world.claims_in(pool) if token != but_of]
    return min(times, default=None)


def _shortest_ttl(world, lines):
    """All lines of a call share one: that of the class that allows the least."""
    ttls = [world.class_of(line.pool).ttl for line in lines]
    return min(filter(None, ttls), default=DEFAULT_TTL)


def _take(world, token, line, until, payload):
    pool = line.pool
    memory = world.memory(token, pool)
    if memory and memory.claim.live(world.clock):
        claim = memory.claim
        claim.held = line.qty
        claim.version += 1
        claim.expires_at = max(claim.expires_at, until)
        claim.payload = claim.payload if payload is None else payload
        return
    claim = Claim(line.qty, until, world.clock, pool.generation, payload=payload)
    if memory:
        memory.claim = claim
    else:
        world.fence.memories.setdefault(token, {})[pool.name] = Memory(claim)


def _release_others(world, token, wanted):
    for pool, memory in world.memories_of(token):
        if pool.name not in wanted and memory.claim.live(world.clock):
            memory.claim.end("released", world.clock)


def _grant_row(world, token, number, line, qty, granted):
    memory = world.memory(token, line.pool)
    live = memory is not None and memory.claim.live(world.clock)
    outcome = line.outcome
    if outcome in GRANTS and not granted:
        outcome = "blocked"
    available = line.available
    if available is None and (line.judged or not world.asks(line.pool)):
        available = world.available(line.pool, line.budget)
    return {
        "granted": granted,
        "outcome": outcome,
        "line": number,
        "pool": line.pool.name,
        "qty": qty,
        "available": available,
        "expires_at": memory.claim.expires_at if live else None,
        "version": memory.claim.version if live else None,
        "retry_at": line.retry_at,
    }


def try_batch(world, requests):
    """Each request alone, in their order; a mistake in one is one of all."""
    for _, _, qty, ttl, _, _ in requests:
        check_ttl(ttl)
        check_qty(qty)
    before = set(world.fence.pools)
    rows = []
    for number, request in enumerate(requests, 1):
        try:
            [row] = try_hold(world, *request)
        except Mistake as mistake:
            raise _known_by_now(world, mistake, request, requests[number:]) from None
        rows.append(row | {"line": number})
    made = sorted(world.fence.pools.keys() - before)
    numbers = sorted(world.fence.pools[name].number for name in made)
    for name, number in zip(made, numbers):
        world.fence.pools[name].number = number
    return rows


def _known_by_now(world, mistake, request, later):
    """Pools are made before the first request is judged: what is missing is the budget."""
    made = world.class_for(request[1]) is None and any(name == request[1] and budget is not None and qty <= budget
               for _, name, qty, _, budget, _ in later)
    return Mistake("22004") if mistake.sqlstate == "42704" and made else mistake


def renew(world, token, ttl=None):
    """Rows of hold_grant, one a hold: all that is live is extended, or nothing."""
    check_ttl(ttl)
    found = world.memories_of(token) + rooms.claimed_by(world, token)
    outcomes = [_renewal(world, pool, memory) for pool, memory in found]
    if not all_or_none(world, found, outcomes):
        for (_, memory), outcome in zip(found, outcomes):
            if outcome == "renewed":
                until = world.clock + (ttl or DEFAULT_TTL)
                memory.claim.version += 1
                memory.claim.expires_at = max(memory.claim.expires_at, until)
    rows = [_renew_row(world, *pair, outcome) for pair, outcome in zip(found, outcomes)]
    return number_rows(rows or [_renew_row(world, None, None, "not_found")])


def _renewal(world, pool, memory):
    claim = memory.claim
    if not claim.live(world.clock):
        return how_it_ended(claim)
    if isinstance(pool, rooms.Room):
        return "renewed"
    if pool.closed:
        return "closed"
    if world.lease_over(pool) or claim.generation < pool.generation:
        return "pool_expired"
    return "renewed"


def _renew_row(world, pool, memory, outcome):
    live = memory is not None and memory.claim.live(world.clock)
    if isinstance(pool, rooms.Room):
        pool = None
    return {
        "granted": outcome == "renewed",
        "outcome": outcome,
        "pool": pool and pool.name,
        "qty": memory.claim.held if live else None,
        "available": world.available(pool) if pool and not world.asks(pool) else None,
        "expires_at": memory.claim.expires_at if live else None,
        "version": memory.claim.version if live else None,
        "retry_at": None,
    }
