"""A session that does the steps of a round, and judges what comes of each."""

import select
import time
from dataclasses import dataclass

import psycopg
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus

# What a verb answers when it did nothing; that an expired hold is written off
# does not count.
REFUSALS = {b"already_consumed", b"closed", b"pool_expired", b"insufficient", b"stay_taken",
            b"blocked", b"already_released", b"expired", b"not_found"}
COUNTS = (16, 20, 23)  # boolean, bigint, integer: false and 0 say that nothing was done
LASTING = "5 min"  # what expires before that may go at any time
CRASHED = "57P02"  # another session took the server down


class OthersCrash(Exception):
    """The server fell because of another session: this round tells nothing."""


@dataclass
class Fault:
    what: str
    detail: str
    step: int  # which one it was

    def __str__(self):
        return f"{self.what}: {self.detail}" if self.detail else self.what


@dataclass
class Answer:
    results: list
    sqlstate: str = ""
    message: str = ""

    @property
    def done(self):
        return self.results[-1].command_status if self.results else b""


class Lost(Exception):
    """The connection is gone."""


class Hangs(Exception):
    """No answer came, though a timeout is set."""


class Session:
    """A connection of a superuser to a round's database."""

    def __init__(self, connection, timeout):
        self.connection = connection
        self.connection.add_notice_handler(self.hear)
        self.database = connection.info.dbname
        self.patience = 2 * timeout + 5  # seconds
        self.others_crash = False
        self.pgconn = self.connection.pgconn
        self.leaks = []
        self.moment = None  # what the digests go by
        self.known = None  # the last digest
        self.begun = None  # that at the start of the transaction
        self.prepared = None  # that of the transaction that was prepared
        self.heard = {}  # function: the SQLSTATEs that came, "" for none

    def close(self):
        self.connection.close()

    def hear(self, diagnostic):
        self.others_crash |= diagnostic.sqlstate == CRASHED
        if "leak" in (diagnostic.message_primary or "") or diagnostic.sqlstate[:2] == "XX":
            self.leaks.append(diagnostic.message_primary)

    # -- sending

    def send(self, sql):
        """Sends a statement, or several; answers what came up to the first error."""
        deadline = time.monotonic() + self.patience
        try:
            self.pgconn.send_query(sql.replace(":'DBNAME'", f"'{self.database}'").encode())
            results = list(self.results(deadline))
        except psycopg.OperationalError as error:
            if self.others_crash:
                raise OthersCrash from error
            raise Lost(str(error).strip()) from error
        failed = next((r for r in results if r.status == ExecStatus.FATAL_ERROR), None)
        if failed is None:
            return Answer(results)
        sqlstate, message = (
            (failed.error_field(field) or b"").decode(errors="replace")
            for field in (DiagnosticField.SQLSTATE, DiagnosticField.MESSAGE_PRIMARY))
        if self.others_crash or sqlstate == CRASHED:
            raise OthersCrash
        if not sqlstate or self.pgconn.transaction_status == TransactionStatus.UNKNOWN:
            raise Lost(f"{sqlstate} {message}")
        return Answer(results, sqlstate, message)

    def results(self, deadline):
        while True:
            while self.pgconn.is_busy():
                patience = max(0, deadline - time.monotonic())
                if not select.select([self.pgconn.socket], [], [], patience)[0]:
                    raise Hangs
                self.pgconn.consume_input()
            result = self.pgconn.get_result()
            if result is None:
                return
            yield result

    def ask(self, sql):
        answer = self.send(sql)
        if answer.sqlstate:
            raise RuntimeError(f"{answer.sqlstate} {answer.message}: {sql}")
        result = answer.results[-1]
        return [result.get_value(0, column) for column in range(result.nfields)]

    @property
    def in_transaction(self):
        return self.pgconn.transaction_status != TransactionStatus.IDLE

    # -- looking

    def look(self):
        """Digests of all that there is, and of what a refusal must leave alone."""
        if self.moment is None:
            self.moment = self.ask(
                f"SELECT (extract(epoch FROM public.hold_clock() + '{LASTING}'))")[0].decode()
        return tuple(self.ask(
            f"SELECT d[1], d[2] FROM fuzz.digest(to_timestamp({self.moment})) AS d"))

    def reads_only(self):
        return self.ask("SHOW transaction_read_only") == [b"on"]

    # -- doing

    def run(self, steps):
        """Does them; answers the first fault, or None."""
        for number, step in enumerate(steps):
            try:
                fault = getattr(self, step.kind)(step)
            except Lost as error:
                fault = "the connection was lost", str(error)
            except Hangs:
                fault = "no answer came", f"within {self.patience} s"
            if fault:
                return Fault(*fault, number)
        return self.end_of_round(len(steps) - 1)

    def end_of_round(self, number):
        """All promises are kept."""
        self.send("ROLLBACK")
        self.send(f"ROLLBACK PREPARED '{self.database}'")
        self.send("RESET SESSION AUTHORIZATION; RESET ALL")
        answer = self.send("SELECT what, problem, pool, expected, found FROM fuzz.unsound LIMIT 1")
        if answer.sqlstate:
            return Fault("hold_verify() failed", f"{answer.sqlstate} {answer.message}", number)
        result = answer.results[-1]
        if not result.ntuples:
            return None
        values = [(result.get_value(0, i) or b"").decode(errors="replace") for i in range(result.nfields)]
        return Fault(values[0], "{}: pool {!r}, expected {}, found {}".format(*values[1:]), number)

    def set(self, step):
        self.moment = self.known = None
        return self.judge_answer(self.send(step.sql))

    def begin(self, step):
        self.known = self.begun = self.look()
        return self.judge_answer(self.send(step.sql))

    def end(self, step):
        """A commit makes last what was, a rollback brings back what had been."""
        inside, self.known = self.known, self.known or self.look()
        answer = self.send(step.sql)
        found = self.look()
        expected = self.begun if self.begun and answer.done != b"COMMIT" else self.known
        if answer.done == b"PREPARE TRANSACTION":
            self.prepared = inside
        elif answer.done == b"COMMIT PREPARED":
            expected = self.prepared
        self.known, self.begun = found, None
        if expected and found != expected:
            return "a transaction ended in another state", step.sql
        return self.judge_answer(answer)

    def call(self, step):
        """An error, a refusal and a function that reads change nothing."""
        before = self.known or self.look()
        nested = self.in_transaction
        if nested:
            self.send("SAVEPOINT s")
        answer = self.send(step.sql)
        if nested:
            self.send("ROLLBACK TO s; RELEASE s" if answer.sqlstate else "RELEASE s")
        self.heard.setdefault(step.function, set()).add(answer.sqlstate)
        self.known = self.look()
        return self.judge_answer(answer) or self.judge_changes(step, answer, before)

    # -- judging

    def judge_answer(self, answer):
        if answer.sqlstate.startswith("XX"):
            return f"SQLSTATE {answer.sqlstate}", answer.message
        if answer.sqlstate == "57014":
            return "it does not end", answer.message
        if self.leaks:
            return "something leaked", self.leaks.pop()
        return None

    def judge_changes(self, step, answer, before):
        everything, lasting = (now != then for now, then in zip(self.known, before))
        if not everything:
            return None
        if answer.sqlstate:
            return "an error changed something", f"{answer.sqlstate} {answer.message}"
        if step.only_reads:
            return "what only reads changed something", ""
        if self.reads_only():
            return "a read-only transaction changed something", ""
        if lasting and refuses(answer.results[-1]):
            return "a refusal changed something", ""
        return None


def refuses(result):
    """Does an answer say, in all its rows, that nothing was done?"""
    if result.status != ExecStatus.TUPLES_OK or not result.ntuples:
        return False
    columns = [i for i in range(result.nfields) if result.fname(i) == b"outcome"]
    if columns:
        return all(result.get_value(row, columns[0]) in REFUSALS for row in range(result.ntuples))
    return (result.nfields == 1 and result.ntuples == 1 and result.fname(0).startswith(b"hold_")
            and result.ftype(0) in COUNTS and result.get_value(0, 0) in (b"f", b"0"))
