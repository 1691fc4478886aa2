"""Compares the extension with the model of its contract, step by step.

Counted are batches of random sequences, each with a seed of its own; a batch
fails with the shortest sequence that was found, as SQL for psql.  With
--mutants the check itself is checked: a model that was made wrong on purpose
must not agree with the extension.
"""

import argparse
import functools
import itertools
import multiprocessing
import sys
import time
from unittest import mock

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

import commands
from machine import Disagreement, machine_of
from mutants import MUTANTS
from server import Server

STEPS = 40  # of a sequence
SEQUENCES = 25  # of a batch
TRIES = 20  # batches in which a mutant must be found


@functools.cache
def server(dsn):
    """This process's own, with a database of its own."""
    return Server(dsn)


def run_batch(number, dsn, shrink=True):
    """Runs the sequences of a seed; returns how many steps, and what was found."""
    machine = machine_of(server(dsn), commands.KINDS[number % len(commands.KINDS)])
    run = settings(
        max_examples=SEQUENCES, stateful_step_count=STEPS, database=None, deadline=None,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        print_blob=False, suppress_health_check=list(HealthCheck))
    try:
        run_state_machine_as_test(seed(number)(machine), settings=run)
    except Disagreement as error:
        return machine.steps, f"seed {number}:{error}\n"
    return machine.steps, None


def check_extension(arguments):
    """Yields True for each batch in which all agreed."""
    started, steps = time.monotonic(), 0
    seeds = itertools.count(arguments.seed)
    batch = functools.partial(run_batch, dsn=arguments.dsn, shrink=arguments.shrink)
    with multiprocessing.Pool(arguments.jobs) as workers:
        while steps < arguments.steps:
            numbers = list(itertools.islice(seeds, arguments.jobs))
            for done, error in workers.imap_unordered(batch, numbers):
                steps += done
                if error:
                    print(error, flush=True)
                yield error is None
    print(f"{steps} steps, {steps / (time.monotonic() - started):.0f} a second")


def check_mutants(arguments):
    """Yields True for each mutant that disagrees where the model agrees."""
    quiet = functools.partial(run_batch, dsn=arguments.dsn, shrink=False)
    agrees = functools.cache(lambda number: quiet(number)[1] is None)
    seeds = range(arguments.seed, arguments.seed + TRIES)
    for name, target, attribute, wrong in MUTANTS:
        found = any(agrees(number) and _disagrees(quiet, number, target, attribute, wrong)
                    for number in seeds)
        print(f"{'found' if found else 'NOT FOUND'}: {name}", flush=True)
        yield found


def _disagrees(quiet, number, target, attribute, wrong):
    with mock.patch.object(target, attribute, wrong):
        return quiet(number)[1] is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", default="user=postgres")
    parser.add_argument("--steps", type=int, default=20000, help="at least so many")
    parser.add_argument("--seed", type=int, default=1, help="of the first batch")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-shrink", dest="shrink", action="store_false",
                        help="show sequences as they were found")
    parser.add_argument("--mutants", action="store_true", help="check the check")
    arguments = parser.parse_args()
    results = list((check_mutants if arguments.mutants else check_extension)(arguments))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
