"""Moves slots from one shard to another while both are at work.

	python3 move.py PROXY_DSN[,PROXY_DSN...] SHARD SLOT[,SLOT...]

Name all proxies.  On the source the slots are locked, so that calls for them wait; pools,
holds, stays and ledger are copied as they are, with their ids, and removed; both shards
prepare; the source commits, then the other; then the proxies are told.  A call that came
too early is told 40001 and is right the next time.  After a crash call it again with the
same arguments: finish() says what becomes of what was prepared.
"""

import sys

import psycopg

# in the order in which calls lock them
TABLES = {
    "hold_pools": "SELECT p.* FROM ledger.hold_pools p JOIN sharding.pools_in(%s) USING (pool_id)",
    "holds": "SELECT h.* FROM ledger.holds h JOIN sharding.pools_in(%s) USING (pool_id)",
    "hold_ledger": "SELECT l.* FROM ledger.hold_ledger l JOIN sharding.pools_in(%s) USING (pool_id)"
                   " ORDER BY l.pool_id, l.seq",
    "room_stays": "SELECT s.* FROM ledger.room_stays s"
                  " WHERE sharding.slot(sharding.key(sharding.room_key(s.room_id))) = ANY (%s)",
}


class Move:
    """Of some slots from where they are, by one map for all proxies."""

    def __init__(self, proxies, target, slots):
        self.proxies = proxies
        self.target = target
        self.slots = sorted(slots)
        self.name = f"slots {self.slots[0]} to {self.slots[-1]} to shard {target}"

    def run(self):
        source = self.find_source()
        if source != self.target:
            self.move_from(source)
        self.tell_proxies()

    def move_from(self, source):
        with self.shard(source) as old, self.shard(self.target) as new:
            self.finish(old, new)
            if self.are_on(old):
                self.copy(old, new)
                self.commit(old, new)

    def find_source(self):
        sources = self.ask(self.proxies[0],
            "SELECT DISTINCT shard FROM sharding.slots WHERE slot = ANY (%s)", [self.slots])
        if len(sources) != 1:
            raise SystemExit("the slots are on several shards: move those of one at a time")
        return sources[0][0]

    def shard(self, number):
        (dsn,), = self.ask(self.proxies[0],
                           "SELECT connect FROM sharding.shards WHERE shard = %s", [number])
        return psycopg.connect(dsn, user="postgres", autocommit=True)

    @staticmethod
    def ask(dsn, sql, parameters):
        with psycopg.connect(dsn, autocommit=True) as proxy:
            return proxy.execute(sql, parameters).fetchall()

    def are_on(self, shard):
        return shard.execute("SELECT count(*) FROM sharding.slots WHERE slot = ANY (%s)",
                             [self.slots]).fetchone()[0] > 0

    def copy(self, old, new):
        """Leaves a transaction open on both."""
        old.execute("BEGIN")
        old.execute("SET LOCAL lock_timeout = '10s'")
        old.execute("SELECT sharding.leave(%s)", [self.slots])
        new.execute("BEGIN")
        new.execute("SELECT sharding.arrive(%s)", [self.slots])
        self.copy_classes(old, new)
        for table, query in TABLES.items():
            copy_rows(old, new, f"ledger.{table}", query, [self.slots])
        new.execute("SELECT sharding.take_classes(%s)", [self.slots])
        new.execute("SELECT sharding.open_stays()")
        old.execute("SELECT sharding.forget(%s)", [self.slots])

    @staticmethod
    def copy_classes(old, new):
        """With the source's ids, for those that a new shard has not heard of."""
        copy_rows(old, new, "sharding.arrived_classes", "SELECT * FROM ledger.hold_classes", [])

    def commit(self, old, new):
        new.execute(f"PREPARE TRANSACTION '{self.name}'")
        old.execute(f"PREPARE TRANSACTION '{self.name}'")
        self.finish(old, new)

    def finish(self, old, new):
        """What both have prepared is done.  The source alone has never prepared; and when it
        has committed, the slots are no longer there."""
        left, came = (self.is_prepared(shard) for shard in (old, new))
        if left:
            old.execute(f"COMMIT PREPARED '{self.name}'")
        if came:
            word = "ROLLBACK" if self.are_on(old) else "COMMIT"
            new.execute(f"{word} PREPARED '{self.name}'")

    def is_prepared(self, shard):
        return bool(shard.execute("SELECT FROM pg_prepared_xacts WHERE gid = %s"
                                  " AND database = current_database()", [self.name]).fetchall())

    def tell_proxies(self):
        for dsn in self.proxies:
            self.ask(dsn, "SELECT sharding.assign(%s, %s)", [self.slots, self.target])


def copy_rows(old, new, table, query, parameters):
    with old.cursor().copy(f"COPY ({query}) TO STDOUT", parameters) as rows, \
            new.cursor().copy(f"COPY {table} FROM STDIN") as there:
        for row in rows:
            there.write(row)


if __name__ == "__main__":
    dsns, number, numbers = sys.argv[1:]
    Move(dsns.split(","), int(number), map(int, numbers.split(","))).run()
