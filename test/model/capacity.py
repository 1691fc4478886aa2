"""The reference model: the operator's verbs."""

from ledger import ZERO, Mistake, PoolClass, check_ttl


def pool_set(world, pool, capacity, expires_at=None, stripes=None):
    if capacity is not None and capacity < 0:
        raise Mistake("22023")
    check_stripes(stripes)
    found = world.known(pool)
    if found is None:
        found = world.make_pool(pool, capacity)
    elif found.capacity is not None and capacity is None:
        raise Mistake("22004")
    found.capacity = capacity
    if expires_at is not None:
        found.expires_at = None if expires_at == "infinity" else expires_at
    if stripes is not None:
        found.stripes = stripes
    return found.number


def pool_add(world, pool, delta, ref=None):
    found = world.pool(pool)
    if found.capacity is None:
        raise Mistake("55000")
    if ref is not None and ref in found.refs:
        return found.capacity
    if found.capacity + delta < 0:
        raise Mistake("22023")
    found.capacity += delta
    if ref is not None:
        found.refs.add(ref)
    return found.capacity


def pool_close(world, pool):
    return _set_closed(world.pool(pool), True)


def pool_open(world, pool):
    return _set_closed(world.pool(pool), False)


def _set_closed(pool, closed):
    changed = pool.closed != closed
    pool.closed = closed
    return changed


def pool_drop(world, pool):
    found = world.pool(pool)
    if any(world.claims_in(found, any_generation=True)):
        raise Mistake("55006")
    found.dropped = True


def pool_renew(world, pool, capacity, expires_at):
    """Starts the next generation; a retry finds the one that it started."""
    found = world.pool(pool)
    check_capacity(capacity)
    if expires_at is None:
        raise Mistake("22004")
    end = None if expires_at == "infinity" else expires_at
    leases = found.leases | {found.expires_at: (found.generation, found.capacity)}
    if end in leases:
        generation, same = leases[end]
        if capacity != same:
            raise Mistake("22023")
        return generation
    if end is not None and end <= world.clock:
        raise Mistake("22023")
    found.generation += 1
    found.capacity, found.expires_at, found.consumed = capacity, end, ZERO
    found.leases[end] = found.generation, capacity
    return found.generation


def check_capacity(capacity):
    if capacity is None:
        raise Mistake("22004")
    if capacity < 0:
        raise Mistake("22023")


def check_stripes(stripes):
    if stripes is not None and not 0 <= stripes <= 64:
        raise Mistake("22023")


def class_set(world, prefix, capacity=None, ttl=None, stripes=None, asks=False):
    check_ttl(ttl)
    check_stripes(stripes)
    if asks and capacity is not None:
        raise Mistake("22023")
    world.fence.classes[prefix] = PoolClass(capacity, ttl, stripes, asks)


def stock_set(world, pool, total=None):
    """Not a verb: the table that capacity_from reads."""
    world.fence.stock[pool] = total
