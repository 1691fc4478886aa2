"""The reference model: how holds end, and how what was consumed comes back."""

import rooms
from ledger import ZERO, Mistake, check_qty
from rooms import Room


def consume(world, token, pool=None, qty=None, final=True, ref=None, late=False,
            reservation_id=None):
    """Rows of hold_settlement, one a hold; without a pool all or none."""
    _check_consume(qty, final, ref)
    found = _find(world, token, pool)
    if not final and pool is None:
        found = _of_call(found, lambda memory: ref in memory.captures)
    call = {"qty": qty, "final": final, "ref": ref, "reservation_id": reservation_id}
    present = present_claims(world, found)
    outcomes = [
        _consumption(world, token, p, m, late and not lapsed_before(m.claim, present), qty, ref)
        for p, m in found]
    _check_stays(found, outcomes, call)
    if qty is not None and outcomes.count("consumed") > 1:
        raise Mistake("22023")
    all_or_none(world, found, outcomes)
    rows = [
        _consume_one(world, token, p, m, call) if outcome == "consumed"
        else m.captures[ref] | {"outcome": "already_consumed"} if outcome == "repeated"
        else _row(world, p, m, outcome)
        for (p, m), outcome in zip(found, outcomes)
    ]
    return number_rows(rows or [not_found(pool)])


def _check_consume(qty, final, ref):
    if qty is not None:
        check_qty(qty, zero=final)
    if not final and ref is None:
        raise Mistake("22004")


def _check_stays(found, outcomes, call):
    """A stay is confirmed for something, and as a whole."""
    if any(isinstance(p, Room) and o == "consumed" for (p, _), o in zip(found, outcomes)):
        if call["qty"] is not None:
            raise Mistake("22023")
        if call["ref"] is None and call["reservation_id"] is None:
            raise Mistake("22004")


def _find(world, token, name, in_rooms=rooms.claimed_by):
    """(pool, memory) of what the token has, or has had, there or everywhere."""
    if name is None:
        return world.memories_of(token) + in_rooms(world, token)
    if world.would_make(name):
        return []
    pool = world.pool(name)
    memory = world.memory(token, pool)
    return [(pool, memory)] if memory else []


def _consumption(world, token, pool, memory, late, qty, ref):
    claim = memory.claim
    if ref is not None and ref in memory.captures:
        return "repeated"
    if claim.live(world.clock):
        return "consumed"
    if late and claim.expired(world.clock) and _fits_late(world, token, pool, claim, qty):
        return "consumed"
    return how_it_ended(claim)


def _fits_late(world, token, pool, claim, qty):
    if isinstance(pool, Room):
        return rooms.fits_late(world, token, pool, claim)
    if pool.closed or world.lease_over(pool) or claim.generation < pool.generation:
        return False
    room = world.room_for(pool)
    return room is not None and claim.held.min(claim.held if qty is None else qty) <= room


def how_it_ended(claim):
    """What a hold that is no longer live says to everybody who comes after."""
    if claim.ended is None:
        return "expired"
    if claim.ended == "returned":
        return "returned"
    return "already_" + claim.ended


def all_or_none(world, found, outcomes):
    """Blocks those that could, if one stands in their way; did it?

    What is closed or past its lease does, and so does what expired while it was
    held together with a live hold.  What lapsed before is history.
    """
    present = present_claims(world, found)
    blocked = any(
        outcome in ("closed", "pool_expired") or
        outcome == "expired" and not lapsed_before(memory.claim, present)
        for (_, memory), outcome in zip(found, outcomes))
    if blocked:
        outcomes[:] = ["blocked" if o in ("renewed", "consumed") else o for o in outcomes]
    return blocked


def _of_call(found, knows):
    """A call whose ref is known repeats the first, and is about nothing later."""
    return [pair for pair in found if knows(pair[1])] or found


def present_claims(world, found):
    """The live holds; or, if there is none, the one that ended or lapsed last."""
    claims = [memory.claim for _, memory in found]
    live = [claim for claim in claims if claim.live(world.clock)]
    return live or sorted(claims, key=_ended_at)[-1:]


def _ended_at(claim):
    """When it lapsed or was settled; a return later on changes nothing about that."""
    if claim.ended is None:
        return claim.expires_at, False
    return claim.last["at"] if claim.last else claim.ended_at, True


def lapsed_before(claim, present):
    """Was its time over before any of those was made?"""
    return bool(present) and all(claim.expires_at <= other.held_since for other in present)


def _consume_one(world, token, pool, memory, call):
    if isinstance(pool, Room):
        return rooms.consume_one(world, token, pool, memory, call)
    claim = memory.claim
    if claim.expired(world.clock):
        # what is taken late is claimed anew, and no more than that
        claim.version += 1
        claim.held = min(claim.held, call["qty"] or claim.held)
    held = claim.held
    taken = held if call["qty"] is None else min(held, call["qty"])
    left = ZERO if call["final"] else held - taken
    row = _row(world, pool, memory, "consumed" if taken else "released") | {
        "qty": held, "consumed": taken, "refunded": held - taken - left, "held": left,
        "at": world.clock, "reservation_id": call["reservation_id"]}
    memory.consumed += taken
    memory.ever_consumed |= taken > 0
    memory.reservation_id, memory.payload = call["reservation_id"], claim.payload
    if claim.generation == pool.generation:
        pool.consumed += taken
    claim.held = left
    claim.ref, claim.reservation_id = call["ref"], call["reservation_id"]
    if left == 0:
        claim.end(row["outcome"], world.clock)
    claim.last = row
    if call["ref"] is not None:
        memory.captures[call["ref"]] = row
    return row


def _row(world, pool, memory, outcome):
    """The row of a hold to which nothing happens."""
    if isinstance(pool, Room):
        return rooms.row_of(world, pool, memory, outcome)
    claim = memory.claim
    if outcome == "already_consumed":
        return claim.last | {"outcome": outcome}
    at = claim.expires_at if outcome == "expired" else claim.ended_at
    return {
        "outcome": outcome, "pool": pool.name, "qty": claim.held,
        "consumed": ZERO, "refunded": ZERO,
        "held": claim.held if claim.live(world.clock) else ZERO,
        "at": world.clock if claim.live(world.clock) or outcome == "blocked" else at,
        "payload": claim.payload, "room_id": None, "stay": None, "reservation_id": None}


def not_found(pool):
    empty = dict.fromkeys(("qty", "consumed", "refunded", "held", "at", "payload",
                           "room_id", "stay", "reservation_id"))
    return {"outcome": "not_found", "pool": pool} | empty


def number_rows(rows):
    return [row | {"line": number} for number, row in enumerate(rows, 1)]


def consume_batch(world, tokens, qtys=None, refs=None):
    rows = []
    for number, token in enumerate(tokens, 1):
        qty = qtys[number - 1] if qtys else None
        ref = refs[number - 1] if refs else None
        rows += [row | {"line": number} for row in consume(world, token, None, qty, True, ref)]
    return rows


def release(world, token, pool=None):
    found = _find(world, token, pool)
    rows = [_release_one(world, p, m) for p, m in found]
    return number_rows(rows or [not_found(pool)])


def _release_one(world, pool, memory):
    claim = memory.claim
    if not claim.live(world.clock):
        return _row(world, pool, memory, how_it_ended(claim))
    row = _row(world, pool, memory, "released") | {
        "refunded": claim.held, "held": ZERO, "at": world.clock}
    claim.end("released", world.clock)
    return row


def give_back(world, token, pool=None, qty=None, ref=None):
    """hold_return: consumed units go back, no more than were consumed."""
    if qty is not None:
        check_qty(qty)
        if ref is None:
            raise Mistake("22004")
    found = [(p, m) for p, m in _find(world, token, pool, rooms.memories_of) if m.ever_consumed]
    if ref is not None and pool is None:
        found = _of_call(found, lambda memory: ref in memory.returns)
    in_rooms = any(isinstance(p, Room) for p, _ in found)
    if qty is not None and (in_rooms or sum(m.consumed > 0 for _, m in found) > 1):
        raise Mistake("22023")
    rows = [_return_one(world, token, p, m, qty, ref) for p, m in found]
    return number_rows(rows or [not_found(pool)])


def _return_one(world, token, pool, memory, qty, ref):
    claim = memory.claim
    if ref is not None and ref in memory.returns:
        return memory.returns[ref]
    if isinstance(pool, Room):
        row = rooms.give_back(world, token, pool, memory)
        return memory.returns.setdefault(ref, row) if ref is not None else row
    back = memory.consumed if qty is None else min(qty, memory.consumed)
    memory.consumed -= back
    if claim.generation == pool.generation:
        pool.consumed -= back
    if claim.ended is not None and back:
        claim.ended = "consumed" if memory.consumed else "returned"
        claim.ended_at = world.clock
    row = _row(world, pool, memory, "returned")
    row |= {
        "qty": row["held"],
        "refunded": back, "at": world.clock,
        "reservation_id": memory.reservation_id, "payload": memory.payload}
    if ref is not None:
        memory.returns[ref] = row
    return row


def get(world, token):
    """Rows of hold_get, without their order."""
    rows = [_state_row(world, p, m) for p, m in world.memories_of(token)]
    for room, memory in rooms.memories_of(world, token):
        rows += rooms.state_rows(world, token, room, memory)
    return rows


def _state_row(world, pool, memory):
    claim = memory.claim
    live = claim.live(world.clock)
    return {
        "kind": "pool", "pool": pool.name, "pool_id": pool.number,
        "generation": claim.generation, "qty": claim.held if live else ZERO,
        "consumed": memory.consumed,
        "state": "granted" if live else claim.ended or "expired",
        "expires_at": claim.expires_at, "version": claim.version,
        "payload": claim.payload, "ref": claim.ref,
        "room_id": None, "stay": None,
        "reservation_id": claim.reservation_id if claim.ended == "consumed" else None}
