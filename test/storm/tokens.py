"""What became of each token in each pool and room, as the ledger tells it."""

from collections import defaultdict
from dataclasses import dataclass, replace

from ledger import Timeline, is_late
from record import UNIT


@dataclass(frozen=True, slots=True)
class Standing:
    """A token in one place at one moment."""

    held: int = 0
    until: int = 0
    taken: int = 0
    end: str | None = None  # how what it held ended
    version: int = 0

    def says(self, clock):
        """What it answers to whoever comes then and can do nothing about it."""
        if self.held:
            return "live" if self.until > clock else "expired"
        if self.end == "consumed":
            return "already_consumed" if self.taken else "returned"
        return {"released": "already_released", "expired": "expired", None: "not_found"}[self.end]


NOBODY = Standing()


class History:
    """The entries of a token in one place, and how it stood after each."""

    def __init__(self, entries):
        self.entries = sorted(entries, key=lambda e: (e.at, e.pool_id, e.seq))
        self.timeline = Timeline(self.entries)
        self.after = {None: NOBODY}
        self.before = {}

    def replay(self):
        """Yields what is wrong with the order of things."""
        standing = NOBODY
        for i, entry in enumerate(self.entries):
            following = self.entries[i + 1] if i + 1 < len(self.entries) else None
            wrong = self.complaint(standing, entry, following, i)
            if wrong:
                yield f"{entry}: {wrong}"
            self.before[entry] = standing
            standing = self.after[entry] = follow(standing, entry)
            if not entry.row.is_room and entry.taken not in (None, standing.taken):
                yield f"{entry} tells that {entry.taken} was taken, not {standing.taken}"

    def complaint(self, standing, entry, following, i):
        if entry.event == "granted":
            late = following is not None and is_late(following, entry)
            if standing.taken and not late and not entry.row.is_room:
                return "it was consumed"
            if standing.held and not entry.row.is_room:
                return "it is held elsewhere"
        if entry.event == "returned" and entry.qty > standing.taken:
            return f"only {standing.taken} was taken"
        if entry.ref is not None and entry.event in ("consumed", "returned"):
            if any(self.repeats(entry, other) for other in self.entries[:i]):
                return f"a second effect of {entry.ref}"
        return None

    @staticmethod
    def repeats(entry, other):
        """Is it the same step again?  Pieces of a stay are one; a move is none."""
        if entry.row.is_room and (entry.at == other.at or is_arrival(entry) or is_arrival(other)):
            return False
        return other.ref == entry.ref and other.event == entry.event

    def possible(self, call, transaction):
        """(entry, standing) of those moments at which the call may have looked."""
        return [(entry, self.after[entry])
                for entry in self.timeline.possible(call, transaction)]


def follow(standing, entry):
    """How the token stands after the entry."""
    rules = {"granted": _granted, "renewed": _renewed, "changed": _changed,
             "consumed": _consumed, "released": _given, "expired": _given, "returned": _returned}
    after = rules[entry.event](standing, entry)
    return replace(after, taken=entry.taken or 0) if entry.row.is_room and \
        entry.taken is not None else after


def _granted(standing, entry):
    return replace(standing, held=standing.held + entry.qty, until=entry.expires_at,
                   end=None, version=1)


def _renewed(standing, entry):
    return replace(standing, until=entry.expires_at, version=standing.version + 1)


def _changed(standing, entry):
    return replace(_renewed(standing, entry), held=entry.qty)


def is_arrival(entry):
    """Of a confirmed stay in a room, by a move."""
    return entry.row.is_room and entry.event == "consumed" and entry.expires_at is None


def _consumed(standing, entry):
    if is_arrival(entry):
        return replace(standing, end=standing.end if standing.held else "consumed")
    return replace(_given(standing, entry), taken=standing.taken + entry.qty)


def _given(standing, entry):
    held = standing.held - entry.qty
    return replace(standing, held=held, end=None if held else entry.event)


def _returned(standing, entry):
    return replace(standing, taken=standing.taken - entry.qty)


class Tokens:
    """All histories, by token and place."""

    def __init__(self, ledger):
        entries = defaultdict(lambda: defaultdict(list))
        for entry in ledger.entries:
            if entry.token is not None:
                entries[entry.token][entry.row.place].append(entry)
        self.histories = {
            token: {place: History(found) for place, found in places.items()}
            for token, places in entries.items()}

    def replay(self):
        for places in self.histories.values():
            for history in places.values():
                yield from history.replay()

    def of(self, token):
        return self.histories.get(token, {})

    def in_place(self, token, place):
        return self.of(token).get(place) or History([])


def millionths(number):
    return None if number is None else int(number * UNIT)
