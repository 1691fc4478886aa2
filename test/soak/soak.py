"""Loads a server at a steady rate, measures what might creep, and says whether it does."""

import argparse
import os
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

import psycopg

LOAD = Path(__file__).parent / "load"
COLUMNS = ["minute", "pools", "holds", "stays", "entry", "memory", "latency", "waiting"]
RELATIONS = {"pools": "hold_pools", "holds": "holds", "stays": "room_stays"}
SNAPSHOT = 0.2, 0.55  # shares of the time between which it is open
EARLY = 0.1, 0.2  # before it
LATE = 0.8, 1.0  # long after it
LONG = 5  # minutes; in less, latency tells more of the machine than of us


def scripts():
    """Options that make pgbench draw the scripts by their weights."""
    for script in sorted(LOAD.glob("*.sql")):
        weight = script.read_text().split("\n", 1)[0].removeprefix("-- weight: ")
        yield f"--file={script}@{weight}"


def start_load(arguments, log):
    """pgbench at a fixed rate, so that later samples have as much to do as earlier ones."""
    command = [f"{arguments.bin}/pgbench", "--no-vacuum", "--client=8", "--jobs=2",
               f"--rate={arguments.rate}", f"--time={int(arguments.minutes * 60)}",
               "--log", f"--log-prefix={log}", f"--aggregate-interval={arguments.every}",
               *scripts(), arguments.dsn + " application_name=load"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def start_sweeps(arguments):
    psql = [f"{arguments.bin}/psql", "-Xq", arguments.dsn]
    sweeps = subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    sweeps.stdin.write("SELECT hold_sweep(1000) \\watch 1\n")
    sweeps.stdin.close()
    return sweeps


def private_memory(pid):
    """kB of a process that it shares with nobody; None if it has gone."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return None
    return sum(int(line.split()[1]) for line in rollup.splitlines()
               if line.startswith("Private_"))


def largest_backend(connection):
    pids = connection.execute(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'load'").fetchall()
    return max((memory for (pid,) in pids if (memory := private_memory(pid))), default=None)


def sizes(connection):
    """MB of the tables with their indexes, bytes of a ledger entry, holds past their end."""
    row = {name: size(connection, table) / 1e6 for name, table in RELATIONS.items()}
    entries, waiting = connection.execute(
        "SELECT (SELECT count(*) FROM hold_ledger),"
        " (SELECT count(*) FROM holds WHERE expires_at <= clock_timestamp())").fetchone()
    return row | {"entry": size(connection, "hold_ledger") / max(entries, 1),
                  "waiting": waiting}


def size(connection, table):
    return connection.execute("SELECT pg_total_relation_size(%s::text::regclass)",
                              [table]).fetchone()[0]


def latencies(log):
    """Mean milliseconds of a script by the second at which an interval began."""
    found = {}
    for part in Path(log).parent.glob(f"{Path(log).name}.*"):
        for line in part.read_text().splitlines():
            at, number, total, _, _, _, lag, *_ = map(int, line.split())
            done, spent = found.get(at, (0, 0))
            found[at] = done + number, spent + total - lag
    return {at: spent / done / 1000 for at, (done, spent) in sorted(found.items()) if done}


def run(arguments, log):
    """Samples of the whole time, one row each."""
    began, length = time.time(), arguments.minutes * 60
    load, sweeps = start_load(arguments, log), start_sweeps(arguments)
    connection = psycopg.connect(arguments.dsn, autocommit=True)
    keeper = None
    samples = []
    while (share := (time.time() - began) / length) < 1 and load.poll() is None:
        if keeper is None and SNAPSHOT[0] <= share < SNAPSHOT[1]:
            keeper = psycopg.connect(arguments.dsn)
            keeper.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            keeper.execute("SELECT count(*) FROM hold_pools")
        elif keeper is not None and share >= SNAPSHOT[1]:
            keeper.close()
        samples.append({"minute": (time.time() - began) / 60,
                        "memory": largest_backend(connection)} | sizes(connection))
        time.sleep(arguments.every)
    failed = load.wait()
    sweeps.terminate()
    by_time = latencies(log)
    for sample in samples:
        near = began + sample["minute"] * 60
        sample["latency"] = min(by_time.items(), key=lambda item: abs(item[0] - near))[1]
    return samples, failed, connection


def part(samples, name, share):
    """The median of a column in that share of the time."""
    end = samples[-1]["minute"]
    return median(s[name] for s in samples
                  if share[0] * end <= s["minute"] <= share[1] * end and s[name] is not None)


def results(samples, failed, connection):
    """(what is promised, whether it is so)"""
    early = {name: part(samples, name, EARLY) for name in COLUMNS}
    late = {name: part(samples, name, LATE) for name in COLUMNS}
    last = {name: part(samples, name, (0.95, 1)) for name in COLUMNS}
    settled = {name: part(samples, name, (0.6, 0.75)) for name in COLUMNS}
    yield "the load met no error", not failed
    for name, table in RELATIONS.items():
        yield (f"{table} no longer grows once the snapshot is gone",
               last[name] <= settled[name] * 1.05 + 0.1)
    yield "a ledger entry takes no more room later", late["entry"] <= early["entry"] * 1.05
    yield "no backend's memory grows", last["memory"] <= settled["memory"] * 1.05 + 256
    if samples[-1]["minute"] >= LONG - 1:
        yield ("latency is what it was before the snapshot",
               late["latency"] <= early["latency"] * 1.5)
    yield "sweeps keep up with what expires", late["waiting"] <= early["waiting"] * 2 + 500
    yield ("the numbers agree",
           connection.execute("SELECT count(*) FROM hold_verify()").fetchone() == (0,))


def write_table(samples, path):
    lines = [" ".join(COLUMNS)]
    lines += [" ".join(f"{s[name] or 0:.3f}" for name in COLUMNS) for s in samples]
    path.write_text("\n".join(lines) + "\n")


def plot(samples, results_folder, name):
    data = results_folder / "soak.data"
    write_table(samples, data)
    end = samples[-1]["minute"]
    settings = (f"data='{data}'; snapshot_from={SNAPSHOT[0] * end};"
                f" snapshot_to={SNAPSHOT[1] * end}; minutes={end}")
    with open(results_folder / f"{name}.svg", "w") as output:
        subprocess.run(["gnuplot", "-e", settings, str(Path(__file__).parent / "plot.gp")],
                       stdout=output, check=True)
    data.unlink()


def report(arguments, samples, verdicts, connection):
    version = connection.execute("SHOW server_version").fetchone()[0]
    entries = connection.execute("SELECT count(*) FROM hold_ledger").fetchone()[0]
    lines = [
        f"# {arguments.name}", "",
        f"- date: {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC",
        f"- machine: {os.cpu_count()} CPUs; server: PostgreSQL {version}",
        f"- load: {arguments.rate} scripts a second for {arguments.minutes:g} minutes by 8"
        f" clients, {entries} ledger entries; sweeps every second; autovacuum;"
        f" a snapshot open from minute {SNAPSHOT[0] * arguments.minutes:g}"
        f" to {SNAPSHOT[1] * arguments.minutes:g}",
        "", f"![sizes, memory and latency]({arguments.name}.svg)", "",
        "Medians; tables in MB with their indexes, memory in kB of the largest backend, latency in ms.",
        "", "| time | counters | holds | stays | bytes a ledger entry | memory | latency"
        " | expired, not yet swept |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for title, share in [("before the snapshot", EARLY), ("with it", (SNAPSHOT[1] - 0.1, SNAPSHOT[1])),
                         ("right after", (0.6, 0.75)), ("at the end", (0.95, 1))]:
        cells = [f"{part(samples, name, share):.2f}" for name in COLUMNS[1:]]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += [""] + [f"- {'yes' if good else 'NO'}: {what}" for what, good in verdicts] + [""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--bin", required=True, help="of PostgreSQL")
    parser.add_argument("--results", required=True, type=Path)
    parser.add_argument("--name", default="soak")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=int, default=200, help="scripts a second")
    parser.add_argument("--every", type=int, default=5, help="seconds between samples")
    arguments = parser.parse_args()
    samples, failed, connection = run(arguments, os.path.abspath("load.log"))
    verdicts = list(results(samples, failed, connection))
    text = report(arguments, samples, verdicts, connection)
    (arguments.results / f"{arguments.name}.md").write_text(text)
    plot(samples, arguments.results, arguments.name)
    print(text)
    good = sum(fine for _, fine in verdicts)
    print(f"{good} passed, {len(verdicts) - good} failed")
    return good < len(verdicts)


if __name__ == "__main__":
    sys.exit(main())
