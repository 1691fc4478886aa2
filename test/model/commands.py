"""The driver: which commands there are, and how hypothesis picks them."""

from decimal import Decimal

from hypothesis import strategies as st

import capacity
import holding
import reading
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
}

POOLS = ["a", "b", "k:1", "x", "f:1", "k:1:2"]
TOKENS = ["t", "u", "v"]
pools = st.sampled_from(["a", "a", "a", "b", "b", "k:1", "x", "f:1", "k:1:2"])
tokens = st.sampled_from(TOKENS)
refs = st.sampled_from(["r", "s"])
numbers = ["1", "2", "3", "0.5", "2.5", "0.333333", "0.000001", "4", "6", "10"]
quantities = st.sampled_from([Decimal(n) for n in numbers])
# now and then a mistake
odd_quantities = st.sampled_from([Decimal(n) for n in numbers * 3 + ["0", "-1", "0.0000001"]])
capacities = st.sampled_from([Decimal(n) for n in ("10", "10", "5", "7.25", "2", "0")])
ends = st.sampled_from([1, 5, 20, 40, 60, "infinity"])
ttls = st.sampled_from([None, None, 1, 2, 5, 20] * 4 + [0, 20000])
payloads = st.sampled_from([None, None, 1, 2])
budgets = st.sampled_from([None, None, None] + [Decimal(n) for n in ("5", "3", "8", "0", "-1")])


def often(strategy):
    return st.one_of(strategy, strategy, st.none())


def seldom(strategy):
    return st.one_of(st.none(), st.none(), strategy)


def verb(name, **arguments):
    """A call; what is None is left out, so that the default is tried."""
    return st.fixed_dictionaries(arguments).map(
        lambda given: (name, {k: v for k, v in given.items() if v is not None}))


lines = st.lists(st.tuples(pools, quantities, budgets), min_size=1, max_size=3)
requests = st.lists(
    st.tuples(tokens, pools, quantities, ttls, budgets, payloads), min_size=1, max_size=4)

pool_set = verb("hold_pool_set", pool=pools, capacity=capacities, expires_at=seldom(ends))
try_one = verb("hold_try", token=tokens, pool=pools, qty=odd_quantities, ttl=ttls,
               budget=budgets, payload=payloads)
consume = verb("hold_consume", token=tokens, pool=often(pools), qty=seldom(odd_quantities),
               late=seldom(st.just(True)), ref=seldom(refs))
advance = st.sampled_from([1, 2, 5, 10, 30]).map(lambda n: ("advance", n))

CORE = [
    pool_set, pool_set, try_one, try_one, try_one, try_one, consume, consume,
    verb("hold_release", token=tokens, pool=seldom(pools)),
    verb("hold_sweep", batch=st.sampled_from([1, 1000, 0, -1])),
    advance,
    st.sampled_from(["BEGIN", "SAVEPOINT", "ROLLBACK TO", "ROLLBACK", "COMMIT"])
    .map(lambda word: ("transaction", word)),
]
CORE_COMMANDS = st.one_of(CORE)


def look_at_everything(wanted):
    """One query for all that can be read; each part in the model's order."""
    parts = {
        "status": "(SELECT coalesce(json_agg(s ORDER BY pool), '[]') FROM hold_pool_status s)",
        "live_holds": "(SELECT coalesce(json_agg(h ORDER BY token, pool), '[]')"
                      " FROM live_holds h)",
        "many": "(SELECT json_agg(m) FROM hold_available_many('{}') m)".format(
            "{" + ",".join(POOLS) + "}"),
        "available": _object(wanted["available"], "hold_available('{}')"),
        "count": _object(wanted["count"], "hold_count('{}')"),
        "get": _object(wanted["get"],
                       "(SELECT coalesce(json_agg(g), '[]') FROM hold_get('{}') g)"),
        "verify": "(SELECT coalesce(json_agg(v), '[]') FROM hold_verify() v)",
    }
    return "SELECT json_build_object({})::text".format(
        ", ".join(f"'{key}', {part}" for key, part in parts.items()))


def _object(keys, part):
    return "json_build_object({})".format(
        ", ".join(f"'{key}', {part.format(key)}" for key in keys))
