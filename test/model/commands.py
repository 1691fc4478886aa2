"""The driver: which commands there are, and how hypothesis picks them."""

import os
from decimal import Decimal

from hypothesis import strategies as st

import capacity
import holding
import reading
import rooms
import settling

# SQL function: what the model does for it
VERBS = {
    "hold_pool_set": capacity.pool_set,
    "hold_pool_add": capacity.pool_add,
    "hold_pool_close": capacity.pool_close,
    "hold_pool_open": capacity.pool_open,
    "hold_pool_drop": capacity.pool_drop,
    "hold_pool_renew": capacity.pool_renew,
    "hold_class_set": capacity.class_set,
    "hold_try": holding.try_hold,
    "hold_try_lines": holding.try_lines,
    "hold_try_batch": holding.try_batch,
    "hold_renew": holding.renew,
    "hold_consume": settling.consume,
    "hold_consume_batch": settling.consume_batch,
    "hold_release": settling.release,
    "hold_return": settling.give_back,
    "hold_sweep": reading.sweep,
    "stock_set": capacity.stock_set,
    "hold_try_stay": rooms.try_stay,
    "hold_try_stays": rooms.try_stays,
    "hold_release_stay": rooms.release_stay,
    "hold_move_stay": rooms.move_stay,
    "hold_cancel_stay": rooms.cancel_stay,
    "insert_stay": rooms.insert_stay,
}

# what all names of tokens, pools and classes begin with
KEY = os.environ.get("MODEL_KEY", "")


def named(*names):
    return [KEY + name for name in names]


POOLS = named("a", "b", "k:1", "x", "f:1", "k:1:2")
TOKENS = named("t", "u", "v")
pools = st.sampled_from(named("a", "a", "a", "b", "b", "k:1", "x", "f:1", "k:1:2"))
tokens = st.sampled_from(TOKENS)
refs = st.sampled_from(["r", "s"])
numbers = ["1", "2", "3", "0.5", "2.5", "0.333333", "0.000001", "4", "6", "10"]
quantities = st.sampled_from([Decimal(n) for n in numbers])
# now and then a mistake
odd_quantities = st.sampled_from([Decimal(n) for n in numbers * 3 + ["0", "-1", "0.0000001"]])
capacities = st.sampled_from([Decimal(n) for n in ("10", "10", "5", "7.25", "2", "0")])
stripes = st.sampled_from([1, 4, 4, 0] * 3 + [16, 64, 65])
ends = st.sampled_from([1, 5, 20, 40, 60, "infinity"])
ttls = st.sampled_from([None, None, 1, 2, 5, 20] * 4 + [0, 20000])
payloads = st.sampled_from([None, None, 1, 2])
budgets = st.sampled_from([None, None, None] + [Decimal(n) for n in ("5", "3", "8", "0", "-1")])


def mixed(strategies):
    """One of these; what is listed twice comes twice as often."""
    return st.integers(0, len(strategies) - 1).flatmap(strategies.__getitem__)


def often(strategy):
    return mixed([strategy, strategy, st.none()])


def seldom(strategy):
    return mixed([st.none(), st.none(), strategy])


class Verb:
    """Makes calls of what was drawn; what is NULL is left to its default."""

    def __init__(self, name):
        self.name = name

    def __call__(self, given):
        return self.name, {k: v for k, v in given.items() if v is not None}


def verb(name, **arguments):
    return st.fixed_dictionaries(arguments).map(Verb(name))


def just(name, **arguments):
    return st.just((name, arguments))


def either(name, values):
    return st.sampled_from([(name, value) for value in values])


lines = st.lists(st.tuples(pools, quantities, budgets), min_size=1, max_size=3)
requests = st.lists(
    st.tuples(tokens, pools, quantities, ttls, budgets, payloads),
    min_size=1, max_size=4)
batches = st.lists(st.tuples(tokens, seldom(quantities), seldom(refs)), min_size=1, max_size=3)
yes = seldom(st.just(True))
deltas = st.sampled_from([Decimal(n) for n in ("1", "-1", "2.5", "-5", "0")])


def columns(rows):
    names = ("tokens", "qtys", "refs")
    return "hold_consume_batch", dict(zip(names, map(list, zip(*rows))))


HOLDING = [
    verb("hold_pool_set", pool=pools, capacity=capacities, expires_at=seldom(ends)),
    verb("hold_try", token=tokens, pool=pools, qty=odd_quantities, ttl=ttls,
         budget=budgets, payload=payloads),
    verb("hold_try", token=tokens, pool=pools, qty=quantities, ttl=ttls),
    verb("hold_try", token=tokens, pool=pools, qty=quantities, budget=budgets),
    verb("hold_try_lines", token=tokens, lines=lines, ttl=ttls, replace=yes, payload=payloads),
    verb("hold_try_lines", token=tokens, lines=lines),
    verb("hold_try_batch", requests=requests),
    verb("hold_renew", token=tokens, ttl=ttls),
]
SETTLING = [
    verb("hold_consume", token=tokens, pool=often(pools), qty=seldom(odd_quantities),
         late=yes, ref=seldom(refs)),
    verb("hold_consume", token=tokens, pool=seldom(pools), qty=often(quantities),
         final=st.just(False), ref=often(refs), late=yes),
    verb("hold_consume", token=tokens, pool=pools, qty=quantities, final=st.just(False), ref=refs),
    verb("hold_consume", token=tokens, late=yes),
    st.builds(columns, batches),
    verb("hold_release", token=tokens, pool=seldom(pools)),
    verb("hold_return", token=tokens, pool=seldom(pools)),
    verb("hold_return", token=tokens, pool=often(pools), qty=odd_quantities, ref=often(refs)),
]
OPERATING = [
    verb("hold_pool_set", pool=pools, capacity=capacities, expires_at=seldom(ends)),
    verb("hold_pool_set", pool=pools, capacity=capacities, stripes=stripes),
    verb("hold_pool_set", pool=pools, capacity=capacities, stripes=stripes),
    st.one_of([just("hold_pool_set", pool=pool, capacity=None) for pool in POOLS]),
    verb("hold_pool_add", pool=pools, delta=deltas, ref=seldom(refs)),
    verb("hold_pool_close", pool=pools),
    verb("hold_pool_open", pool=pools),
    verb("hold_pool_drop", pool=pools),
    verb("hold_pool_renew", pool=pools, capacity=capacities, expires_at=ends),
    verb("hold_class_set", prefix=st.sampled_from(named("k", "k:1", "f")),
         capacity=often(capacities), ttl=seldom(ttls), stripes=seldom(stripes)),
    verb("hold_class_set", prefix=st.just(KEY + "f"), asks=st.just(True), stripes=seldom(stripes)),
    verb("stock_set", pool=st.just(KEY + "f:1"), total=often(st.one_of(capacities, budgets))),
    verb("hold_sweep", batch=st.sampled_from([1, 1000, 0, -1])),
]
room_ids = st.sampled_from([1, 1, 2, 3])
stays = st.sampled_from([(0, 2), (0, 4), (2, 4), (1, 3), (2, 6), (3, 4), (1, 2)])
odd_stays = st.sampled_from([(0, 4), (2, 4), (1, 3), (0, 4), (2, 4), (1, 3), (2, 2), (0, 400)])
which = st.integers(0, 3)
STAYING = [
    verb("hold_try_stay", token=tokens, room_id=room_ids, stay=stays, ttl=ttls, payload=payloads),
    verb("hold_try_stay", token=tokens, room_id=room_ids, stay=odd_stays),
    verb("hold_try_stays", token=tokens, stay=stays,
         room_ids=st.sampled_from([[1, 2], [2, 1], [1], [2, 2]]), ttl=ttls),
    verb("hold_release_stay", token=tokens, room_id=room_ids, nights=seldom(odd_stays)),
    verb("hold_release_stay", token=tokens, room_id=room_ids, nights=stays),
    verb("hold_move_stay", stay_id=which, room_id=seldom(room_ids), stay=often(odd_stays)),
    verb("hold_cancel_stay", stay_id=which),
    verb("insert_stay", room_id=room_ids, stay=odd_stays, reservation_id=often(st.just(5)),
         ref=seldom(refs)),
    verb("hold_consume", token=tokens, reservation_id=often(st.just(7)), late=yes,
         ref=seldom(refs)),
    verb("hold_consume", token=tokens, reservation_id=st.just(7), late=yes),
    verb("hold_renew", token=tokens, ttl=ttls),
    verb("hold_release", token=tokens),
    verb("hold_return", token=tokens),
]
reservations = st.sampled_from([7, 8])
# one token's way from room to room, in pieces; another is in its way
guests = st.sampled_from(named("t", "t", "t", "u"))
doors = st.sampled_from([1, 2, 3])
long_stays = st.sampled_from([(0, 4), (0, 6), (1, 5), (2, 4)])
MOVING = [
    verb("hold_try_stay", token=guests, room_id=doors, stay=long_stays, ttl=ttls, payload=payloads),
    verb("hold_try_stay", token=guests, room_id=doors, stay=long_stays),
    verb("hold_release_stay", token=guests, room_id=doors,
         nights=st.sampled_from([(1, 2), (2, 3), (3, 4)])),
    verb("hold_consume", token=guests, reservation_id=reservations, late=yes, ref=seldom(refs)),
    verb("hold_consume", token=guests, reservation_id=reservations, late=yes),
    verb("hold_consume", token=guests, ref=refs),
    verb("hold_move_stay", stay_id=which, room_id=doors),
    verb("hold_move_stay", stay_id=which, room_id=doors),
    verb("hold_move_stay", stay_id=which, room_id=often(doors), stay=seldom(long_stays)),
    verb("hold_cancel_stay", stay_id=which),
    verb("hold_return", token=guests, ref=seldom(refs)),
    verb("hold_release", token=guests),
    verb("hold_renew", token=guests, ttl=ttls),
    verb("insert_stay", room_id=doors, stay=st.sampled_from([(2, 3), (5, 7)]), ref=refs),
    verb("hold_sweep", batch=st.sampled_from([1, 1000])),
]
FEW_POOLS = [
    verb("hold_try", token=tokens, pool=st.just(KEY + "x"), qty=quantities, ttl=ttls),
    just("hold_pool_set", pool=KEY + "x", capacity=Decimal(10)),
    verb("hold_sweep", batch=st.sampled_from([1, 1000])),
]
PASSING = [
    either("advance", [1, 2, 5, 10, 30]),
    either("transaction", ["BEGIN", "BEGIN", "SAVEPOINT", "ROLLBACK TO", "ROLLBACK", "COMMIT"]),
]
SWITCHING = [either("tenant", "ab")]

POOL_COMMANDS = mixed(2 * HOLDING + SETTLING + OPERATING + 5 * PASSING)
ROOM_COMMANDS = mixed(2 * STAYING + FEW_POOLS + 4 * PASSING)
MOVE_COMMANDS = mixed(MOVING + 2 * PASSING)
COMMANDS = mixed(2 * HOLDING + SETTLING + OPERATING + STAYING + 6 * PASSING + SWITCHING)
KINDS = (POOL_COMMANDS, ROOM_COMMANDS, MOVE_COMMANDS, COMMANDS)


def look_at_everything(wanted):
    """One query for all that can be read; each part in the model's order."""
    parts = {
        "status": "(SELECT coalesce(json_agg(s ORDER BY pool), '[]') FROM hold_pool_status s)",
        "live_holds": "(SELECT coalesce(json_agg(h ORDER BY token, pool), '[]')"
                      " FROM live_holds h)",
        "stays": "(SELECT coalesce(json_agg(to_jsonb(s) - CASE state WHEN 'held'"
                 " THEN 'stay_id' ELSE '' END ORDER BY room_id, stay), '[]')"
                 " FROM hold_stays s WHERE state <> 'expired')",
        "many": "(SELECT json_agg(m) FROM hold_available_many(ARRAY['{}']) m)".format(
            "','".join(POOLS)),
        "available": _object(wanted["available"], "hold_available('{}')"),
        "count": _object(wanted["count"], "hold_count('{}')"),
        "get": _object(wanted["get"],
                       "(SELECT coalesce(json_agg(g ORDER BY kind, pool_id, room_id, stay), '[]')"
                       " FROM hold_get('{}') g)"),
        "verify": "(SELECT coalesce(json_agg(v), '[]') FROM hold_verify() v)",
    }
    return "SELECT json_build_object({})::text".format(
        ", ".join(f"'{key}', {part}" for key, part in parts.items()))


def _object(keys, part):
    return "json_build_object({})".format(
        ", ".join(f"'{key}', {part.format(key)}" for key in keys))
