"""The reference model: what readers and views show of the current tenant."""

from decimal import Decimal

from ledger import ZERO, Mistake, Undetermined
import rooms
import settling


def available(world, pool):
    """hold_available: also of a pool that a class would make."""
    found = world.known(pool)
    if found:
        return world.available(found)
    if world.would_make(pool):
        kind = world.fence.classes[world.class_for(pool)]
        if kind.asks:
            return max(ZERO, world.told(pool))
        return kind.capacity
    raise Mistake("42704")


def count(world, pool):
    found = world.known(pool)
    if found:
        return len(list(world.claims_in(found, any_generation=True)))
    if world.would_make(pool):
        return 0
    raise Mistake("42704")


def available_many(world, pools):
    return [_available_row(world, pool) for pool in pools]


def _available_row(world, pool):
    found = world.known(pool)
    if not _answers(world, pool):
        return {"pool": pool, "available": None, "held": None, "closed": None}
    free = available(world, pool)
    return {"pool": pool, "available": free,
            "held": world.held(found) if found else ZERO,
            "closed": found.closed if found else False}


def pool_status(world):
    pools = [p for p in world.fence.pools.values() if not p.dropped]
    return [_status_row(world, p) for p in sorted(pools, key=lambda p: p.name)]


def _status_row(world, pool):
    claims = [claim for _, claim in world.claims_in(pool, any_generation=True)]
    return {
        "pool": pool.name, "pool_id": pool.number, "capacity": pool.capacity,
        "consumed": pool.consumed, "held": world.held(pool),
        "expired": _expired(world, pool),
        "available": None if pool.capacity is None else world.available(pool),
        "holds": len(claims),
        "next_expiry": min((c.expires_at for c in claims), default=None),
        "expires_at": pool.expires_at, "closed": pool.closed,
        "generation": pool.generation, "stripes": pool.stripes}


def _expired(world, pool):
    """What is past its time and not settled: at most all that was not swept."""
    claims = [found[pool.name].claim for found in world.fence.memories.values()
              if pool.name in found]
    most = sum((c.held for c in claims if c.expired(world.clock) and not c.swept
                and c.generation == pool.generation), ZERO)
    return Undetermined(lambda found: 0 <= Decimal(found) <= most)


def live_holds(world):
    return [
        {"token": token, "pool": name, "qty": memory.claim.held,
         "expires_at": memory.claim.expires_at, "version": memory.claim.version,
         "payload": memory.claim.payload, "held_since": memory.claim.held_since}
        for token, found in sorted(world.fence.memories.items())
        for name, memory in sorted(found.items())
        if memory.claim.live(world.clock)]


def sweep(world, batch=1000):
    """How many: those that were in a call's way may have gone before."""
    if batch is None:
        raise Mistake("22004")
    if batch < 0:
        raise Mistake("22023")
    waiting = [c for fence in world.fences.values() for c in fence.claims()
               if c.expired(world.clock) and not c.swept]
    rows = sum(claim.rows for claim in waiting)
    if batch > rows:
        for claim in waiting:
            claim.swept = True
    return Undetermined(lambda found: 0 <= int(found) <= min(batch, rows))


def everything(world, pools, tokens):
    """What one look at all that can be read shows."""
    known = [p for p in pools if _answers(world, p)]
    return {
        "status": pool_status(world),
        "live_holds": live_holds(world),
        "many": available_many(world, pools),
        "available": {p: available(world, p) for p in known},
        "count": {p: count(world, p) for p in known},
        "stays": rooms.stays(world),
        "get": {t: settling.get(world, t) for t in tokens},
        "verify": [],
    }


def _answers(world, pool):
    try:
        available(world, pool)
    except Mistake:
        return False
    return True
