"""Sessions that meet each other at random, and the proof that nothing went wrong."""

import argparse
import multiprocessing
import sys
from pathlib import Path

import psycopg

from check import Check, report, summary
from record import UNIT, now
from session import Plan, disturb, run_session

MOST_STORMS = 4  # on a machine that is busy with other things
GUST = 3  # seconds between two looks for a fault

# What a storm must have met, or it has proved little.
MUST_MEET = [
    "granted", "renewed", "changed", "consumed", "released", "expired", "returned", "capacity",
    "opened", "closed", "generation", "hold_try: insufficient", "hold_try: already_consumed",
    "hold_try: closed", "hold_try: pool_expired", "hold_try_lines: blocked",
    "hold_renew: renewed", "hold_consume: consumed", "hold_consume: already_consumed",
    "hold_consume: expired", "hold_consume: not_found", "hold_release: released",
    "hold_release: already_released", "hold_return: returned", "hold_try_stay: granted",
    "hold_try_stay: stay_taken", "hold_move_stay: changed", "hold_move_stay: stay_taken",
    "a split"]


def blow(arguments, seconds, began, done=()):
    """All that the sessions did in that time, in a list of transactions."""
    until = now() + int(seconds * UNIT)
    plans = [Plan(arguments.dsn, n, f"{arguments.seed} {n} {len(done)}", began, until, len(done),
                  often=arguments.often)
             for n in range(arguments.sessions + 1)]
    with multiprocessing.Pool(len(plans)) as pool:
        disturbed = pool.apply_async(disturb, [plans.pop()])
        found = pool.map(run_session, plans, chunksize=1)
        disturbed.get()
    return [transaction for transactions in found for transaction in transactions]


def everything(dsn):
    """A function that returns the rows of a query."""
    connection = psycopg.connect(f"{dsn} user=postgres", autocommit=True)
    return lambda sql: connection.execute(sql).fetchall()


def unmet(check):
    seen = check.seen()
    seen["a split"] = len(check.ledger.rows_of("hot")) - 1
    return [f"never: {what}" for what in MUST_MEET if not seen[what]]


def fallen(log):
    """What the server's log says of backends that nobody asked to go."""
    for line in Path(log).read_text(errors="replace").splitlines():
        if "was terminated by signal" in line or "PANIC:" in line or "TRAP:" in line:
            yield line


def prove(arguments):
    """Reports on a storm, which goes on until all has happened; did nothing go wrong?"""
    began, done = now(), []
    for _ in range(MOST_STORMS):
        done += blow(arguments, arguments.seconds, began, done)
        check = Check(everything(arguments.dsn), done)
        if not unmet(check):
            break
    passed, failed = report([*check.results(), ("no backend has fallen", fallen(arguments.log)),
                             ("all of it has happened", unmet(check))])
    print(summary(check))
    print(f"{passed} passed, {failed} failed")
    return not failed


def find_fault(arguments):
    """Storms until something is wrong, which must be soon."""
    began, done = now(), []
    while now() < began + MOST_STORMS * arguments.seconds * UNIT:
        done += blow(arguments, GUST, began, done)
        for claim, wrong in Check(everything(arguments.dsn), done).results():
            for what in wrong:
                print(f"    found: not so: {claim}\n    {what}")
                return True
    print("    NOT FOUND")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", default="dbname=storm")
    parser.add_argument("--log", default="/dev/null", help="the server's")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--often", help="a method of Draw that is to be drawn more often")
    parser.add_argument("--faulty", action="store_true", help="something must be wrong")
    arguments = parser.parse_args()
    sys.exit(not (find_fault if arguments.faulty else prove)(arguments))


if __name__ == "__main__":
    main()
