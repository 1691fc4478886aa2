"""Holds of cart lines on the stock of a warehouse, for one org."""

import json
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple


class Held(NamedTuple):
    """A line that is held; ref, warehouse and item name it."""
    warehouse: str
    item: str
    qty: Decimal
    expires_at: datetime
    remaining: Decimal | None = None    # what is left of the item, where hold() answers


class Refused(Exception):
    """Nothing was changed; the outcome is mostly "insufficient"."""

    def __init__(self, outcome, item, asked, available):
        super().__init__(f"{item}: asked for {asked}, {outcome}, available {available}")
        self.outcome = outcome
        self.item = item
        self.asked = asked
        self.available = available


def pool_of(warehouse, item):
    return "stock:" + json.dumps([warehouse, item], separators=(",", ":"), ensure_ascii=False)


def parts_of(pool):
    return json.loads(pool.removeprefix("stock:"))


class Stock:
    def __init__(self, connection, org):
        self.connection = connection
        self.org = org

    @contextmanager
    def transaction(self):
        """For what shall commit together with the calls below."""
        with self.connection.transaction():
            self.connection.execute("SELECT set_config('hold_ledger.tenant', %s, true)", [self.org])
            yield self.connection

    def ask(self, query, *values):
        with self.transaction() as connection:
            return connection.execute(query, values).fetchall()

    def hold(self, ref, warehouse, lines, expires_at):
        """Holds the lines, (item, qty) each, in place of what the ref held before: all of
        them, or Refused."""
        if not lines:
            raise ValueError("there are no lines to hold")
        if any(qty <= 0 for _, qty in lines):
            raise ValueError("a line must ask for more than zero")
        grants = self.ask(
            # a line that is just renewed is granted without a look at what is left
            "SELECT granted, outcome, pool, qty, COALESCE(available, hold_available(pool)), expires_at"
            " FROM hold_try_lines(%s, hold_lines(%s, %s::numeric[]),"
            "     ttl => %s - clock_timestamp(), replace => true)",
            ref, [pool_of(warehouse, item) for item, _ in lines], [qty for _, qty in lines],
            expires_at)
        refuse_if_refused(grants)
        return [Held(*parts_of(pool), qty, until, remaining)
                for _, _, pool, qty, remaining, until in grants]

    def release(self, ref):
        """Gives back what the ref holds; how many lines that were."""
        return self.count("released", "SELECT outcome FROM hold_release(%s)", ref)

    def consume(self, ref):
        """Ends the holds of the ref, as the stock moves take over in this transaction; how
        many lines that were, 0 when asked again. Refused, if one has expired."""
        rows = self.ask("SELECT outcome, pool, qty FROM hold_consume(%s)", ref)
        for outcome, pool, qty in rows:
            if outcome == "expired":
                raise Refused(outcome, parts_of(pool)[1], qty, None)
        return sum(outcome == "consumed" for outcome, _, _ in rows)

    def held_for_ref(self, ref):
        rows = self.ask(
            "SELECT pool, qty, expires_at FROM hold_get(%s) WHERE state = 'granted'"
            " ORDER BY pool", ref)
        return [Held(*parts_of(pool), qty, until) for pool, qty, until in rows]

    def sweep_expired(self, limit):
        """Tidies up, of all orgs; call it until it says 0. Needs the level "operator"."""
        return self.ask("SELECT hold_sweep(%s)", limit)[0][0]

    def count(self, wanted, query, ref):
        return sum(outcome == wanted for outcome, in self.ask(query, ref))


def refuse_if_refused(grants):
    """Names the line that stands in the way; lines of one item are one."""
    for granted, outcome, pool, _, available, _ in grants:
        if not granted and outcome != "blocked":
            asked = sum(qty for _, _, other, qty, _, _ in grants if other == pool)
            raise Refused(outcome, parts_of(pool)[1], asked, available)
