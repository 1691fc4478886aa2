"""What a session asked and was told: the client's own record, kept apart from the server."""

import time
from dataclasses import dataclass, field

UNIT = 1_000_000  # the ledger counts in millionths, and times in microseconds


def now():
    """The wall clock, which is the server's: both are on one machine."""
    return time.time_ns() // 1000


@dataclass
class Call:
    """One call of a verb; its rows are the answer, unless there is an error."""

    verb: str
    args: dict
    start: int = 0
    end: int | None = None
    rows: list | None = None
    error: str | None = None
    undone: bool = False  # by a rollback to a savepoint
    entries: list = field(default_factory=list, repr=False)  # filled in by the checker


@dataclass
class Transaction:
    """Calls that came into force together, or not at all.

    Its fate is committed, aborted, prepared, or in doubt: nobody was told.  A
    mark, a row that it inserts, tells what became of it.
    """

    session: str
    number: int
    level: str
    calls: list = field(default_factory=list)
    sent: int | None = None  # when the commit was asked for
    acked: int | None = None  # and answered
    fate: str = "aborted"
    marked: bool = True
    hurried: bool = False  # had a timeout

    @property
    def gid(self):
        return f"{self.session}/{self.number}"
