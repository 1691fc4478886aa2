"""Compares the extension with the model of its contract, step by step.

The last line is "N passed, N failed": what is counted are batches of random
sequences, each with a seed of its own and on a database of its own.
"""

import argparse
import sys
import time
import traceback

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

import commands
from machine import Disagreement, machine_of
from server import Server

STEPS = 40  # of a sequence
SEQUENCES = 25  # of a batch


def run_batch(server, number, shrink):
    """Runs the sequences of one seed; returns how many steps that were."""
    machine = machine_of(server, commands.KINDS[number % len(commands.KINDS)])
    run = settings(
        max_examples=SEQUENCES, stateful_step_count=STEPS, database=None, deadline=None,
        phases=[Phase.generate, Phase.shrink][:1 + shrink], print_blob=False,
        suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(seed(number)(machine), settings=run)
    return machine.steps


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", default="user=postgres")
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    arguments = parser.parse_args()
    passed = failed = steps = 0
    started = time.monotonic()
    number = arguments.seed
    server = Server(arguments.dsn)
    while steps < arguments.steps:
        try:
            steps += run_batch(server, number, arguments.shrink)
            passed += 1
        except Disagreement as error:
            failed += 1
            steps += STEPS * SEQUENCES
            print(f"seed {number}:{error}\n", flush=True)
        number += 1
    print(f"{steps} steps, {steps / (time.monotonic() - started):.0f} a second")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
