"""The driver: says a command as SQL, and makes answers of server and model alike."""

import json
import math
import os
from datetime import datetime, timedelta
from decimal import Decimal

import psycopg

from ledger import PoolId, StayId, Undetermined

TIMES = ("expires_at", "retry_at", "at", "held_since", "next_expiry")
QUERY = "SELECT coalesce(json_agg(to_jsonb(answer)), '[]')::text FROM {} AS answer"
DAY = datetime(2031, 1, 1)


def literal(name, value):
    """An argument as SQL; its name tells what kind it is."""
    if name == "asks":
        return "'told(text)'"
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if name == "ttl":
        return f"'{value} min'"
    if name == "expires_at":
        return "'infinity'" if value == "infinity" else f"{{t0}} + interval '{value} min'"
    if name == "payload":
        return f"'{json.dumps(value)}'"
    if isinstance(value, tuple) and name in ("stay", "nights"):
        return f"'{nights(value)}'"
    if name == "lines":
        return "ARRAY[{}]::hold_line[]".format(", ".join(map(line, value)))
    if name == "requests":
        return "ARRAY[{}]::hold_request[]".format(", ".join(map(request, value)))
    if isinstance(value, list):
        return "ARRAY[{}]{}".format(
            ", ".join(literal(None, v) for v in value), ARRAYS[name])
    return str(plain(value)) if isinstance(value, (int, Decimal)) else f"'{value}'"


NAMES = {"asks": "capacity_from"}
ARRAYS = {"qtys": "::numeric[]", "refs": "::text[]", "tokens": "::text[]",
          "pools": "::text[]", "room_ids": "::bigint[]"}


def line(value):
    return "hold_line({})".format(", ".join(literal(None, v) for v in value))


def request(value):
    names = ("token", "pool", "qty", "ttl", "budget", "payload")
    return "ROW({})".format(", ".join(map(literal, names, value)))


def call(function, arguments):
    given = (f"{NAMES.get(name, name)} => {literal(name, value)}"
             for name, value in arguments.items())
    return "{}({})".format(function, ", ".join(given))


def day(number):
    return (DAY + timedelta(days=number)).date().isoformat()


def nights(value):
    return f"[{day(value[0])},{day(value[1])})"


def plain(value):
    """A number as the server writes it: all digits, no trailing zeros."""
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def expected(value, column=None):
    """The model's answer, with each number as text."""
    if isinstance(value, dict):
        return {key: list(map(day, v)) if key == "taken" else expected(v, key)
                for key, v in value.items()}
    if isinstance(value, list):
        return [expected(v) for v in value]
    if value is None or isinstance(value, (bool, str, PoolId, StayId, Undetermined)):
        return value
    if column in TIMES:
        return f"{value} min"
    if isinstance(value, tuple):
        return nights(value)
    return plain(value)


class Server:
    """One session, and the moment at which the present test began."""

    has_transactions = True

    def __init__(self, dsn):
        self.dsn = dsn
        self.name = f"model_{os.getpid()}"
        self.tests = 0
        self.cursor = None
        self.script = []
        self.t0 = None

    def begin_test(self):
        """Now and then on a new database, as hold_verify() reads all there is."""
        if self.tests % 25 == 0:
            self.use_new_database()
        self.tests += 1
        self.script = ["-- after test/model/setup.sql", "SELECT hold_clock() AS t0 \\gset"]
        self.cursor.execute("SELECT clock_timestamp()")
        self.t0 = self.cursor.fetchone()[0]

    def use_new_database(self):
        if self.cursor:
            self.cursor.connection.close()
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {self.name} TEMPLATE model STRATEGY file_copy")
        self.cursor = psycopg.connect(f"{self.dsn} dbname={self.name}", autocommit=True).cursor()

    def run(self, sql):
        """Runs what a reader of the script could paste into psql."""
        self.script.append(sql.replace("{t0}", ":'t0'::timestamptz") + ";")
        self.cursor.execute(sql.replace("{t0}", f"'{self.t0.isoformat()}'::timestamptz"))

    def move_clock(self, offset):
        self.run(f"SET hold_ledger.clock_offset = '{offset}'")

    def answer(self, source):
        """What a function says, as a list of rows, or its SQLSTATE."""
        self.script.append("SELECT * FROM " + source.replace("{t0}", ":'t0'::timestamptz") + ";")
        return self.look(QUERY.format(source))

    def look(self, sql):
        """What a query says that the script does not need."""
        try:
            self.cursor.execute(sql.replace("{t0}", f"'{self.t0.isoformat()}'::timestamptz"))
        except psycopg.Error as error:
            return error.sqlstate
        text = self.cursor.fetchone()[0]
        return self.actual(json.loads(text, parse_float=str, parse_int=str))

    def actual(self, value, column=None):
        """The server's answer, with each time in minutes since the test began."""
        if isinstance(value, dict):
            return {key: self.actual(v, key) for key, v in value.items()}
        if isinstance(value, list):
            return [self.actual(v) for v in value]
        if column in TIMES and value is not None:
            return self.minutes(value)
        return value

    def minutes(self, text):
        """Full minutes; what is over them must have passed on the wall clock."""
        if text == "infinity":
            return text
        seconds = (datetime.fromisoformat(text) - self.t0).total_seconds()
        full = math.floor(seconds / 60)
        now = datetime.now(self.t0.tzinfo)
        if seconds - 60 * full > (now - self.t0).total_seconds():
            return text
        return f"{full} min"


class Proxied(Server):
    """A session at a proxy, behind which each call is a transaction of its own.

    The dsn names the database, in which set_clock() moves the clock of all shards.
    """

    has_transactions = False

    def use_new_database(self):
        self.cursor = self.cursor or psycopg.connect(self.dsn, autocommit=True).cursor()

    def move_clock(self, offset):
        self.run(f"SELECT set_clock('{offset}')")


class Recorder(Server):
    """Keeps what it answered, to be heard again."""

    def begin_test(self):
        super().begin_test()
        self.tape = []

    def look(self, sql):
        found = super().look(sql)
        self.tape.append(found)
        return found


class Replay:
    """Answers as a server once did, without one."""

    has_transactions = True

    def __init__(self, tape):
        self.script = []
        self.tape = iter(tape)

    def begin_test(self):
        pass

    def run(self, sql):
        pass

    move_clock = run

    def look(self, sql):
        return next(self.tape)

    answer = look
