"""Is each answer what the ledger explains, at the moment of its call?

What a call wrote must be what it answered, to the unit; nothing may be left
over.  Where it wrote nothing, a state in which the answer was right must have
been there to be seen between the question and the answer.
"""

from collections import defaultdict
from datetime import date, datetime

from calls import CLASS, DAY
from ledger import State
from record import UNIT
from tokens import millionths

GRANTS = ("granted", "renewed", "changed")
SETTLEMENTS = ("consumed", "released", "returned")


def moment(text):
    if text is None:
        return None
    found = datetime.fromisoformat(text)
    return int(found.timestamp()) * UNIT + found.microsecond


class Unexplained(Exception):
    """An answer that cannot be."""


def need(condition, what):
    if not condition:
        raise Unexplained(what)


class Explanation:
    """One call's answer, and what of its entries has not been told yet."""

    def __init__(self, ledger, tokens, transaction, call):
        self.ledger = ledger
        self.tokens = tokens
        self.transaction = transaction
        self.call = call
        self.args = call.args
        self.left = list(call.entries)

    def check(self):
        EXPLAIN[self.call.verb](self)
        self.check_rest()

    def check_rest(self):
        """Nothing but the expiry of holds, and capacity that moves between rows."""
        moved = defaultdict(int)
        for entry in self.left:
            if entry.event == "capacity" and not entry.row.is_room:
                moved[entry.row.name] += entry.qty
                continue
            need(entry.event in ("expired", "opened"), f"it does not tell of {entry}")
        for name, units in moved.items():
            made = any(e.row.of_class for e in self.left if e.row.name == name)
            need(units == 0 or made, f"{units} of {name} came from nowhere")

    def take(self, place, events, token):
        """The entries of those kinds, which the answer is to tell."""
        found = [e for e in self.left
                 if e.row.place == place and e.event in events and e.token == token]
        self.left = [e for e in self.left if e not in found]
        return found

    def possible(self, token, place):
        return self.tokens.in_place(token, place).possible(self.call, self.transaction)

    def says(self, token, place):
        """All that the token's standing there may have answered."""
        return {standing.says(clock) for _, standing in self.possible(token, place)
                for clock in (self.call.start, self.call.end)}

    def states(self, row, since=None):
        """The states in which the row may have been seen, this call's own included."""
        seen = row.timeline.possible(self.call, self.transaction, since)
        own = [e for e in self.call.entries if e.row is row]
        unmade = State(capacity=UNIT * CLASS if row.of_class else None)
        return [entry.after if entry else unmade for entry in [*seen, *own]]

    def states_of(self, place):
        return [state for row in self.ledger.rows_of(place) for state in self.states(row)]

    # Holding.

    def hold(self):
        [row] = self.call.rows
        self.explain_lines(self.args["token"], [row], [self.args])

    def hold_lines(self):
        rows = self.call.rows
        need(len(rows) == len(self.args["lines"]), "a line has no answer")
        need(len({row["granted"] for row in rows}) == 1, "some lines are granted and some not")
        self.explain_lines(self.args["token"], rows, self.args["lines"])
        if rows[0]["granted"] and self.args["replace"]:
            self.left = [e for e in self.left
                         if e.event != "released" or e.token != self.args["token"]]

    def hold_batch(self):
        need(len(self.call.rows) == len(self.args["requests"]), "a request has no answer")
        for row, request in zip(self.call.rows, self.args["requests"]):
            self.explain_lines(request["token"], [row], [request], request["ttl"])

    def explain_lines(self, token, rows, lines, ttl=None):
        wanted, budgets = defaultdict(int), defaultdict(list)
        for line in lines:
            wanted[line["pool"]] += UNIT * line["qty"]
            if line["budget"] is not None:
                budgets[line["pool"]].append(UNIT * line["budget"])
        for row in rows:
            pool = row["pool"]
            budget = min(budgets[pool], default=None)
            if row["granted"]:
                self.explain_grant(token, row, wanted, budget, ttl or self.args["ttl"])
            else:
                self.explain_refusal(token, row, rows, wanted[pool], budget)

    def explain_grant(self, token, row, wanted, budget, ttl):
        pool = row["pool"]
        if pool not in wanted:
            return  # lines of one pool are one hold
        qty = wanted.pop(pool)
        need(row["outcome"] in GRANTS, "a grant that is none")
        found = self.take(pool, [row["outcome"]], token)
        need(len(found) == 1, f"{row['outcome']} in {pool}, but the ledger has {len(found)}")
        [entry] = found
        need(entry.qty == qty, f"{entry} is not of {qty / UNIT:g}")
        history = self.tokens.in_place(token, pool)
        self.check_deadline(row, entry, history.before[entry], ttl)
        need(row["version"] == history.after[entry].version, f"version of {entry}")
        self.check_budget(token, entry, budget)
        self.check_available(row, entry, budget)

    def check_deadline(self, row, entry, before, ttl):
        need(moment(row["expires_at"]) == entry.expires_at, f"expires_at of {entry}")
        if entry.event != "granted" and entry.expires_at == before.until:
            return
        clock = entry.expires_at - ttl
        need(self.call.start <= clock <= entry.at, f"{entry} is not held from its own moment on")

    def check_budget(self, token, entry, budget):
        """At that moment, in all rows of the pool, others hold no more than the rest."""
        if budget is None or entry.event == "renewed":
            return
        before = self.tokens.in_place(token, entry.row.place).before[entry]
        if entry.event == "changed" and entry.qty <= before.held:
            return
        others = sum(self.state_at(row, entry).live(entry.at, token)
                     for row in self.ledger.rows_of(entry.row.place))
        need(others + entry.qty <= budget,
             f"{entry} beside {others / UNIT:g} passes the budget of {budget / UNIT:g}")

    def state_at(self, row, entry):
        """How another row of the pool was then: what this call did before is told by now."""
        if row is entry.row:
            return entry.after
        earlier = [e for e in row.entries if (e not in self.left if e.call is self.call
                                              else e.at < entry.at)]
        return earlier[-1].after if earlier else State()

    def check_available(self, row, entry, budget):
        """What is left, where one row tells it all."""
        if len(self.ledger.rows_of(entry.row.place)) > 1 or budget is not None:
            return
        last = [e for e in self.call.entries if e.row is entry.row][-1]
        if self.call.verb == "hold_try_batch":
            last = entry
        left = last.after.room(entry.at)
        need(millionths(row["available"]) == max(0, left),
             f"{entry} leaves {left / UNIT:g}, not {row['available']}")

    def explain_refusal(self, token, row, rows, qty, budget):
        outcome, pool = row["outcome"], row["pool"]
        if outcome == "blocked":
            need(any(r["outcome"] not in ("blocked", *GRANTS) for r in rows), "nothing blocks it")
        elif outcome == "already_consumed":
            need(any(s.taken and (not s.held or s.until <= self.call.end)
                     for _, s in self.possible(token, pool)), f"it was not consumed in {pool}")
        elif outcome == "closed":
            need(any(s.closed for s in self.states_of(pool)), f"{pool} was open")
        elif outcome == "pool_expired":
            need(self.lease_was_over(token, pool), f"the lease of {pool} was not over")
        else:
            need(outcome == "insufficient", f"{outcome} is no answer to that")
            self.explain_want(token, row, qty, budget)

    def lease_was_over(self, token, pool):
        return any(s.lease_end <= self.call.end or
                   token in s.claims and s.claims[token].generation < s.generation
                   for s in self.states_of(pool))

    def explain_want(self, token, row, qty, budget):
        """There may have been less than what was asked for."""
        rows = [self.states(r) for r in self.ledger.rows_of(row["pool"])]
        start = self.call.start
        least = sum(min(s.room(start, token) for s in states) for states in rows)
        others = sum(max(s.live(start, token) for s in states) for states in rows)
        if budget is not None:
            least = min(least, budget - others)
        need(least < qty, f"{row['pool']} had {least / UNIT:g} or more")
        if len(rows) == 1 and budget is None:
            self.check_left(row, rows[0], token)

    def check_left(self, row, states, token):
        said = millionths(row["available"])
        rooms = {max(0, s.room(clock, token)) for s in states for clock in self.clocks(s)}
        own = {c.qty for s in states for t, c in s.claims.items() if t == token}
        need(said in rooms | own, f"{row['pool']} never had {row['available']}: {rooms | own}")

    def clocks(self, state):
        """Moments of the call between which nothing expired."""
        ends = (c.until for c in state.claims.values() if c.until is not None)
        return [self.call.start, *(e for e in ends if self.call.start < e <= self.call.end)]

    def renew(self):
        token = self.args["token"]
        for row in self.call.rows:
            if row["pool"] is None and row["outcome"] in ("renewed", "blocked", "expired"):
                continue  # a room: it does not say which
            if row["outcome"] == "renewed":
                found = self.take(row["pool"], ["renewed"], token)
                need(len(found) == 1, f"renewed in {row['pool']}, but the ledger is silent")
                need(moment(row["expires_at"]) == found[0].expires_at, f"expires_at of {found[0]}")
            elif row["pool"] is not None:
                self.explain_unrenewed(token, row)
        for room in self.rooms_of(token):
            self.take(room, ["renewed"], token)
        self.check_all_or_none("renewed", ("expired", "closed", "pool_expired"))

    def explain_unrenewed(self, token, row):
        outcome, pool = row["outcome"], row["pool"]
        if outcome == "closed":
            need(any(s.closed for s in self.states_of(pool)), f"{pool} was open")
        elif outcome == "pool_expired":
            need(self.lease_was_over(token, pool), f"the lease of {pool} was not over")
        else:
            wanted = "live" if outcome == "blocked" else outcome
            need(wanted in self.says(token, pool), f"{token} was not {wanted} in {pool}")

    def rooms_of(self, token):
        return [place for place in self.tokens.of(token) if isinstance(place, int)]

    def check_all_or_none(self, done, obstacles):
        outcomes = [row["outcome"] for row in self.call.rows]
        if "blocked" in outcomes:
            need(done not in outcomes, "some are blocked and some not")
            need(set(obstacles) & set(outcomes), "nothing blocks them")

    # Settling.

    def consume(self):
        self.settle(self.args["token"], self.call.rows)
        self.check_all_or_none("consumed", ("expired",))

    def settle_all(self):
        self.settle(self.args["token"], self.call.rows)

    def consume_batch(self):
        for number, token in enumerate(self.args["tokens"], 1):
            rows = [row for row in self.call.rows if row["line"] == number]
            self.settle(token, rows, self.args["refs"][number - 1])

    def settle(self, token, rows, ref=None):
        need(rows, "no row at all")
        ref = ref or self.args.get("ref")
        for row in rows:
            self.explain_settlement(token, row, ref)
        if self.args.get("pool") is None and self.call.verb != "hold_return":
            for place in self.tokens.of(token).keys() - {self.place(row) for row in rows}:
                need(not self.must_be_told(token, place, ref), f"it does not tell of {place}")

    def must_be_told(self, token, place, ref):
        """It was live there all the time, and the call is not one that is repeated."""
        if self.may_be_dropped(place) or ref is not None and any(
                e.ref == ref for e in self.tokens.in_place(token, place).entries):
            return False
        return all(s.says(clock) == "live" for _, s in self.possible(token, place)
                   for clock in (self.call.start, self.call.end))

    @staticmethod
    def may_be_dropped(place):
        return place == "show:2"

    @staticmethod
    def place(row):
        return row["pool"] if row["room_id"] is None else row["room_id"]

    def explain_settlement(self, token, row, ref):
        place, outcome = self.place(row), row["outcome"]
        given = self.take(place, ["released"], token) if outcome != "returned" else []
        taken = self.take(place, ["consumed"], token)
        back = self.take(place, ["returned"], token)
        late = self.take(place, ["granted"], token)
        need(not late or taken and self.args.get("late"), f"a grant in {place}")
        if outcome in SETTLEMENTS and (given or taken or back):
            self.check_figures(row, given, taken, back)
        elif outcome == "returned":
            self.explain_returned(token, row, ref)
        else:
            need(not given and not taken and not back, f"{outcome}, but the ledger tells more")
            self.explain_settled(token, row, ref)

    def check_figures(self, row, given, taken, back):
        told = given + taken + back
        consumed = sum(e.qty for e in taken)
        refunded = sum(e.qty for e in given + back)
        what = f"{self.place(row)}: {', '.join(map(str, told))}"
        need(row["outcome"] == ("returned" if back else "consumed" if taken else "released"), what)
        need(millionths(row["consumed"]) == consumed, f"consumed of {what}")
        need(millionths(row["refunded"]) == refunded, f"refunded of {what}")
        need(moment(row["at"]) in {e.at for e in told} or back, f"at of {what}")
        if not back:
            left = self.tokens.in_place(told[0].token, self.place(row)).after[told[-1]].held
            need(millionths(row["held"]) == left, f"held of {what}")
            need(millionths(row["qty"]) == consumed + refunded + left, f"qty of {what}")

    def explain_returned(self, token, row, ref):
        """Nothing was left to return, or it is told once more."""
        place = self.place(row)
        history = self.tokens.in_place(token, place)
        possible = self.possible(token, place)
        if ref is not None and self.call.verb == "hold_return":
            qty = sum(e.qty for e in history.entries if e.event == "returned" and e.ref == ref)
            need(millionths(row["refunded"]) == qty, f"{ref} gave back {qty / UNIT:g} in {place}")
            return
        need(row["refunded"] == 0 and row["consumed"] == 0, f"{place} tells of nothing")
        need(any(s.taken == 0 for _, s in possible), f"{token} has something in {place}")

    def explain_settled(self, token, row, ref):
        place, outcome = self.place(row), row["outcome"]
        if place is None:
            need(outcome == "not_found", f"{outcome} nowhere")
            need(all("not_found" in self.says(token, p) or self.may_be_dropped(p) or
                     self.call.verb == "hold_return" for p in self.tokens.of(token)),
                 f"{token} was there")
            return
        if outcome == "not_found" and (self.may_be_dropped(place) or
                                       self.call.verb == "hold_return"):
            return
        if outcome == "already_consumed":
            self.explain_consumed(token, row, ref)
            return
        wanted = {"live"} if outcome == "blocked" else {outcome}
        if outcome == "blocked" and self.args.get("late"):
            wanted.add("expired")
        need(wanted & self.says(token, place), f"{token} was not {wanted} in {place}")

    def explain_consumed(self, token, row, ref):
        """The first figures: of the last consumption, or of the one with that ref."""
        place = self.place(row)
        seen = self.tokens.in_place(token, place).entries
        first = [e for e in seen if e.event == "consumed" and e.at == moment(row["at"])
                 and e.at <= self.call.end]
        need(first, f"{token} consumed nothing in {place} at {row['at']}")
        need(millionths(row["consumed"]) == sum(e.qty for e in first) or first[-1].row.is_room,
             f"first figures of {first[-1]}")
        need("already_consumed" in self.says(token, place) or
             ref is not None and any(e.ref == ref for e in first),
             f"{token} was not consumed in {place}")

    # Rooms.

    def hold_room(self):
        rows = self.call.rows
        need(len({row["granted"] for row in rows}) == 1, "some rooms are granted and some not")
        for row in rows:
            self.explain_room(self.args["token"], row, rows)

    def explain_room(self, token, row, rows):
        room, outcome = row["room_id"], row["outcome"]
        if row["granted"]:
            if outcome == "changed":
                self.take(room, ["released"], token)
            found = self.take(room, [outcome], token)
            need(len(found) == 1, f"{outcome} in room {room}, but the ledger has {len(found)}")
            need(moment(row["expires_at"]) == found[0].expires_at, f"expires_at of {found[0]}")
            need(list(found[0].nights) == list(self.nights()), f"nights of {found[0]}")
        elif outcome == "blocked":
            need(any(r["outcome"] in ("stay_taken", "already_consumed") for r in rows),
                 "nothing blocks it")
        elif outcome == "already_consumed":
            need(any(s.taken for _, s in self.possible(token, room)), f"room {room} was not its own")
        else:
            self.explain_taken(token, row)

    def nights(self):
        return range(*self.args["stay"])

    def explain_taken(self, token, row):
        """Each of those nights may have been somebody else's."""
        need(row["outcome"] == "stay_taken" and row["taken"], f"{row['outcome']} of nothing")
        states = self.states_of(row["room_id"])
        for text in row["taken"]:
            night = (date.fromisoformat(text) - DAY).days
            need(any(night in s.claims and s.claims[night].token != token or
                     night in s.claims and token is None for s in states
                     if night in s.claims and self.in_the_way(s.claims[night])),
                 f"night {night} of room {row['room_id']} was free")

    def in_the_way(self, claim):
        return claim.until is None or claim.until > self.call.start

    def release_room(self):
        [nights] = self.call.rows
        found = self.take(self.args["room_id"], ["released"], self.args["token"])
        need(sum(e.qty for e in found) == nights * UNIT, f"{nights} nights given back")
        if not nights and self.args["nights"] is None:
            need(self.says(self.args["token"], self.args["room_id"]) != {"live"}, "it was held")

    def insert(self):
        found = self.take(self.args["room_id"], ["consumed"], None)
        need(len(found) == 1 and list(found[0].nights) == list(self.nights()), "no such stay")

    def move(self):
        [row] = self.call.rows
        moved = [e for e in self.left if e.event in ("consumed", "returned")]
        self.left = [e for e in self.left if e not in moved]
        if row["outcome"] != "changed":
            need(not moved, f"{row['outcome']}, but the ledger tells of a move")
            if row["outcome"] == "stay_taken":
                self.explain_taken(None, row)
            return
        need([e.event for e in sorted(moved, key=lambda e: e.event)] == ["consumed", "returned"],
             "a move is one step out and one in")
        need(len({(e.at, e.token) for e in moved}) == 1, "both are of one moment")

    def cancel(self):
        [done] = self.call.rows
        given = [e for e in self.left if e.event == "returned"]
        self.left = [e for e in self.left if e not in given]
        need(done == bool(given), f"{done}, but the ledger tells {len(given)}")
        need(not done or sum(e.qty > 0 for e in given) == 1, "one stay is given up")

    # Upkeep, capacity and reading.

    def sweep(self):
        [swept] = self.call.rows
        found = [e for e in self.left if e.event == "expired"]
        need(len(found) == len(self.left) == swept, f"{swept} swept, {len(found)} told")

    def resize(self):
        self.check_capacity(UNIT * self.args["capacity"])

    def add(self):
        [capacity] = self.call.rows
        if self.left:
            refs = [e.ref for e in self.left if e.ref is not None]
            need(refs == [self.args["ref"]], "the ref is told once")
            need(sum(e.qty for e in self.left) == UNIT * self.args["delta"], "it adds the delta")
            self.check_capacity(millionths(capacity))
        else:
            need(any(e.ref == self.args["ref"] for row in self.ledger.rows_of(self.args["pool"])
                     for e in row.entries if e.event == "capacity" and e.at <= self.call.end),
                 "nothing was added, now or before")

    def check_capacity(self, capacity):
        """All rows together have that, after the call or, if it did nothing, before."""
        rows = self.ledger.rows_of(self.args["pool"])
        written = [e for e in self.left if e.event == "capacity"]
        self.left = [e for e in self.left if e not in written]
        if written:
            newest = {e.row.pool_id: e.capacity for e in written}
            need(sum(newest.values()) == capacity, f"the capacity is {sum(newest.values())}")
            return
        seen = [{s.capacity or 0 for s in self.states(row)} for row in rows]
        need(sum(map(min, seen)) <= capacity <= sum(map(max, seen)), "it had another capacity")

    def switch(self):
        [changed] = self.call.rows
        event = "closed" if self.call.verb == "hold_pool_close" else "opened"
        found = self.take(self.args["pool"], [event], None)
        need(len(found) == changed, f"{changed}, but the ledger tells {len(found)}")
        if not changed:
            need(any(s.closed == (event == "closed") for s in self.states_of(self.args["pool"])),
                 "it was not so")

    def renew_lease(self):
        [generation] = self.call.rows
        found = self.take("lease", ["generation"], None)
        need([e.generation for e in found] in ([generation], []), f"generation {generation}")

    def drop(self):
        found = self.take(self.args["pool"], ["closed"], None)
        need(len(found) == 1, "nothing was dropped")

    def available(self):
        rows = self.ledger.rows_of(self.args["pool"])
        if len(rows) > 1 or self.args["pool"].startswith("show"):
            return
        [said] = self.call.rows
        states = self.states(rows[0], self.snapshot_since())
        rooms = {max(0, s.room(clock)) for s in states for clock in self.clocks(s)}
        rooms |= {0 for s in states if s.closed or s.lease_end <= self.call.end}
        need(millionths(said) in rooms, f"{self.args['pool']} never had {said}: {rooms}")

    def snapshot_since(self):
        """A read need not be of the present where the transaction has one snapshot."""
        return None if self.transaction.level == "read committed" else \
            self.transaction.calls[0].start

    def verify(self):
        need(self.call.rows == [], f"hold_verify found {self.call.rows}")


EXPLAIN = {
    "hold_try": Explanation.hold, "hold_try_lines": Explanation.hold_lines,
    "hold_try_batch": Explanation.hold_batch, "hold_renew": Explanation.renew,
    "hold_consume": Explanation.consume, "hold_consume_batch": Explanation.consume_batch,
    "hold_release": Explanation.settle_all, "hold_return": Explanation.settle_all,
    "hold_try_stay": Explanation.hold_room, "hold_try_stays": Explanation.hold_room,
    "hold_release_stay": Explanation.release_room, "insert": Explanation.insert,
    "hold_move_stay": Explanation.move, "hold_cancel_stay": Explanation.cancel,
    "hold_sweep": Explanation.sweep, "hold_sweep_all": lambda self: None,
    "hold_pool_set": Explanation.resize, "hold_pool_add": Explanation.add,
    "hold_pool_open": Explanation.switch, "hold_pool_close": Explanation.switch,
    "hold_pool_renew": Explanation.renew_lease, "hold_pool_drop": Explanation.drop,
    "hold_available": Explanation.available, "hold_verify": Explanation.verify}
