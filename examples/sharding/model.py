"""Runs the model check of test/model through the proxies: a world for each shard, with the
names of all its pools, tokens and rooms under a key of that shard."""

import os
import subprocess
import sys
from pathlib import Path

from cluster import HERE, Cluster, start_machines, stop

MODEL = HERE.parent.parent / "test" / "model"


def make_world(number, shards, proxies):
    """Its key, and the dsn of its proxy."""
    world = Cluster(f"model{number}", shards, [proxies[number % len(proxies)]])
    key, = world.keys(number)
    room_key = ("CREATE OR REPLACE FUNCTION sharding.room_key(room_id bigint) RETURNS text"
                f" LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '{key}' $$")
    for shard in world.shards:
        database = world.database(shard)
        world.shards[shard].run_scripts(database, MODEL / "setup.sql", HERE / "model_shard.sql")
        world.on(shard, room_key)
    world.proxies[0].run_scripts(world.name, HERE / "model_proxy.sql")
    world.ask(room_key)
    return key, world.proxies[0].conninfo(world.name, user="postgres")


def start_check(number, key, dsn, sequences):
    """The worlds also differ in the kind of calls."""
    return subprocess.Popen(
        [sys.executable, str(MODEL / "check.py"), "--proxied", "--dsn", dsn,
         "--steps", "1", "--sequences", str(sequences), "--seed", str(number)],
        env=os.environ | {"MODEL_KEY": "{%s}" % key})


def main():
    sequences = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    shards, proxies = start_machines(Path(sys.argv[1]), fsync="off")
    try:
        worlds = [make_world(number, shards, proxies) for number in range(len(shards))]
        checks = [start_check(number, *world, sequences) for number, world in enumerate(worlds)]
        sys.exit(max(check.wait() for check in checks))
    finally:
        stop(shards + proxies)


if __name__ == "__main__":
    main()
