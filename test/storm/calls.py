"""Draws calls at random, and says them as SQL."""

from datetime import date, datetime, timedelta, timezone

from record import UNIT, Call, now

DAY = date(2031, 1, 1)
ROOMS = range(1, 5)
NIGHTS = 12
LONE = ("a", "b", "moved")  # counted, of one row: a transaction of many calls keeps to one
COUNTED = (*LONE, "door", "lease", "wide", "hot", "show:1", "show:2")
OUTSIDE = ("outside", "outside_wide")
BUDGET = 8
CLASS = 4  # capacity of pools that are made by their first hold
# At times all want the same: else no adaptive pool would split, and nobody would meet
# at a budget.
RUSHES = {1: "hot", 3: "outside_wide"}
REQUEST = ("token", "pool", "qty", "ttl", "budget", "payload")
ARRAYS = {"tokens": "text[]", "refs": "text[]", "room_ids": "bigint[]"}


def nights(stay):
    first, departure = (DAY + timedelta(days=n) for n in stay)
    return f"[{first},{departure})"


def literal(name, value):
    """An argument as SQL; its name tells what kind it is."""
    if value is None:
        return "NULL"
    if name in ("lines", "requests"):
        kind = {"lines": "hold_line", "requests": "hold_request"}[name]
        return f"ARRAY[{', '.join(map(composite, value))}]::{kind}[]"
    if name == "expires_at":
        return f"'{datetime.fromtimestamp(value / UNIT, timezone.utc).isoformat()}'"
    if name in ("stay", "nights"):
        return f"'{nights(value)}'"
    if name == "ttl":
        return f"'{value} us'"
    if name in ARRAYS:
        return f"ARRAY[{', '.join(literal(None, v) for v in value)}]::{ARRAYS[name]}"
    return str(value).lower() if isinstance(value, (bool, int)) else f"'{value}'"


def composite(fields):
    return f"ROW({', '.join(literal(name, value) for name, value in fields.items())})"


def statement(call, mark=None):
    """The call as SQL, with the mark of its transaction if it is one by itself."""
    given = {name: literal(name, value) for name, value in call.args.items()}
    marking = "WITH mark AS (INSERT INTO marks VALUES ('{}', {})) ".format(*mark) if mark else ""
    if call.verb == "insert":
        return f"{marking}INSERT INTO room_stays ({', '.join(given)}) VALUES ({', '.join(given.values())})"
    arguments = ", ".join(f"{name} => {value}" for name, value in given.items())
    if call.verb == "hold_sweep_all":
        return f"CALL hold_sweep_all({arguments})"
    return f"{marking}SELECT to_jsonb(a) FROM {call.verb}({arguments}) AS a"


class Draw:
    """Calls that meet each other: on few pools and rooms, with tokens of the moment."""

    def __init__(self, random, began, often=None):
        self.random = random
        self.began = began
        self.verbs = list(VERBS)
        self.weights = [OFTEN if verb.__name__ == often else weight
                        for verb, weight in VERBS.items()]

    def call(self):
        rush = RUSHES.get((now() - self.began) // UNIT % 4)
        if rush and self.random.random() < 0.5:
            verb, args = self.hold()
            return Call(verb, args | {"pool": rush, "qty": 1, "budget": self.budget(rush)})
        drawn = self.random.choices(self.verbs, self.weights)[0]
        return Call(*drawn(self))

    def call_in(self, pool):
        """A call that touches no other pool."""
        drawn = self.random.choice([Draw.hold, Draw.hold, Draw.consume, Draw.capture,
                                    Draw.release, Draw.give_back, Draw.available])
        verb, args = drawn(self)
        return Call(verb, args | {"pool": pool})

    def token(self, kind="t"):
        age = self.random.randrange(25)
        return f"{kind}{max(0, (now() - self.began) * 10 // UNIT - age)}"

    def any_token(self):
        return self.token(self.random.choice("tm"))

    def ttl(self):
        return int(self.random.choice((5, 30, 200, 2000)) * 1000 * self.random.uniform(0.5, 1))

    def token_and_pool(self):
        """Most often the token's usual pool, so that what it does has to do with it."""
        token = self.token()
        pools = (*COUNTED, "hot", "wide", *OUTSIDE)
        usual = pools[int(token[1:]) % len(pools)]
        pool = usual if self.random.random() < 0.6 else self.random.choice(pools)
        return {"token": token, "pool": pool}

    def room(self):
        return self.random.choice(ROOMS)

    def stay(self):
        first = self.random.randrange(NIGHTS)
        return first, first + self.random.randint(1, 4)

    def line(self, pool):
        budget = BUDGET if self.random.random() < 0.1 else self.budget(pool)
        return {"pool": pool, "qty": self.random.randint(1, 3), "budget": budget}

    @staticmethod
    def budget(pool):
        return BUDGET if pool in OUTSIDE else None

    def hold(self):
        chosen = self.token_and_pool()
        return "hold_try", chosen | {"ttl": self.ttl()} | self.line(chosen["pool"])

    def hold_outside(self):
        return "hold_try", {"token": self.token(), "pool": "outside_wide", "qty": 1,
                            "ttl": self.ttl(), "budget": BUDGET}

    def hold_lines(self):
        pools = self.random.choices((*COUNTED, *OUTSIDE), k=self.random.randint(1, 4))
        return "hold_try_lines", {
            "token": self.any_token(), "lines": [self.line(pool) for pool in pools],
            "ttl": self.ttl(), "replace": self.random.random() < 0.3}

    def hold_batch(self):
        holds = (self.hold()[1] for _ in range(4))
        requests = {hold["token"]: hold for hold in holds}.values()  # each token once
        return "hold_try_batch", {"requests": [
            {name: r.get(name) for name in REQUEST} for r in requests]}

    def renew(self):
        return "hold_renew", {"token": self.any_token(), "ttl": self.ttl()}

    def consume(self):
        return "hold_consume", self.token_and_pool() | {
            "qty": self.random.choice((None, None, 0, 1)), "late": self.random.random() < 0.3}

    def capture(self):
        return "hold_consume", self.token_and_pool() | {
            "qty": 1, "final": False, "ref": f"r{self.random.randrange(2)}"}

    def consume_all(self):
        return "hold_consume", {"token": self.any_token(), "ref": f"all{self.random.randrange(9)}",
                                "late": self.random.random() < 0.4, "reservation_id": 77}

    def consume_batch(self):
        tokens = sorted({self.any_token() for _ in range(3)})
        return "hold_consume_batch", {
            "tokens": tokens, "refs": [f"batch{self.random.randrange(9)}" for _ in tokens]}

    def release(self):
        return "hold_release", self.token_and_pool()

    def release_all(self):
        return "hold_release", {"token": self.any_token()}

    def give_back(self):
        some = self.random.random() < 0.5
        return "hold_return", self.token_and_pool() | {
            "qty": 1 if some else None,
            "ref": f"back{self.random.randrange(3)}" if some else None}

    def give_back_all(self):
        return "hold_return", {"token": self.any_token()}

    def hold_room(self):
        return "hold_try_stay", {"token": self.token("m"), "room_id": self.room(),
                                 "stay": self.stay(), "ttl": self.ttl()}

    def hold_rooms(self):
        return "hold_try_stays", {"token": self.token("m"), "room_ids": self.random.sample(ROOMS, 2),
                                  "stay": self.stay(), "ttl": self.ttl()}

    def release_room(self):
        return "hold_release_stay", {"token": self.token("m"), "room_id": self.room(),
                                     "nights": self.random.choice((None, self.stay()))}

    def insert(self):
        return "insert", {"room_id": self.room(), "stay": self.stay(), "reservation_id": 5}

    def move(self):
        return "hold_move_stay", {"stay_id": None, "room_id": self.random.choice((None, self.room())),
                                  "stay": self.random.choice((None, self.stay()))}

    def cancel(self):
        return "hold_cancel_stay", {"stay_id": None}

    def sweep(self):
        return "hold_sweep", {"batch": self.random.randint(1, 10)}

    def sweep_all(self):
        return "hold_sweep_all", {"batch": 5, "max_batches": 3}

    def set_capacity(self):
        pool, low, high = self.random.choice((("moved", 6, 16), ("wide", 16, 32)))
        return "hold_pool_set", {"pool": pool, "capacity": self.random.randint(low, high)}

    def add_capacity(self):
        ref = f"{(now() - self.began) // UNIT}.{self.random.randrange(4)}"
        return "hold_pool_add", {"pool": self.random.choice(("moved", "wide")),
                                 "delta": self.random.choice((-1, 1, 2)), "ref": ref}

    def resize(self):
        return "hold_pool_set", {"pool": "wide", "capacity": 24,
                                 "stripes": self.random.choice((2, 4))}

    def open(self):
        return "hold_pool_open", {"pool": "door"}

    def close(self):
        return "hold_pool_close", {"pool": "door"}

    def renew_lease(self):
        return "hold_pool_renew", {"pool": "lease", "capacity": 9,
                                   "expires_at": now() + self.random.randint(3, 15) * UNIT // 10}

    def drop(self):
        return "hold_pool_drop", {"pool": "show:2"}

    def available(self):
        return "hold_available", {"pool": self.random.choice(COUNTED)}

    def verify(self):
        return "hold_verify", {}


OFTEN = 90  # weight of what is wanted more often
VERBS = {
    Draw.hold: 30, Draw.hold_outside: 3, Draw.hold_lines: 10, Draw.hold_batch: 4,
    Draw.renew: 6, Draw.consume: 12,
    Draw.capture: 14, Draw.consume_all: 5, Draw.consume_batch: 2, Draw.release: 5,
    Draw.release_all: 3, Draw.give_back: 8, Draw.give_back_all: 4, Draw.hold_room: 10,
    Draw.hold_rooms: 3, Draw.release_room: 4, Draw.insert: 2, Draw.move: 4, Draw.cancel: 4,
    Draw.sweep: 2, Draw.sweep_all: 0.5, Draw.set_capacity: 1, Draw.add_capacity: 2,
    Draw.resize: 0.5, Draw.open: 3, Draw.close: 1, Draw.renew_lease: 1, Draw.drop: 0.5,
    Draw.available: 4, Draw.verify: 0.1,
}
