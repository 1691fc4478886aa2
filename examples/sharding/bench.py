"""Calls per second of 1, 2 and 4 shards behind a proxy, and of one without, on this machine;
and what CPU a call costs the shards, the proxy and the clients.

	python3 bench.py DIRECTORY [SECONDS [ROUNDS]]

The ways are measured in turn, round after round; a line of results.md is their median.
"""

import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from cluster import Cluster, program, start_machines, stop

CLIENTS = 8
KEYS = 1000  # so that no two clients meet often

CALLS = {
    "hold_try": """
\\set key random(1, %(keys)d)
SELECT outcome
FROM hold_try('{k' || :key || '}' || :client_id || '-' || random(), '{k' || :key || '}');
""",
    "hold_available": """
\\set key random(1, %(keys)d)
SELECT hold_available('{k' || :key || '}');
""",
}


class Way:
    """A number of shards, reached by a proxy or at once."""

    def __init__(self, name, shards, proxies):
        self.name = name
        self.cluster = Cluster(name, shards, proxies)
        self.machines = {"shards": shards, "proxy": proxies}
        self.cluster.ask("SELECT hold_pool_set('{k' || n || '}', 1e9) FROM generate_series(1, %s) n",
                         [KEYS])

    def conninfo(self):
        return self.cluster.proxies[0].conninfo(self.cluster.name, user="postgres")


class Direct(Way):
    """The same shard, without a proxy."""

    def __init__(self, way):
        self.name = "direct"
        self.cluster = way.cluster
        self.machines = {"shards": way.machines["shards"], "proxy": []}

    def conninfo(self):
        return self.cluster.shards[0].conninfo(self.cluster.database(0), user="postgres")


def cpu(machines):
    return sum(machine.cpu() for machine in machines)


def measure(way, script, seconds):
    """Calls a second, milliseconds, and microseconds of CPU a call on shards, proxy, clients."""
    before = {part: cpu(machines) for part, machines in way.machines.items()}
    start = os.times()
    said = subprocess.run(
        [program("pgbench"), "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "2",
         "-T", str(seconds), "-f", "-", way.conninfo()],
        input=script % {"keys": KEYS}, capture_output=True, text=True, check=True).stdout
    end = os.times()
    calls = int(re.search(r"processed: (\d+)", said)[1])
    used = {part: cpu(machines) - before[part] for part, machines in way.machines.items()}
    used["clients"] = (end.children_user + end.children_system
                       - start.children_user - start.children_system)
    return {"rate": float(re.search(r"tps = ([\d.]+)", said)[1]),
            "latency": float(re.search(r"latency average = ([\d.]+)", said)[1]),
            **{part: seconds / calls * 1e6 for part, seconds in used.items()}}


def wal_of_a_call(way):
    """Bytes, by one session alone."""
    where = "SELECT pg_current_wal_insert_lsn() - '0/0'"
    first, = way.cluster.on(0, where)[0]
    measured = measure(way, CALLS["hold_try"], 2)
    last, = way.cluster.on(0, where)[0]
    return int(last - first) / (measured["rate"] * 2)


def median(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def report(name, found, direct):
    return "| {} | {:.0f} | {:.2f} | {:.2f} | {:.0f} | {:.0f} | {:.0f} | {:.2f} |".format(
        name, found["rate"], found["rate"] / direct["rate"], found["latency"], found["shards"],
        found["proxy"], found["clients"],
        (found["shards"] + found["proxy"]) / direct["shards"])


def main():
    directory = Path(sys.argv[1])
    seconds, rounds = (int(word) for word in (sys.argv[2:] + ["10", "5"][len(sys.argv) - 2:]))
    shards, proxies = start_machines(directory, shards=4, proxies=1, max_wal_size="4GB")
    try:
        ways = [Way(f"{count} behind a proxy", shards[:count], proxies) for count in (1, 2, 4)]
        ways.insert(0, Direct(ways[0]))
        for call, script in CALLS.items():
            runs = {way.name: [] for way in ways}
            for _ in range(rounds):
                for way in ways:
                    runs[way.name].append(measure(way, script, seconds))
            medians = {name: median(found) for name, found in runs.items()}
            print(f"\n{call}, {CLIENTS} clients, {rounds} rounds of {seconds} s\n")
            print("| shards | calls/s | of direct | ms | CPU of shards, us a call | of proxy |"
                  " of clients | CPU of servers, of direct |")
            print("| --- " * 8 + "|")
            for name, found in medians.items():
                print(report(name, found, medians["direct"]))
        print(f"\nWAL of a hold_try: {wal_of_a_call(ways[0]):.0f} bytes")
    finally:
        stop(shards + proxies)


if __name__ == "__main__":
    main()
