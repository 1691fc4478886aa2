"""A session: transactions of every kind, and what became of them."""

import json
import random
import time
from dataclasses import dataclass
from decimal import Decimal

import psycopg
from psycopg.types.json import set_json_loads

from calls import LONE, Draw, statement
from record import Call, Transaction, now

LEVELS = ("read committed", "repeatable read", "serializable")
STAYS = "SELECT stay_id FROM room_stays WHERE expires_at IS NULL ORDER BY random() LIMIT 1"

set_json_loads(lambda text: json.loads(text, parse_float=Decimal))


class Gone(Exception):
    """The server has hung up."""


@dataclass
class Plan:
    """What a session is to do, so that it can be sent to a process of its own."""

    dsn: str
    number: int
    seed: str
    began: int  # of the whole run
    until: int
    first: int = 0  # number of its first transaction
    outlives: bool = True  # connects again when it was killed
    often: str | None = None  # which calls are drawn more often
    patience: float = 0.01  # seconds that a prepared transaction waits at most


class Session:
    def __init__(self, plan):
        self.plan = plan
        self.name = f"storm_{plan.number}"
        self.random = random.Random(plan.seed)
        self.draw = Draw(self.random, plan.began, plan.often)
        self.level = LEVELS[plan.number % 3]
        self.transactions = []
        self.connection = None

    def run(self):
        try:
            self.connect()
            while now() < self.plan.until:
                self.step()
        except psycopg.OperationalError:
            if self.plan.outlives:
                raise
        return self.transactions

    def connect(self):
        self.connection = psycopg.connect(
            f"{self.plan.dsn} user={self.name} application_name=storm", autocommit=True,
            prepare_threshold=None,
            options=f"-c default_transaction_isolation={self.level.replace(' ', chr(92) + ' ')}")

    def execute(self, sql):
        """Rows of the first column; Gone if the connection is no more."""
        try:
            cursor = self.connection.execute(sql)
            return [row[0] for row in cursor] if cursor.description else []
        except psycopg.Error as error:
            if self.connection.closed:
                raise Gone from error
            raise

    def step(self):
        transaction = Transaction(self.name, self.plan.first + len(self.transactions), self.level)
        call = self.complete(self.draw.call())
        self.transactions.append(transaction)
        try:
            if call.verb == "hold_sweep_all" or self.random.random() < 0.4:
                self.run_alone(transaction, call)
            else:
                self.run_block(transaction, call)
        except Gone:
            self.connect()
        if transaction.fate == "prepared":
            self.decide(transaction)

    def complete(self, call):
        """Chooses a stay for those verbs that need one."""
        if "stay_id" in call.args:
            try:
                found = self.execute(STAYS)
            except Gone:
                self.connect()
                return self.complete(self.draw.call())
            except psycopg.Error:
                found = []
            call.args["stay_id"] = found[0] if found else 0
        return call

    def ask(self, transaction, call, sql):
        """Runs a call and keeps the answer, or the error; was there an answer?"""
        transaction.calls.append(call)
        call.start = now()
        try:
            call.rows = self.execute(sql)
        except psycopg.Error as error:
            call.error = error.sqlstate
        except Gone:
            call.error = "gone"
            raise
        finally:
            call.end = now() + 1
        return call.error is None

    def run_alone(self, transaction, call):
        """A statement that is a transaction by itself."""
        transaction.marked = call.verb != "hold_sweep_all"
        transaction.fate = "doubt"
        mark = (self.name, transaction.number) if transaction.marked else None
        try:
            answered = self.ask(transaction, call, statement(call, mark))
            transaction.fate = "committed" if answered else "aborted"
        finally:
            transaction.sent, transaction.acked = call.start, call.end

    def run_block(self, transaction, call):
        transaction.level = self.random.choice(LEVELS)
        try:
            self.begin(transaction)
            if self.random.random() < 0.2:
                self.run_many(transaction, self.random.choice(LONE))
            elif not self.ask(transaction, call, statement(call)):
                raise psycopg.Error
            self.dawdle()
            self.end(transaction)
        except psycopg.Error:
            self.execute_surely("ROLLBACK")

    def begin(self, transaction):
        sql = f"BEGIN ISOLATION LEVEL {transaction.level}"
        transaction.hurried = self.random.random() < 0.1
        if transaction.hurried:
            what = self.random.choice(("statement_timeout", "lock_timeout"))
            sql += f"; SET LOCAL {what} = {self.random.randint(1, 10)}"
        self.execute(sql)

    def run_many(self, transaction, pool):
        """Several calls in one pool, and perhaps in a room: the order of locks."""
        for _ in range(self.random.randint(2, 3)):
            self.run_one_of_many(transaction, self.draw.call_in(pool))
            self.dawdle()
        if self.random.random() < 0.3:
            self.run_one_of_many(transaction, Call(*self.draw.hold_room()))

    def run_one_of_many(self, transaction, call):
        undo = self.random.random() < 0.25
        if undo:
            self.execute("SAVEPOINT here")
        answered = self.ask(transaction, call, statement(call))
        if undo:
            call.undone = True
            self.execute("ROLLBACK TO here")
        elif not answered:
            raise psycopg.Error

    def dawdle(self):
        if self.random.random() < 0.3:
            time.sleep(self.random.random() * 0.01)

    def end(self, transaction):
        chance = self.random.random()
        if chance < 0.12:
            self.execute("ROLLBACK")
            return
        self.execute(f"INSERT INTO marks VALUES ('{self.name}', {transaction.number})")
        transaction.fate = "doubt"
        transaction.sent = now()
        if chance < 0.2:
            transaction.fate = "prepared"
            self.prepare(transaction)
            return
        try:
            self.execute("COMMIT")
            transaction.fate = "committed"
        except psycopg.Error:
            transaction.fate = "aborted"
            raise
        finally:
            transaction.acked = now() + 1

    def prepare(self, transaction):
        try:
            self.execute(f"PREPARE TRANSACTION '{transaction.gid}'")
            transaction.acked = now() + 1
        except psycopg.Error:
            transaction.fate = "aborted"
            raise

    def decide(self, transaction):
        """Commits what was prepared, or not, whatever comes in between."""
        verb = "COMMIT" if self.random.random() < 0.6 else "ROLLBACK"
        time.sleep(self.random.random() * self.plan.patience)
        while not decide_prepared(self.execute_surely, transaction, verb):
            pass

    def execute_surely(self, sql):
        """None where that failed, on a connection that is there for the next."""
        try:
            return self.execute(sql)
        except Gone:
            self.connect()
        except psycopg.Error:
            pass
        return None


def decide_prepared(execute, transaction, verb):
    """Ends a prepared transaction; false if it is not known whether that was done."""
    there = execute(f"SELECT gid FROM pg_prepared_xacts WHERE gid = '{transaction.gid}'")
    if there is None:
        return False
    transaction.sent = transaction.sent or now()
    if not there:
        transaction.fate = "doubt"
        transaction.acked = now()
        return True
    transaction.sent, transaction.fate = now(), "doubt"
    if execute(f"{verb} PREPARED '{transaction.gid}'") is None:
        return False
    transaction.acked = now() + 1
    transaction.fate = "committed" if verb == "COMMIT" else "aborted"
    return True


def run_session(plan):
    return Session(plan).run()


def disturb(plan):
    """Cancels what somebody does, or kills his backend, now and then."""
    rng = random.Random(plan.seed)
    with psycopg.connect(f"{plan.dsn} user=postgres", autocommit=True) as connection:
        while now() < plan.until:
            time.sleep(rng.random() * 0.1)
            how = rng.choice(("pg_cancel_backend", "pg_cancel_backend", "pg_terminate_backend"))
            connection.execute(
                f"SELECT {how}(pid) FROM pg_stat_activity WHERE application_name = 'storm'"
                " AND state <> 'idle' ORDER BY random() LIMIT 1")
    return []
