"""Power cuts: sessions at work, the whole server killed, and what is left then.

In each round the server falls at a random moment, perhaps again while it
recovers.  What was acknowledged must be there, all else as a whole or not at
all; transactions that were prepared wait for a decision, with their locks.
"""

import argparse
import ctypes
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from check import Check, report, summary
from record import UNIT, now
from session import Plan, decide_prepared, run_session

COMMITTED = "SELECT count(*) FROM marks WHERE number >= %s"
AT_WORK = 20  # commits before the power may be cut
PR_SET_CHILD_SUBREAPER = 36
SETTINGS = ("max_prepared_transactions=40", "max_wal_size=32MB", "statement_timeout=60s",
            "listen_addresses=", "timezone=UTC", "wal_keep_size=0", "log_checkpoints=off",
            "recovery_init_sync_method=syncfs")


class Server:
    """A server that can be killed as a power cut would."""

    def __init__(self, arguments, rng):
        self.work = Path(arguments.work)
        self.bin = Path(arguments.bin)
        self.rng = rng
        self.careless = arguments.faulty
        self.dsn = f"host={self.work} dbname=storm"

    def control(self, *arguments):
        done = subprocess.run([self.bin / "pg_ctl", "-s", "-D", self.work / "data", *arguments],
                              check=False, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode:
            sys.exit("".join((self.work / "log").read_text().splitlines(True)[-20:]))

    def start(self, wait="-w"):
        settings = [*SETTINGS, f"full_page_writes={self.rng.choice(('on', 'off'))}",
                    f"wal_buffers={self.rng.choice(('32kB', '4MB'))}"]
        if self.careless:
            settings += ["synchronous_commit=off", "wal_writer_delay=10s"]
        options = " ".join(f"-c {setting}" for setting in settings)
        self.control(wait, "-l", self.work / "log", "-o", f"-k {self.work} {options}", "start")

    def postmaster(self):
        """Its process; None where there is none."""
        try:
            pid = int((self.work / "data/postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return None
        return pid if self.is_ours(pid) else None

    def is_ours(self, pid):
        """Its number may be another's by now."""
        try:
            return Path(f"/proc/{pid}/cwd").resolve() == (self.work / "data").resolve()
        except OSError:
            return False

    def cut(self):
        """Kills all of it, so that none sees another fall, and waits till nothing is left."""
        postmaster = self.postmaster()
        send(postmaster, signal.SIGSTOP)  # it starts no more children
        pids = [postmaster, *children(postmaster)]
        for how in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                send(pid, how)
        for pid in pids:
            os.waitpid(pid, 0)

    def start_after_cut(self):
        """Now and then it falls again while it recovers."""
        if self.rng.random() < 0.25:
            self.start("-W")
            while self.postmaster() is None:
                time.sleep(0.001)
            time.sleep(self.rng.random() * 0.3)
            self.cut()
        self.start()


def children(parent):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)],
                           capture_output=True, text=True, check=False)
    return map(int, found.stdout.split())


def send(pid, how):
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        pass


def adopt_orphans():
    """What the server leaves behind is ours to wait for: nobody else may do it."""
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("cannot adopt orphans")


def checkpoints(plan):
    """Checkpoints at random, until the server has fallen."""
    rng = random.Random(plan.seed)
    try:
        with psycopg.connect(f"{plan.dsn} user=postgres", autocommit=True) as connection:
            while now() < plan.until:
                time.sleep(rng.random() * 0.4)
                connection.execute("CHECKPOINT")
    except psycopg.OperationalError:
        pass


@dataclass
class Cuts:
    """The rounds, and all that was done in them."""

    server: Server
    arguments: argparse.Namespace
    began: int = field(default_factory=now)
    done: list = field(default_factory=list)
    met: set = field(default_factory=set)  # what became of prepared transactions

    def work(self, number):
        """Sessions at work until the server falls."""
        until = now() + 60 * UNIT
        plans = [Plan(self.server.dsn, n, f"{self.arguments.seed} {number} {n}", self.began, until,
                      first=100_000 * number, outlives=False, patience=0.15)
                 for n in range(self.arguments.sessions + 1)]
        with multiprocessing.Pool(len(plans)) as pool:
            pool.apply_async(checkpoints, [plans.pop()])
            found = pool.map_async(run_session, plans, chunksize=1)
            self.wait_for_commits(number)
            time.sleep(self.server.rng.uniform(0, 1.2))
            self.server.cut()
            transactions = [t for of_session in found.get() for t in of_session]
        self.done += transactions
        return transactions

    def wait_for_commits(self, number):
        """Until the sessions are well at work, however slow the machine is."""
        with self.connect() as connection:
            while connection.execute(COMMITTED, [100_000 * number]).fetchone()[0] < AT_WORK:
                time.sleep(0.02)

    def round(self, number):
        """Yields what is wrong after a fall."""
        transactions = self.work(number)
        self.server.start_after_cut()
        yield from self.settle_prepared(transactions)
        check = Check(self.ask(), self.done)
        yield from check.judge_fates()
        yield from check.ledger.replay()
        yield from check.ledger.compare()
        yield from map(str, check.ledger.problems)

    def connect(self):
        return psycopg.connect(f"{self.server.dsn} user=postgres", autocommit=True)

    def ask(self):
        connection = self.connect()
        return lambda sql: connection.execute(sql).fetchall()

    def settle_prepared(self, transactions):
        """They are there, hidden, with their locks; then they end as they are told to."""
        with self.connect() as connection:
            def execute(sql):
                cursor = connection.execute(sql)
                return cursor.fetchall() if cursor.description else []

            there = {gid for gid, in execute("SELECT gid FROM pg_prepared_xacts")}
            known = {t.gid: t for t in transactions}
            yield from (f"{gid} was never prepared" for gid in there - known.keys())
            yield from (f"{t.gid} was prepared, and is not there" for t in transactions
                        if t.fate == "prepared" and t.acked and t.gid not in there)
            marks = {f"{s}/{n}" for s, n in execute("SELECT session, number FROM marks")}
            yield from (f"{gid} shows before it is committed" for gid in there & marks)
            for gid in there & known.keys():
                yield from self.unlocked(execute, known[gid])
                verb = self.server.rng.choice(("COMMIT", "ROLLBACK"))
                decide_prepared(execute, known[gid], verb)
                self.met.add(verb)
            for t in transactions:
                if t.fate in ("prepared", "doubt"):
                    t.fate, t.acked = "doubt", now()

    def unlocked(self, execute, transaction):
        """Pools that it has written, and that are not locked."""
        written = {call.rows[0]["pool"] for call in transaction.calls if not call.undone
                   and call.verb == "hold_try" and call.rows and call.rows[0]["granted"]}
        for pool in written:
            try:
                execute("SET lock_timeout = '20ms'")
                execute(f"SELECT hold_pool_close('{pool}')")
                yield f"{pool} is not locked by {transaction.gid}"
            except psycopg.errors.LockNotAvailable:
                self.met.add("LOCK")
            finally:
                execute("RESET lock_timeout")

    def unmet(self):
        for what in {"COMMIT", "ROLLBACK", "LOCK"} - self.met:
            yield f"never: {what} of a transaction that was prepared before the fall"


def run(cuts, rounds):
    """Cuts the power so often; returns how many checks passed and failed."""
    passed = failed = 0
    cuts.server.start()
    for number in range(rounds):
        good, bad = report([(f"power cut {number + 1}: nothing is lost or made up",
                             cuts.round(number))])
        passed, failed = passed + good, failed + bad
        if bad and cuts.arguments.faulty:
            break
    return passed, failed


def prove(cuts, rounds):
    """All rounds, and the whole story at their end."""
    passed, failed = run(cuts, rounds)
    check = Check(cuts.ask(), cuts.done)
    good, bad = report([*check.results(), ("all of it has happened", cuts.unmet())])
    print(summary(check))
    print(f"{passed + good} passed, {failed + bad} failed")
    return not failed + bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", required=True, help="directory of the server's data and log")
    parser.add_argument("--bin", required=True, help="directory of the server's programs")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=6)
    parser.add_argument("--faulty", action="store_true",
                        help="commits are not waited for: that must be found")
    arguments = parser.parse_args()
    adopt_orphans()
    cuts = Cuts(Server(arguments, random.Random(arguments.seed)), arguments)
    if not arguments.faulty:
        sys.exit(not prove(cuts, arguments.rounds))
    found = run(cuts, arguments.rounds)[1]
    print(f"{found} passed, {1 - found} failed")
    sys.exit(not found)


if __name__ == "__main__":
    main()
