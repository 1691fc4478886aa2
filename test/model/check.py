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
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from commands import KEY, KINDS
from comparison import Comparison, Disagreement
from mutants import MUTANTS
from server import Proxied, Recorder, Replay, Server

STEPS = 40  # of a sequence
RECORDED = 150  # sequences of each kind that mutants meet

tests = itertools.count(1)


@functools.cache
def server(kind, dsn):
    """This process's own, with a database of its own."""
    return kind(dsn)


def run_batch(number, kind, dsn, sequences, shrink):
    """Runs the sequences of a seed; returns how many steps, and what was found."""

    class Machine(RuleBasedStateMachine):
        steps = 0

        def __init__(self):
            super().__init__()
            self.comparison = Comparison(server(kind, dsn), f"{KEY}test {next(tests)}")

        @rule(command=KINDS[number % len(KINDS)])
        def step(self, command):
            Machine.steps += 1
            self.comparison.step(command)

        def teardown(self):
            self.comparison.end()

    phases = [Phase.generate, Phase.shrink] if shrink else [Phase.generate]
    try:
        run_machine(Machine, number, sequences, phases)
    except Disagreement as error:
        return Machine.steps, f"seed {number}:{error}\n"
    return Machine.steps, None


def run_machine(machine, number, sequences, phases):
    run = settings(
        max_examples=sequences, stateful_step_count=STEPS, database=None, deadline=None,
        phases=phases, print_blob=False, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(seed(number)(machine), settings=run)


def check_extension(arguments):
    """Yields True for each batch in which all agreed."""
    started, steps = time.monotonic(), 0
    seeds = itertools.count(arguments.seed)
    kind = Proxied if arguments.proxied else Server
    jobs = 1 if arguments.proxied else arguments.jobs
    batch = functools.partial(run_batch, kind=kind, dsn=arguments.dsn,
                              sequences=arguments.sequences, shrink=arguments.shrink)
    with multiprocessing.Pool(jobs) as workers:
        while steps < arguments.steps:
            numbers = list(itertools.islice(seeds, jobs))
            results = workers.map(batch, numbers)
            errors = [error for _, error in results if error]
            print(*errors, sep="\n", end="", flush=True)
            yield from (error is None for _, error in results)
            steps += sum(done for done, _ in results)
            if errors and not arguments.keep_going:
                break
    print(f"{steps} steps, {steps / (time.monotonic() - started):.0f} a second")


def record(number, recorder):
    """Sequences as (commands, answers), as far as model and server agree."""
    recordings = []

    class Machine(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.comparison = Comparison(recorder, f"test {next(tests)}")
            self.agrees = True
            self.commands = []
            recordings.append((self.commands, recorder.tape))

        @rule(command=KINDS[number % len(KINDS)])
        def step(self, command):
            if not self.agrees:
                return
            try:
                self.comparison.step(command)
                self.commands.append(command)
            except Disagreement:
                self.agrees = False

        def teardown(self):
            self.comparison.clear()

    run_machine(Machine, number, RECORDED, [Phase.generate])
    return recordings


def agrees(recording):
    """Does the model, as it is now, agree with what was recorded?"""
    commands, tape = recording
    comparison = Comparison(Replay(tape), "replay")
    try:
        for command in commands:
            comparison.step(command)
    except Disagreement:
        return False
    return True


def check_mutants(arguments):
    """Yields True for each mutant that disagrees where the model agrees."""
    seeds = range(arguments.seed, arguments.seed + len(KINDS))
    recorder = Recorder(arguments.dsn)
    recordings = [one for number in seeds for one in record(number, recorder)]
    print(f"{sum(len(commands) for commands, _ in recordings)} steps recorded")
    yield all(map(agrees, recordings))
    for name, target, attribute, wrong in MUTANTS:
        with mock.patch.object(target, attribute, wrong):
            found = not all(map(agrees, recordings))
        print(f"{'found' if found else 'NOT FOUND'}: {name}", flush=True)
        yield found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", default="user=postgres")
    parser.add_argument("--steps", type=int, default=20000, help="at least so many")
    parser.add_argument("--sequences", type=int, default=25, help="of a batch")
    parser.add_argument("--seed", type=int, default=1, help="of the first batch")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--proxied", action="store_true",
                        help="the dsn is of a proxy and its database; see examples/sharding")
    parser.add_argument("--keep-going", action="store_true", help="after a failure too")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false",
                        help="show sequences as they were found")
    parser.add_argument("--mutants", action="store_true", help="check the check")
    arguments = parser.parse_args()
    results = list((check_mutants if arguments.mutants else check_extension)(arguments))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
