"""Shards and proxies on one machine: each a PostgreSQL of its own, on a socket of its own.

	python3 cluster.py DIRECTORY [SHARDS [PROXIES]]

starts them and waits; Ctrl-C stops them.  PG_BIN says where the programs are, else the
path does.
"""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

HERE = Path(__file__).parent
SLOTS = 1024
TICKS = os.sysconf("SC_CLK_TCK")


def program(name):
    return os.path.join(os.environ.get("PG_BIN", ""), name)


def run(*command):
    subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)


def at_once(function, arguments):
    with ThreadPoolExecutor() as pool:
        list(pool.map(function, arguments))


class Machine:
    """A PostgreSQL server; its directory is also where its socket is."""

    SETTINGS = {
        "listen_addresses": "", "max_connections": 200, "max_prepared_transactions": 10,
        "shared_preload_libraries": "hold_ledger", "log_min_messages": "error"}

    def __init__(self, directory, **settings):
        self.directory = Path(directory)
        self.settings = self.SETTINGS | {"unix_socket_directories": self.directory} | settings

    def make(self):
        self.directory.mkdir(parents=True)
        run(program("initdb"), "-D", self.data, "-U", "postgres", "-A", "trust", "--no-sync")
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in self.settings.items())
        self.start()

    @property
    def data(self):
        return self.directory / "data"

    def start(self):
        self.control("start", "-l", self.directory / "log")

    def stop(self, mode="fast"):
        self.control("stop", "-m", mode)

    def control(self, *words):
        run(program("pg_ctl"), "-s", "-w", "-D", self.data, *words)

    def is_up(self):
        return (self.data / "postmaster.pid").exists()

    def conninfo(self, database, **more):
        return make_conninfo(host=str(self.directory), dbname=database, **more)

    def connect(self, database, user="postgres", **more):
        return psycopg.connect(self.conninfo(database, user=user, **more), autocommit=True)

    def execute(self, database, sql, parameters=None):
        """The rows that a statement answers."""
        with self.connect(database) as connection:
            cursor = connection.execute(sql, parameters)
            return cursor.fetchall() if cursor.description else []

    def make_database(self, name, *scripts):
        run(program("createdb"), "-h", self.directory, "-U", "postgres", name)
        self.run_scripts(name, *scripts)

    def run_scripts(self, database, *scripts):
        files = [word for script in scripts for word in ("-f", HERE / script)]
        run(program("psql"), "-Xq", "-v", "ON_ERROR_STOP=1", *files,
            self.conninfo(database, user="postgres", options="-c client_min_messages=warning"))

    def processes(self):
        postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
        return [postmaster, *map(int, children.split())]

    def cpu(self):
        """Seconds of CPU so far, of those too that have ended."""
        first, *others = map(times, self.processes())
        return sum(first) + sum(own for own, _ in others)


def times(pid):
    """(its own seconds of CPU, those of children that have ended)"""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    own, ended = sum(map(int, words[11:13])), sum(map(int, words[13:15]))
    return own / TICKS, ended / TICKS


class Cluster:
    """A world of shards and proxies: a database on each machine."""

    def __init__(self, name, shards, proxies):
        self.name = name
        self.shards = dict(enumerate(shards))
        self.proxies = proxies
        at_once(self.make_shard, self.shards)
        at_once(self.make_proxy, proxies)
        for number in self.shards:
            self.on(number, "INSERT INTO sharding.slots SELECT unnest(%s)",
                    [self.first_slots(number)])

    def database(self, number):
        """Its name is in the errors of what runs there."""
        return f"{self.name}_shard{number}"

    def make_shard(self, number):
        machine = self.shards[number]
        machine.make_database(self.database(number), "both.sql", "shard.sql", "move.sql")
        machine.execute(self.database(number), "SELECT sharding.make_shard(%s)", [number])

    def make_proxy(self, proxy):
        proxy.make_database(self.name, "both.sql", "proxy.sql")
        for number in self.shards:
            self.tell_proxy(proxy, number)
            proxy.execute(self.name, "SELECT sharding.assign(%s, %s)",
                          [self.first_slots(number), number])

    def first_slots(self, number):
        return list(range(number, SLOTS, len(self.shards)))

    def tell_proxy(self, proxy, number):
        proxy.execute(self.name, "INSERT INTO sharding.shards VALUES (%s, %s)",
                      [number, self.shards[number].conninfo(self.database(number))])

    def add_shard(self, machine):
        """One more, which all proxies know, as yet without a slot."""
        number = len(self.shards)
        self.shards[number] = machine
        self.make_shard(number)
        for proxy in self.proxies:
            self.tell_proxy(proxy, number)
        return number

    def on(self, number, sql, parameters=None):
        """What a shard says itself."""
        return self.shards[number].execute(self.database(number), sql, parameters)

    def ask(self, sql, parameters=None, proxy=0):
        """What a proxy says."""
        return self.proxies[proxy].execute(self.name, sql, parameters)

    def connect(self, proxy=0, **more):
        return self.proxies[proxy].connect(self.name, **more)

    def shard_of(self, key):
        return self.ask("SELECT shard FROM sharding.slots WHERE slot = sharding.slot(%s)",
                        [key])[0][0]

    def keys(self, number, count=1, prefix="k"):
        """Keys that are on this shard."""
        return [key for key, in self.ask(
            "SELECT key FROM (SELECT %s || n AS key FROM generate_series(1, 100000) n) k"
            " JOIN sharding.slots ON slot = sharding.slot(key) WHERE shard = %s LIMIT %s",
            [prefix, number, count])]


def start_machines(directory, shards=4, proxies=2, **settings):
    """Two lists; stop() them in the end."""
    made = [Machine(directory / name, **settings) for name in
            [f"shard{n}" for n in range(shards)] + [f"proxy{n}" for n in range(proxies)]]
    at_once(Machine.make, made)
    return made[:shards], made[shards:]


def stop(machines):
    for machine in machines:
        if machine.is_up():
            machine.stop("immediate")


def main():
    directory, *counts = sys.argv[1:]
    shards, proxies = start_machines(Path(directory), *map(int, counts))
    try:
        cluster = Cluster("ledger", shards, proxies)
        for proxy in cluster.proxies:
            print("proxy: psql -h", proxy.directory, "-U postgres", cluster.name)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        stop(shards + proxies)


if __name__ == "__main__":
    main()
