"""The driver: each step is done by the server and by the model, and compared."""

import copy
from itertools import zip_longest

import commands
import reading
from ledger import Mistake, PoolId, StayId, World
from server import QUERY, call, expected


class Disagreement(AssertionError):
    """Says what the server was told, and where it and the model differ."""


class Comparison:
    """The server's world, and the model's, which must never differ."""

    def __init__(self, server, name):
        self.server = server
        self.name = name
        self.world = World()
        self.saved = []  # the worlds to which a rollback would lead
        self.ids = {}  # (PoolId or StayId, the model's number): the server's
        self.server.begin_test()
        self.enter("a")

    def step(self, command):
        name, arguments = command
        if name == "advance":
            self.advance(arguments)
        elif name == "tenant":
            self.enter(arguments)
        elif name == "transaction":
            if self.server.has_transactions:
                self.transact(arguments)
        else:
            self.call(name, arguments)
        self.compare_everything()

    def advance(self, minutes):
        self.world.clock += minutes
        self.server.move_clock(f"{self.world.clock} min")

    def enter(self, tenant):
        self.world.tenant = tenant
        self.server.run(f"SET hold_ledger.tenant = '{self.name}{tenant}'")

    def transact(self, word):
        """Does what fits the present state; the model keeps copies of its world."""
        depth = len(self.saved)
        if word == "BEGIN" and depth == 0 or word == "SAVEPOINT" and 0 < depth < 4:
            self.saved.append(copy.deepcopy(self.world))
            self.server.run(word if depth == 0 else f"SAVEPOINT s{depth}")
        elif word == "ROLLBACK TO" and depth > 1:
            self.restore(copy.deepcopy(self.saved[-1]))
            self.server.run(f"ROLLBACK TO s{depth - 1}")
        elif word in ("ROLLBACK", "COMMIT") and depth > 0:
            if word == "ROLLBACK":
                self.restore(self.saved[0])
            self.saved = []
            self.server.run(word)

    def restore(self, world):
        self.world = world
        made = {PoolId: world.made, StayId: world.stays_made}
        self.ids = {key: id for key, id in self.ids.items() if key[1] <= made[key[0]]}

    def call(self, name, arguments):
        if "stay_id" in arguments:
            arguments = self.choose_stay(arguments)
        before = copy.deepcopy(self.world)
        try:
            wanted = commands.VERBS[name](self.world, **arguments)
            wanted = wanted if isinstance(wanted, list) else ["" if wanted is None else wanted]
        except Mistake as mistake:
            self.world = before
            wanted = mistake.sqlstate
        if "stay_id" in arguments:
            known = self.ids.get((StayId, arguments["stay_id"]), 0)
            arguments = arguments | {"stay_id": int(known)}
        self.compare(wanted, self.answer(call(name, arguments)))

    def choose_stay(self, arguments):
        """A number that was drawn means one of the stays that are there."""
        there = sorted(self.world.fence.confirmed, key=lambda c: (c.room, c.stay))
        chosen = there[arguments["stay_id"]:][:1]
        return arguments | {"stay_id": chosen[0].number if chosen else StayId(0)}

    def answer(self, source):
        """The server's rows or SQLSTATE; an error does not end the transaction."""
        if self.saved:
            self.server.run("SAVEPOINT step")
        found = self.server.answer(source)
        if self.saved:
            self.server.run("ROLLBACK TO step" if isinstance(found, str) else "RELEASE step")
        return found

    def compare_everything(self):
        wanted = reading.everything(self.world, commands.POOLS, commands.TOKENS)
        self.compare(wanted, self.server.look(commands.look_at_everything(wanted)))

    def compare(self, wanted, found):
        wanted = self.same_ids(expected(wanted), found)
        differences = list(differ("", wanted, found))
        if differences:
            raise Disagreement("\n".join(["", *self.server.script, *differences]))

    def same_ids(self, wanted, found):
        """The model's answer, with the ids that the server gave its pools."""
        if isinstance(wanted, (PoolId, StayId)):
            return self.ids.setdefault((type(wanted), wanted), found)
        if isinstance(wanted, list) and isinstance(found, list):
            return [self.same_ids(*pair) for pair in zip_longest(wanted, found)]
        if isinstance(wanted, dict) and isinstance(found, dict):
            return {key: self.same_ids(value, found.get(key)) for key, value in wanted.items()}
        return wanted

    def end(self):
        """Leaves nothing that a sweep of a later test could find."""
        self.clear()
        self.compare([0], self.server.look(QUERY.format("hold_sweep()")))

    def clear(self):
        if self.saved:
            self.server.run("ROLLBACK")
        self.server.move_clock("3650 d")
        self.server.run("DO 'BEGIN PERFORM hold_sweep(100000); END'")
        self.server.move_clock("0")


def differ(where, wanted, found):
    """Lines that tell what is not as it should be."""
    if isinstance(wanted, dict) and isinstance(found, dict) and wanted.keys() == found.keys():
        for key in wanted:
            yield from differ(f"{where}.{key}", wanted[key], found[key])
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, pair in enumerate(zip(wanted, found)):
            yield from differ(f"{where}[{number}]", *pair)
    elif not wanted == found:
        yield f"-- {where.lstrip('.') or 'answer'}: model {wanted!r}, server {found!r}"
