"""Proves, from the sessions' records and the ledger, that all went right.

Each check is a sentence that is true or not, with examples if it is not.
"""

from bisect import bisect_right
from collections import Counter, defaultdict

from answers import Explanation, Unexplained
from ledger import FOREVER, Ledger, Timeline
from record import UNIT
from tokens import Tokens

SHOWN = 5  # examples of what is wrong
TOLD = 12  # entries that led to it
SLACK = 1000  # by so much an entry's time may be pushed behind its call
ALWAYS = {"57014", "57P01", "gone"}  # cancelled, killed
ERRORS = {  # that single verbs have a right to
    "insert": {"23P01"}, "hold_pool_drop": {"55006", "42704"}, "hold_pool_add": {"22023"},
    "hold_pool_renew": {"22023"}}


class Check:
    def __init__(self, execute, transactions):
        self.ledger = Ledger(execute)
        self.tokens = Tokens(self.ledger)
        self.transactions = transactions
        self.calls = [(t, c) for t in transactions for c in t.calls]
        for _, call in self.calls:
            call.entries = []

    def results(self):
        """Yields (what is claimed, what contradicts it)."""
        yield "what was acknowledged is there, and what failed is not", self.judge_fates()
        yield "no call failed but where it may", self.errors()
        yield "each entry is the effect of one call that came into force", self.attribute()
        yield "the ledger replays, and no pool is ever above its capacity", self.ledger.replay()
        yield "counters, holds and stays are what the ledger says", self.ledger.compare()
        yield "each entry is younger than the commit before it", self.date()
        yield "each token is granted, consumed and returned in turn, once", self.tokens.replay()
        yield "each answer is what the ledger explains", self.explain()
        yield "a call without an answer is there as a whole or not at all", self.whole()
        yield "hold_verify finds nothing", map(str, self.ledger.problems)

    def judge_fates(self):
        """The marks tell what nobody was told."""
        for t in self.transactions:
            there = (t.session, t.number) in self.ledger.marks
            if t.marked and t.fate in ("committed", "aborted") and there != (t.fate == "committed"):
                yield f"{t.gid} was {t.fate}, and its mark is {'' if there else 'not '}there"
            if t.marked:
                t.fate = "committed" if there else "aborted"

    def errors(self):
        for t, call in self.calls:
            allowed = ALWAYS | ERRORS.get(call.verb, set())
            if t.hurried:
                allowed = allowed | {"55P03"}
            if t.level != "read committed":
                allowed = allowed | {"40001"}
            if call.error is not None and call.error not in allowed:
                yield f"{t.gid}: {call.verb} {call.args} failed with {call.error} ({t.level})"

    def attribute(self):
        """Gives each entry to the call of its session that it falls into."""
        of_session = defaultdict(list)
        for t, call in self.calls:
            of_session[t.session].append((call.start, t, call))
        for calls in of_session.values():
            calls.sort(key=lambda c: c[0])
        for entry in self.ledger.entries:
            if entry.actor not in of_session:
                continue
            found = find(of_session[entry.actor], entry.at)
            if found is None:
                yield f"{entry} of {entry.actor} is nobody's"
                continue
            _, entry.transaction, entry.call = found
            entry.call.entries.append(entry)
            yield from self.misplaced(entry)

    @staticmethod
    def misplaced(entry):
        t, call = entry.transaction, entry.call
        if entry.at > call.end + SLACK:
            yield f"{entry} was made while {t.session} asked for nothing"
        elif call.undone or t.fate == "aborted" and t.marked:
            yield f"{entry} is of {t.gid}, which was rolled back"

    def date(self):
        """When was each entry to be seen, at the earliest and at the latest?"""
        for row in self.ledger.rows.values():
            last = None
            for entry in row.entries:
                t = entry.transaction
                if t is not None:
                    entry.earliest, entry.latest = t.sent or 0, t.acked or FOREVER
                if last is not None and last.transaction is not t and \
                        last.transaction and entry.at < last.earliest:
                    yield (f"{entry} is {last.earliest - entry.at} us older"
                           f" than the commit of {last}")
                last = entry
            row.timeline = Timeline(row.entries)
        for places in self.tokens.histories.values():
            for history in places.values():
                history.timeline = Timeline(history.entries)

    def explain(self):
        for t, call in self.calls:
            if call.error is not None or call.rows is None:
                continue
            if call.undone or t.fate != "committed" and t.marked:
                continue
            try:
                Explanation(self.ledger, self.tokens, t, call).check()
            except Unexplained as wrong:
                yield "\n    ".join([
                    f"{t.gid} ({t.level}), from {call.start} to {call.end}:"
                    f" {call.verb} {call.args}",
                    str(call.rows), str(wrong), *self.story(call)])

    def story(self, call):
        """The token's entries up to the call, and a little more."""
        found = [e for history in self.tokens.of(call.args.get("token")).values()
                 for e in history.entries if e.at < call.end + UNIT]
        return [f"{e.at}, seen from {e.earliest} or {e.latest} on: {e}"
                for e in sorted(found, key=lambda e: e.at)[-TOLD:]]

    def whole(self):
        for t, call in self.calls:
            if call.error == "gone" and call.verb == "hold_try_lines" and call.entries:
                found = {e.row.place for e in call.entries if e.event in
                         ("granted", "renewed", "changed") and e.token == call.args["token"]}
                wanted = {line["pool"] for line in call.args["lines"]}
                if found not in (set(), wanted):
                    yield f"{t.gid}: of {wanted}, the ledger has {found}"

    def seen(self):
        """How often each event and each answer was met."""
        counts = Counter(e.event for e in self.ledger.entries)
        for _, call in self.calls:
            for row in call.rows or []:
                if isinstance(row, dict) and "outcome" in row:
                    counts[f"{call.verb}: {row['outcome']}"] += 1
        return counts


def find(calls, at):
    """The last call that had begun by then, of a list by their start."""
    i = bisect_right(calls, at, key=lambda c: c[0])
    return calls[i - 1] if i else None


def report(results):
    """Prints what is true and what is not; returns both counts."""
    passed = failed = 0
    for claim, wrong in results:
        wrong = list(wrong)
        print(f"{'not ok' if wrong else 'ok'} - {claim}" +
              (f": {len(wrong)} times not" if wrong else ""), flush=True)
        for what in wrong[:SHOWN]:
            print(f"    {what}")
        passed += not wrong
        failed += bool(wrong)
    return passed, failed


def summary(check):
    took = max(c.end for _, c in check.calls) - min(c.start for _, c in check.calls)
    return (f"{len(check.calls)} calls in {len(check.transactions)} transactions,"
            f" {len(check.ledger.entries)} entries, {took / UNIT:.0f} s")
