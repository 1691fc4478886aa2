"""Calls every function with every kind of value, and looks for what must not be.

Counted are rounds, each on a database and with a seed of its own; a round fails
at its first fault, which is printed as SQL for psql.  With --mutants the check
itself is checked: what is wrong on purpose must be found.
"""

import argparse
import collections
import functools
import itertools
import multiprocessing
import os
import random
import sys
import time

import psycopg

from calls import Round
from catalog import Catalog
from mutants import MUTANTS
from session import OthersCrash, Session

ENCODINGS = ["UTF8", "LATIN1", "UTF8", "SQL_ASCII"]
SHORTENING = 60  # seconds
ENOUGH = 5000  # calls in which each function must have been tried
MISTAKES = ["22", "25", "2D", "42"]  # classes of SQLSTATE
ROUNDS = 30  # that a mutant has to survive


class World:
    """Where rounds run: makes them a database each."""

    def __init__(self, dsn, timeout, mutant=""):
        self.dsn = dsn
        self.timeout = timeout
        self.mutant = mutant  # SQL that makes the extension wrong
        self.numbers = itertools.count(1)

    def administer(self, *statements):
        """Once more where the server fell, as it gets up again."""
        while True:
            try:
                with self.connect("postgres") as connection:
                    for statement in statements:
                        connection.execute(statement)
                return
            except psycopg.OperationalError:
                time.sleep(0.5)

    def connect(self, database):
        """Waits for a server that fell to get up again."""
        for _ in range(60):
            try:
                return psycopg.connect(
                    f"{self.dsn} dbname={database}"
                    f" options='-c statement_timeout={self.timeout}s'", autocommit=True)
            except psycopg.OperationalError:
                time.sleep(0.5)
        raise RuntimeError("the server is gone")

    def run(self, steps, encoding, heard=None):
        """Runs steps on a new database; answers the first fault, or None."""
        database = f"fuzz_{os.getpid()}_{next(self.numbers)}"
        while True:
            self.administer(f"CREATE DATABASE {database} TEMPLATE fuzz_{encoding.lower()}"
                            " STRATEGY file_copy")
            try:
                return self.run_on(database, steps, heard)
            except OthersCrash:
                continue
            finally:
                self.drop(database)

    def run_on(self, database, steps, heard):
        if self.mutant:
            with self.connect(database) as connection:
                connection.execute(self.mutant)
        session = Session(self.connect(database), self.timeout)
        fault = session.run(steps)
        session.close()
        if heard is not None:
            heard.update(session.heard)
        return fault

    def drop(self, database):
        """A session that hangs may keep its database till the server is stopped."""
        try:
            self.administer(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            f" WHERE datname = '{database}'",
                            f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        except psycopg.Error as error:
            print(f"cannot drop database {database}: {error}")

    def catalog(self):
        """What there is to call, with what a mutant adds."""
        database = f"fuzz_{os.getpid()}_catalog"
        self.administer(f"CREATE DATABASE {database} TEMPLATE fuzz_utf8 STRATEGY file_copy")
        with self.connect(database) as connection:
            if self.mutant:
                connection.execute(self.mutant)
            found = Catalog(connection)
        self.drop(database)
        return found


def steps_of(number, catalog):
    """The steps of a round, and the encoding of its database."""
    encoding = ENCODINGS[number % len(ENCODINGS)]
    return Round(random.Random(number), catalog, encoding).steps(), encoding


def run_round(number, world, catalog, shorten):
    """Answers how many calls, what each function answered, and the fault as text."""
    steps, encoding = steps_of(number, catalog)
    heard = {}
    fault = world.run(steps, encoding, heard)
    calls = sum(step.kind == "call" for step in steps)
    if fault is None:
        return calls, heard, None
    steps = steps[:fault.step + 1]
    if shorten:
        steps = shortened(steps, lambda rest: same(world.run(rest, encoding), fault))
    return calls, heard, script(number, encoding, fault, steps)


def same(found, fault):
    return found is not None and found.what == fault.what


def shortened(steps, fails):
    """Leaves out what is not needed, as far as time allows."""
    end = time.monotonic() + SHORTENING
    size = len(steps)
    while size > 1 and time.monotonic() < end:
        size = (size + 1) // 2
        start = 0
        while start < len(steps) and time.monotonic() < end:
            rest = steps[:start] + steps[start + size:]
            if rest and fails(rest):
                steps = rest
            else:
                start += size
    return steps


def script(number, encoding, fault, steps):
    return "\n".join([
        f"\nseed {number}: {fault}",
        f"-- after test/fuzz/roles.sql and, in a database of encoding {encoding}, test/fuzz/setup.sql",
        "\\set ON_ERROR_ROLLBACK on", *(step.sql + ";" for step in steps), ""])


def check_extension(arguments):
    """Yields True for each round without a fault."""
    world = World(arguments.dsn, arguments.timeout)
    catalog = world.catalog()
    started, calls = time.monotonic(), 0
    heard = collections.defaultdict(set)
    seeds = itertools.count(arguments.seed)
    one = functools.partial(run_round, world=world, catalog=catalog, shorten=arguments.shorten)
    with multiprocessing.Pool(arguments.jobs) as workers:
        while calls < arguments.calls:
            results = workers.map(one, itertools.islice(seeds, 2 * arguments.jobs), 1)
            for done, answers, fault in results:
                calls += done
                for function, states in answers.items():
                    heard[function] |= states
                if fault:
                    print(fault, flush=True)
                yield fault is None
            if any(fault for _, _, fault in results) and not arguments.keep_going:
                break
    print(f"{calls} calls, {calls / (time.monotonic() - started):.0f} a second")
    if calls >= ENOUGH:
        yield from never_answered(catalog, heard)


def never_answered(catalog, heard):
    """Yields False for a function that was only told mistakes: it was not tried."""
    for function in catalog.functions:
        states = heard[function.name]
        if not function.is_trigger and all(state[:2] in MISTAKES for state in states):
            print(f"always a mistake: {function.name}, {' '.join(sorted(states))}")
            yield False


def check_mutants(arguments):
    """Yields True for each mutant in which the fault is found that it has."""
    for name, what, sql in MUTANTS:
        world = World(arguments.dsn, 3, f"CREATE SCHEMA wrong; GRANT USAGE ON SCHEMA wrong TO PUBLIC; {sql}")
        catalog = world.catalog()
        found = set()
        for number in range(arguments.seed, arguments.seed + ROUNDS):
            fault = world.run(*steps_of(number, catalog))
            if fault:
                found.add(fault.what)
                break
        print(f"{'found' if what in found else 'NOT FOUND'}: {name}", *(found - {what}), flush=True)
        yield what in found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", default="user=postgres")
    parser.add_argument("--calls", type=int, default=20000, help="at least so many")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=30, help="seconds that a call may take")
    parser.add_argument("--keep-going", action="store_true", help="after a fault too")
    parser.add_argument("--no-shorten", dest="shorten", action="store_false",
                        help="show rounds as they were found")
    parser.add_argument("--mutants", action="store_true", help="check the check")
    arguments = parser.parse_args()
    results = list((check_mutants if arguments.mutants else check_extension)(arguments))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) and results else 1


if __name__ == "__main__":
    sys.exit(main())
