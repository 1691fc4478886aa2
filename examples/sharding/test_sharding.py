"""Four shards and two proxies: what goes where, what is refused, and what fails."""

import itertools
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import errors

from cluster import HERE, SLOTS, Cluster, Machine, program, start_machines, stop
from move import Move
from relay import Relay

machines = []
relays = itertools.count()
cluster = None
directory = None


def setUpModule():
    global cluster, directory
    directory = Path(tempfile.mkdtemp(dir=".")).resolve()
    shards, proxies = start_machines(directory, fsync="off")
    machines.extend(shards + proxies)
    cluster = Cluster("shop", shards, proxies)


def tearDownModule():
    stop(machines)


def both(function, *arguments):
    """Runs it for each proxy at once."""
    with ThreadPoolExecutor(len(cluster.proxies)) as pool:
        return list(pool.map(function, range(len(cluster.proxies)), *([a] * 2 for a in arguments)))


def written():
    """How many entries all ledgers have."""
    return sum(cluster.on(n, "SELECT count(*) FROM ledger.hold_ledger")[0][0]
               for n in cluster.shards)


class Case(unittest.TestCase):
    def ask(self, sql, parameters=None, proxy=0):
        return cluster.ask(sql, parameters, proxy)

    def refused(self, error, sql, parameters=None):
        with self.assertRaises(error) as caught:
            self.ask(sql, parameters)
        return str(caught.exception)

    def assert_sound(self):
        self.assertEqual(self.ask("SELECT * FROM hold_verify()"), [])
        for proxy in cluster.proxies:
            self.assertEqual(proxy.execute(cluster.name, """
                SELECT FROM ledger.hold_pools UNION ALL SELECT FROM ledger.hold_ledger"""), [])


class Catalog(Case):
    SIGNATURES = """
        SELECT p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.prokind
        FROM pg_proc p JOIN sharding.functions f ON f.name = p.proname
        WHERE p.pronamespace = %s::regnamespace AND f.route <> 'here'
            AND f.result IS DISTINCT FROM 'trigger'
        ORDER BY 1"""

    def test_proxy_has_what_the_extension_has(self):
        extension = self.ask(self.SIGNATURES, ["ledger"])
        self.assertGreater(len(extension), 30)
        self.assertEqual(self.ask(self.SIGNATURES, ["public"]), extension)

    def test_views_have_the_same_columns(self):
        columns = """SELECT c.relname, a.attname, a.atttypid::regtype::text
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.relkind = 'v' AND c.relnamespace = %s::regnamespace
            ORDER BY c.relname, a.attnum"""
        self.assertEqual(self.ask(columns, ["public"]), self.ask(columns, ["ledger"]))

    def test_new_function_wants_a_route(self):
        with cluster.connect() as connection, connection.transaction(force_rollback=True):
            connection.execute("CREATE FUNCTION ledger.hold_new() RETURNS void LANGUAGE sql AS ''")
            connection.execute("ALTER EXTENSION hold_ledger ADD FUNCTION ledger.hold_new()")
            with self.assertRaisesRegex(psycopg.Error, r"no route for ledger.hold_new\(\)"):
                connection.execute("SELECT sharding.make_proxy()")

    def test_all_can_be_written_again(self):
        for again in range(2):
            for n in cluster.shards:
                cluster.on(n, "SELECT sharding.make_shard(%s)", [n])
            self.ask("SELECT sharding.make_proxy()")
            self.ask("SELECT hold_pool_set('again' || n || '-' || %s, 1)"
                     " FROM generate_series(1, 20) n", [again])
        ids = [i for i, in self.ask("SELECT pool_id FROM hold_pool_status WHERE pool ~ '^again'")]
        self.assertEqual(len(set(ids)), 40)
        self.assert_sound()

    def test_shards_and_proxies_agree_on_slots(self):
        names = ["{room-42}:2026-10-05", "room-42", "a{}b", "a{b", "{a}{b}", "x", "", "ä"]
        query = ("SELECT array_agg(sharding.key(n) ORDER BY o),"
                 " array_agg(sharding.slot(n) ORDER BY o) FROM unnest(%s::text[]) WITH ORDINALITY u (n, o)")
        (keys, slots), = self.ask(query, [names])
        self.assertEqual(keys, ["room-42", "room-42", "a{}b", "a{b", "a", "x", "", "ä"])
        for number in cluster.shards:
            self.assertEqual(cluster.on(number, query, [names]), [(keys, slots)])

    def test_every_slot_is_on_one_shard(self):
        there = [row for n in cluster.shards for row in cluster.on(
            n, "SELECT slot, %s::int FROM sharding.slots", [n])]
        self.assertEqual(sorted(there), [(n, n % 4) for n in range(SLOTS)])
        for proxy in (0, 1):
            self.assertEqual(self.ask("SELECT slot, shard FROM sharding.slots ORDER BY slot",
                                      proxy=proxy), sorted(there))


class Routing(Case):
    def setUp(self):
        self.keys = [cluster.keys(n, prefix=self.id())[0] for n in range(4)]
        for key in self.keys:
            self.ask("SELECT hold_pool_set(%s, 10)", ["{%s}" % key])

    def token(self, n, which="1"):
        return "{%s}%s" % (self.keys[n], which)

    def pool(self, n):
        return "{%s}" % self.keys[n]

    def try_all(self):
        return [self.ask("SELECT outcome FROM hold_try(%s, %s)", [self.token(n), self.pool(n)])
                for n in range(4)]

    def test_each_call_goes_to_its_shard(self):
        self.assertEqual(self.try_all(), [[("granted",)]] * 4)
        for n in range(4):
            there = cluster.on(n, "SELECT token FROM ledger.live_holds WHERE token LIKE %s",
                               [f"{{{self.id()}%"])
            self.assertEqual(there, [(self.token(n),)])
        self.assertEqual(self.ask("SELECT count(*) FROM live_holds WHERE token LIKE %s",
                                  [f"{{{self.id()}%"], proxy=1), [(4,)])
        self.assert_sound()

    def test_a_request_that_spans_shards_is_refused_before_it_writes(self):
        self.ask("SELECT hold_try(%s, %s)", [self.token(0), self.pool(0)])
        before = written()
        for sql, parameters in [
                ("SELECT * FROM hold_try(%s, %s)", [self.token(0), self.pool(1)]),
                ("SELECT * FROM hold_try('cart', %s)", [self.pool(0)]),
                ("SELECT * FROM hold_try_lines(%s, hold_lines(%s))",
                 [self.token(0), [self.pool(0), self.pool(1)]]),
                ("SELECT * FROM hold_consume(%s, %s)", [self.token(0), self.pool(1)]),
                ("SELECT * FROM hold_release(%s, %s)", [self.token(0), self.pool(1)]),
                ("SELECT * FROM hold_return(%s, %s)", [self.token(0), self.pool(1)]),
                ("SELECT * FROM hold_try_stay(%s, 42, '[2031-05-01,2031-05-02)')", [self.token(0)]),
                ("SELECT * FROM hold_try_stays('{room-1}', '{1,2}', '[2031-05-01,2031-05-02)')", []),
                ("SELECT hold_release_stay(%s, 42)", [self.token(0)]),
                ("SELECT * FROM hold_try_batch(ARRAY[(%s,%s,1,NULL,NULL,NULL),"
                 "(%s,%s,1,NULL,NULL,NULL)]::hold_request[])", [self.token(1), self.pool(1), self.token(0), self.pool(1)])]:
            with self.subTest(sql):
                said = self.refused(errors.FeatureNotSupported, sql, parameters)
                self.assertIn("request spans shards: ", said)
                self.assertIn("have different shard keys", said)
        self.assertEqual(written(), before)

    def test_batches_are_split_and_answered_in_order(self):
        order = [2, 0, 3, 0, 1, 2]
        requests = [(self.token(n, str(place)), self.pool(n)) for place, n in enumerate(order)]
        rows = self.ask(
            "SELECT line, pool, outcome FROM hold_try_batch(ARRAY("
            "SELECT (t, p, 1, NULL, NULL, NULL)::hold_request"
            " FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY u (t, p, o) ORDER BY o))",
            [[t for t, _ in requests], [p for _, p in requests]])
        self.assertEqual(rows, [(n, p, "granted") for n, (_, p) in enumerate(requests, 1)])
        tokens = [t for t, _ in requests] + [self.token(1, "nobody")]
        rows = self.ask("SELECT line, pool, outcome FROM hold_consume_batch(%s)", [tokens])
        self.assertEqual(rows, [(n, p, "consumed") for n, (_, p) in enumerate(requests, 1)]
                         + [(7, None, "not_found")])
        pools = [self.pool(n) for n in order] + ["nowhere"]
        self.assertEqual(self.ask("SELECT pool, available FROM hold_available_many(%s)", [pools]),
                         [(self.pool(n), 10 - order.count(n)) for n in order] + [("nowhere", None)])

    def test_what_cannot_be_split_is_answered_by_the_extension(self):
        self.assertEqual(self.ask("SELECT * FROM hold_try_batch('{}')"), [])
        self.refused(errors.NullValueNotAllowed, "SELECT * FROM hold_try_batch(NULL)")
        self.refused(errors.InvalidParameterValue, "SELECT * FROM hold_consume_batch(%s, '{1}')",
                     [[self.token(0), self.token(1)]])

    def test_reads_and_upkeep_are_of_all_shards(self):
        self.try_all()
        self.ask("SELECT hold_sweep()")
        before, = self.ask("SELECT scope, granted FROM hold_stats()")
        self.ask("SELECT hold_try(%s, %s, ttl => '1 ms')", [self.token(0, "short"), self.pool(0)])
        self.ask("SELECT hold_try(%s, %s, ttl => '1 ms')", [self.token(1, "short"), self.pool(1)])
        time.sleep(0.01)
        self.assertEqual(self.ask("SELECT hold_sweep()"), [(2,)])
        self.assertEqual(self.ask("SELECT scope, granted FROM hold_stats()", proxy=1),
                         [("server", before[1] + 2)])
        self.assertEqual(before[0], "server")
        self.assertEqual(self.ask("SELECT count(*) FROM hold_hoarding() WHERE pool = ANY (%s)",
                                  [[self.pool(n) for n in range(4)]]), [(4,)])
        self.ask("CALL hold_sweep_all(1, 2)")
        self.refused(errors.FeatureNotSupported, "SELECT hold_schedule()")

    def test_classes_are_everywhere(self):
        self.ask("SELECT hold_class_set('seat', 1)")
        for n in range(4):
            self.assertEqual(self.ask("SELECT outcome FROM hold_try(%s, %s)",
                                      [self.token(n), "seat:" + self.pool(n)]), [("granted",)])

    def test_ids_are_of_one_shard(self):
        for room in range(11, 19):
            self.ask("SELECT hold_try_stay(%s, %s, '[2031-05-01,2031-05-03)')",
                     ["{room-%s}guest" % room, room])
            self.ask("SELECT hold_consume(%s, reservation_id => 1)", ["{room-%s}guest" % room])
        stays = self.ask("SELECT stay_id, room_id FROM hold_stays WHERE room_id BETWEEN 11 AND 18")
        self.assertEqual(len({stay for stay, _ in stays}), 8)
        for stay, room in stays:
            self.assertEqual(stay % 1000, cluster.shard_of(f"room-{room}"))
            self.assertEqual(self.ask("SELECT outcome FROM hold_move_stay(%s, stay => "
                                      "'[2031-05-01,2031-05-02)')", [stay]), [("changed",)])
            self.refused(errors.FeatureNotSupported, "SELECT hold_move_stay(%s, 100)", [stay])
            self.assertEqual(self.ask("SELECT hold_cancel_stay(%s)", [stay]), [(True,)])
        self.assertEqual(self.ask("SELECT outcome FROM hold_move_stay(7, stay => "
                                  "'[2031-05-01,2031-05-02)')"), [("not_found",)])
        self.assert_sound()


class Tenants(Case):
    """The tenant comes with the call; the shard says who may be whom."""

    @classmethod
    def setUpClass(cls):
        everywhere = [(m, cluster.database(n)) for n, m in cluster.shards.items()]
        everywhere += [(m, cluster.name) for m in cluster.proxies]
        for machine, database in everywhere:
            for role in ("acme", "trusted", "nobody"):
                machine.execute(database, f"CREATE ROLE {role} LOGIN")
            machine.execute(database, "ALTER ROLE acme SET hold_ledger.tenant = 'acme'")
            machine.execute(database, "GRANT SET ON PARAMETER hold_ledger.tenant TO trusted")
        for role in ("acme", "trusted"):
            cluster.ask(f"SELECT hold_grant_access('{role}', 'operator')")

    def test_by_the_role_or_by_set(self):
        with cluster.connect(user="acme") as acme, cluster.connect(1, user="trusted") as trusted:
            acme.execute("SELECT hold_pool_set('p', 5)")
            self.assertEqual(acme.execute("SELECT count(*) FROM hold_pool_status").fetchone(), (1,))
            see = "SELECT count(*) FROM hold_pool_status WHERE pool = 'p'"
            self.assertEqual(trusted.execute(see).fetchone(), (0,))
            with trusted.transaction():
                trusted.execute("SET LOCAL hold_ledger.tenant = 'acme'")
                self.assertEqual(trusted.execute(see).fetchone(), (1,))
                self.assertEqual(trusted.execute("SELECT outcome FROM hold_try('{p}1', 'p', 2)")
                                 .fetchone(), ("granted",))
            self.assertEqual(trusted.execute(see).fetchone(), (0,))
            self.assertEqual(acme.execute("SELECT hold_available('p')").fetchone(), (3,))
            with self.assertRaises(errors.InsufficientPrivilege):
                acme.execute("SET hold_ledger.tenant = 'other'")

    def test_a_shard_asks_for_itself(self):
        with cluster.connect(user="nobody") as nobody:
            with self.assertRaises(errors.InsufficientPrivilege):
                nobody.execute("SELECT hold_try('{p}1', 'p')")
            with self.assertRaises(errors.InsufficientPrivilege):
                nobody.execute("SELECT * FROM ledger.hold_try('{p}1', 'p')")
        with cluster.connect(user="acme") as acme, self.assertRaises(errors.InsufficientPrivilege):
            acme.execute("SELECT sharding.hold_available(sharding.slot('p'), 'other', 'p')")


CROWD = {
    "try@8": r"""
\set token random(1, 40)
\set key random(1, 8)
\set qty random(1, 3)
\set ms random(1, 400)
SELECT outcome FROM hold_try('{h:key}t:token', '{h:key}', :qty, :ms * interval '1 ms');
""",
    "lines@4": r"""
\set token random(1, 40)
\set key random(1, 8)
\set ms random(1, 400)
SELECT outcome FROM hold_try_lines('{h:key}t:token',
    ARRAY[hold_line('{h:key}b', 2), hold_line('{h:key}')], :ms * interval '1 ms');
""",
    "renew@2": r"""
\set token random(1, 40)
\set key random(1, 8)
SELECT outcome FROM hold_renew('{h:key}t:token', '100 ms');
""",
    "consume@3": r"""
\set token random(1, 40)
\set key random(1, 8)
SELECT outcome FROM hold_consume('{h:key}t:token', late => true);
""",
    "release@2": r"""
\set token random(1, 40)
\set key random(1, 8)
SELECT outcome FROM hold_release('{h:key}t:token', '{h:key}');
""",
    "return@4": r"""
\set token random(1, 40)
\set key random(1, 8)
SELECT outcome FROM hold_return('{h:key}t:token');
""",
    "sweep@1": "SELECT hold_sweep(5);",
    "read@1": "SELECT count(*) FROM hold_available_many('{\"{h1}\",\"{h2}b\",\"{h3}\"}');",
}


def pgbench(proxy, clients, options, scripts):
    """Several clients; what it complained about, or nothing."""
    files = []
    for name, script in scripts.items():
        name, _, weight = name.partition("@")
        path = directory / f"{name}.sql"
        path.write_text(script)
        files += ["-f", f"{path}@{weight or 1}"]
    result = subprocess.run(
        [program("pgbench"), "-n", "-c", str(clients), "-j", "2", *options, *files,
         cluster.proxies[proxy].conninfo(cluster.name, user="postgres")],
        capture_output=True, text=True, check=False)
    return result.stderr if result.returncode or "ERROR" in result.stderr else ""


class Crowd(Case):
    def test_crowd(self):
        for n in range(1, 9):
            self.ask("SELECT hold_pool_set(%s, 20), hold_pool_set(%s, 9)",
                     ["{h%d}" % n, "{h%d}b" % n])
        scripts = {name: script.replace("h:key", "h' || :key || '")
                   .replace("t:token'", "t' || :token") for name, script in CROWD.items()}
        said = both(lambda proxy: pgbench(proxy, 8, ["-T", "5"], scripts))
        self.assertEqual(said, ["", ""])
        self.assert_sound()
        events = {event for event, in self.ask(
            "SELECT DISTINCT event::text FROM hold_entries WHERE pool LIKE '{h_}%%'", [])}
        self.assertEqual(events, {"capacity", "changed", "consumed", "expired", "granted",
                                  "released", "renewed", "returned"})
        self.assertEqual(
            {cluster.shard_of(f"h{n}") for n in range(1, 9)}, set(cluster.shards))
        self.assertEqual(
            self.ask("SELECT pool FROM hold_entries WHERE held + consumed > capacity"), [])

    def test_many_want_few(self):
        """20 clients x 10 attempts at each of two proxies want 400 of 100."""
        self.ask("SELECT hold_pool_set('{seats}', 100)")
        script = (r"SELECT outcome FROM hold_try('{seats}' || :client_id || '-' || :n || '-' || %d,"
                  " '{seats}', 1, '1 hour');\n\\set n :n + 1\n")
        said = both(lambda proxy: pgbench(proxy, 20, ["-t", "10", "-D", "n=0"],
                                          {f"seats{proxy}": script % proxy}))
        self.assertEqual(said, ["", ""])
        self.assertEqual(self.ask("SELECT held, available, holds FROM hold_pool_status"
                                  " WHERE pool = '{seats}'"), [(100, 0, 100)])


class Races(Case):
    """Ten sessions at each proxy make the same call at the same time."""

    ROUNDS = 10

    @classmethod
    def setUpClass(cls):
        cluster.ask("SELECT hold_pool_set('{race' || n || '}', 100) FROM generate_series(0, 9) n")

    def race(self, call):
        """How often which answer was given."""
        with ThreadPoolExecutor(20) as pool:
            sessions = [cluster.connect(n % 2) for n in range(20)]
            start = threading.Barrier(20)

            def client(session):
                answers = []
                for n in range(self.ROUNDS):
                    start.wait(30)
                    answers += session.execute(call.replace(":n", str(n))).fetchall()
                session.close()
                return answers
            answers = [a for found in pool.map(client, sessions) for a in found]
        return {answer: answers.count(answer) for answer in set(answers)}

    def test_one_token(self):
        others = 19 * self.ROUNDS
        self.assertEqual(
            self.race("SELECT outcome FROM hold_try('{race:n}t', '{race:n}', 2, '1 hour')"),
            {("granted",): self.ROUNDS, ("renewed",): others})
        self.assertEqual(
            self.race("SELECT outcome, consumed FROM hold_consume('{race:n}t', '{race:n}', 0.5,"
                      " false, 'one')"),
            {("consumed", 0.5): self.ROUNDS, ("already_consumed", 0.5): others})
        self.assertEqual(
            self.race("SELECT outcome, consumed FROM hold_consume('{race:n}t')"),
            {("consumed", 1.5): self.ROUNDS, ("already_consumed", 1.5): others})
        self.assertEqual(
            sum(count for (_, back), count in self.race(
                "SELECT outcome, refunded FROM hold_return('{race:n}t')").items() if back),
            self.ROUNDS)
        self.race("SELECT hold_pool_add('{race:n}', 10, 'delivery')")
        self.assertEqual(self.ask("SELECT DISTINCT available FROM hold_pool_status"
                                  " WHERE pool ~ '^.race'"), [(110,)])
        self.assert_sound()


class Load:
    """A session a shard and proxy that holds, one token after the other, and keeps what it
    was told; a token that failed is tried again."""

    def __init__(self, keys, pause=0.005):
        self.keys = keys
        self.pause = pause
        self.held = {key: [] for key in keys}
        self.errors = {key: [] for key in keys}
        self.going = threading.Event()
        self.going.set()

    def work(self, key, proxy):
        session = None
        number = 0
        while self.going.is_set():
            token = "{%s}%d-%d" % (key, proxy, number)
            try:
                session = session or cluster.connect(proxy)
                session.execute("SELECT hold_try(%s, %s, ttl => '1 hour')", [token, "{%s}" % key])
                self.held[key].append(token)
                number += 1
            except psycopg.Error as error:
                self.errors[key].append(error)
                if session and session.closed:
                    session = None
            time.sleep(self.pause)
        if session:
            session.close()

    def __enter__(self):
        self.threads = [threading.Thread(target=self.work, args=(key, proxy))
                        for key in self.keys for proxy in (0, 1)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.going.clear()
        for thread in self.threads:
            thread.join()

    def counts(self):
        return {key: len(tokens) for key, tokens in self.held.items()}

    def wait_for_more(self, keys, than, count=20):
        """Until each has held so many more."""
        deadline = time.monotonic() + 60
        while any(len(self.held[key]) < than[key] + count for key in keys):
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.counts()} after {than}")
            time.sleep(0.01)


class Failures(Case):
    def setUp(self):
        self.keys = [cluster.keys(n, prefix=self.id())[0] for n in range(4)]
        for key in self.keys:
            self.ask("SELECT hold_pool_set(%s, 1000000)", ["{%s}" % key])

    def assert_held(self, load):
        """What a client was told, and not one token more, is there."""
        for key in load.keys:
            there = self.ask("SELECT count(*), count(DISTINCT token), sum(qty) FROM live_holds"
                             " WHERE pool = %s", ["{%s}" % key])
            self.assertEqual(there, [(len(load.held[key]),) * 3])

    def test_a_shard_stops_under_load(self):
        others = self.keys[:2] + self.keys[3:]
        stopped = cluster.shards[2]
        with Load(self.keys) as load:
            load.wait_for_more(self.keys, load.counts())
            stopped.stop("immediate")
            load.wait_for_more(others, load.counts(), 100)
            self.assertTrue(load.errors[self.keys[2]])
            stopped.start()
            load.wait_for_more(self.keys, load.counts())
        self.assertEqual([load.errors[key] for key in others], [[]] * 3)
        for error in load.errors[self.keys[2]]:
            self.assertIn("[shop_shard2]", str(error))
        # a client ends with a token that it may not have been told of
        for key in self.keys:
            load.held[key] += self.last_unheard(load, key)
        self.assert_held(load)
        self.assert_sound()

    def last_unheard(self, load, key):
        there = {token for token, in self.ask(
            "SELECT token FROM live_holds WHERE pool = %s", ["{%s}" % key])}
        self.assertLessEqual(set(load.held[key]), there)
        unheard = there - set(load.held[key])
        self.assertLessEqual(len(unheard), 2 if load.errors[key] else 0)
        return list(unheard)

    def consume(self, proxy=0):
        return self.ask("SELECT outcome, consumed FROM hold_consume(%s)", [self.token], proxy)

    def hold(self, shard):
        self.token = "{%s}paid" % self.keys[shard]
        self.ask("SELECT hold_try(%s, %s, 3)", [self.token, "{%s}" % self.keys[shard]])

    @contextmanager
    def map_of_first_proxy(self, shard, machine):
        """Lets the first proxy reach the shard by another way."""
        change = "UPDATE sharding.shards SET connect = %s WHERE shard = %s"
        database = cluster.database(shard)
        self.ask(change, [machine.conninfo(database), shard])
        try:
            yield
        finally:
            self.ask(change, [cluster.shards[shard].conninfo(database), shard])

    @contextmanager
    def relayed(self, shard):
        """A client at the first proxy, whose way to the shard can be broken."""
        place = directory / f"relay{next(relays)}"
        with Relay(place, cluster.shards[shard].directory) as relay:
            way = Machine(relay.directory)
            with self.map_of_first_proxy(shard, way), cluster.connect() as client:
                for key in self.keys:
                    client.execute("SELECT hold_available(%s)", ["{%s}" % key])
                yield relay, client

    def lose(self, what):
        """A client whose consume loses that is told of an error."""
        self.hold(0)
        with self.relayed(0) as (relay, client):
            relay.lose(what)
            with self.assertRaises(psycopg.Error):
                client.execute("SELECT * FROM hold_consume(%s)", [self.token])

    def test_the_answer_is_lost_between_shard_and_proxy(self):
        self.lose("answer")
        self.assertEqual(self.consume(1), [("already_consumed", 3)])
        self.assert_sound()

    def test_the_request_never_arrives(self):
        self.lose("request")
        self.assertEqual(self.consume(1), [("consumed", 3)])

    def test_a_shard_is_silent(self):
        """Nobody answers, and nobody says that the connection is broken: a client has its own
        deadline, and goes to the other proxy."""
        self.hold(0)
        with ThreadPoolExecutor(1) as pool:
            with self.relayed(0) as (relay, client):
                relay.lose("all")
                lost = pool.submit(client.execute, "SELECT * FROM hold_consume(%s)", [self.token])
                with self.assertRaises(FutureTimeout):
                    lost.result(1)
                self.assertEqual(self.ask("SELECT outcome FROM hold_try(%s, %s)", [
                    "{%s}x" % self.keys[1], "{%s}" % self.keys[1]]), [("granted",)])
                self.assertEqual(self.consume(1), [("consumed", 3)])
                relay.hang_up()
                self.assertIsInstance(lost.exception(30), psycopg.Error)

    @contextmanager
    def locked_pool(self, shard):
        """Somebody's transaction on the shard keeps the pool."""
        keeper = cluster.shards[shard].connect(cluster.database(shard))
        keeper.execute("BEGIN")
        keeper.execute("SELECT FROM ledger.hold_pools WHERE pool = %s FOR UPDATE",
                       ["{%s}" % self.keys[shard]])
        yield
        keeper.close()

    def wait_until(self, shard, sql, parameters=None):
        deadline = time.monotonic() + 30
        while not cluster.on(shard, sql, parameters)[0][0]:
            self.assertLess(time.monotonic(), deadline, sql)
            time.sleep(0.02)

    WAITING = ("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
               " AND query LIKE '%hold_consume%'")

    def test_a_proxy_dies_before_it_has_the_answer(self):
        self.hold(1)
        with self.locked_pool(1), ThreadPoolExecutor(1) as pool:
            lost = pool.submit(self.consume)
            self.wait_until(1, self.WAITING)
            cluster.proxies[0].stop("immediate")
            self.assertIsInstance(lost.exception(30), psycopg.OperationalError)
        self.wait_until(1, "SELECT count(*) > 0 FROM ledger.hold_entries"
                        " WHERE event = 'consumed' AND token = %s", [self.token])
        self.assertEqual(self.consume(1), [("already_consumed", 3)])
        cluster.proxies[0].start()
        self.assertEqual(self.consume(0), [("already_consumed", 3)])
        self.assert_sound()

    def test_a_shard_dies_before_it_has_committed(self):
        self.hold(3)
        with self.locked_pool(3), ThreadPoolExecutor(1) as pool:
            lost = pool.submit(self.consume)
            self.wait_until(3, self.WAITING)
            cluster.shards[3].stop("immediate")
            self.assertIn("[shop_shard3]", str(lost.exception(30)))
        cluster.shards[3].start()
        self.assertEqual(self.consume(1), [("consumed", 3)])
        self.assert_sound()


class Moving(Case):
    """Last, as it adds a shard."""

    def dsns(self):
        return [p.conninfo(cluster.name, user="postgres") for p in cluster.proxies]

    @staticmethod
    def pools(key):
        return ["{%s}" % key, "{%s}:x" % key, "klass:{%s}" % key]

    def state(self, key):
        """All that the proxies can tell of what has that key."""
        pools = self.pools(key)
        return [
            self.ask("SELECT * FROM hold_pool_status WHERE pool = ANY (%s) ORDER BY pool", [pools]),
            self.ask("SELECT * FROM live_holds WHERE pool = ANY (%s) ORDER BY pool, token", [pools]),
            self.ask("SELECT * FROM hold_entries WHERE pool = ANY (%s) OR room_id = 7"
                     " ORDER BY pool, stripe, room_id, seq", [pools]),
            self.ask("SELECT * FROM hold_stays WHERE room_id = 7 ORDER BY stay_id"),
            self.ask("SELECT * FROM hold_get(%s)", ["{%s}done" % key])]

    def fill(self, key):
        plain, striped, made = self.pools(key)
        self.ask("SELECT hold_class_set('klass', 50, '1 hour')")
        self.ask("SELECT hold_pool_set(%s, 1000000), hold_pool_set(%s, 40, stripes => 4)",
                 [plain, striped])
        for n in range(5):
            self.ask("SELECT hold_try_lines(%s, hold_lines(%s), '1 hour', payload => %s)",
                     [f"{plain}h{n}", [striped, made], '{"a": "b\\nc"}'])
        self.ask("SELECT hold_try(%s, %s, 2), hold_consume(%s, ref => 'r')",
                 [f"{plain}done", plain, f"{plain}done"])

    def test_a_slot_moves_under_load(self):
        key = "room-7"
        source = cluster.shard_of(key)
        slot, = self.ask("SELECT sharding.slot(%s)", [key])[0]
        machine = Machine(directory / "shard4", fsync="off")
        machine.make()
        machines.append(machine)
        target = cluster.add_shard(machine)
        self.fill(key)
        self.ask("SELECT hold_try_stay('{room-7}g', 7, '[2031-05-01,2031-05-04)', '1 hour'),"
                 " hold_consume('{room-7}g', reservation_id => 1)")
        self.ask("SELECT hold_try_stay('{room-7}h', 7, '[2031-05-04,2031-05-06)', '1 hour')")
        other = cluster.keys(source, prefix=self.id())[0]
        self.ask("SELECT hold_pool_set(%s, 1000000)", ["{%s}" % other])
        before = self.state(key)
        with Load([key, other]) as load:
            for to in (target, source, target):
                load.wait_for_more([key, other], load.counts())
                subprocess.run([sys.executable, HERE / "move.py", ",".join(self.dsns()),
                                str(to), str(slot)], check=True)
            load.wait_for_more([key, other], load.counts())
        self.assertEqual(load.errors[other], [])
        self.assertLessEqual({e.sqlstate for e in load.errors[key]}, {"40001"})
        self.assertEqual(cluster.shard_of(key), target)
        after = self.state(key)
        # the load goes on in the first pool
        quiet = set(self.pools(key)[1:])
        for was, now in zip(before[:2], after[:2]):
            self.assertEqual(*([row for row in rows if quiet & set(map(str, row))]
                               for rows in (now, was)))
        self.assertEqual([row for row in after[2] if row in before[2]], before[2])
        self.assertEqual(after[3:], before[3:])
        for k in (key, other):
            self.assertEqual(self.ask("SELECT count(*), count(DISTINCT token) FROM live_holds"
                                      " WHERE pool = %s", ["{%s}" % k]), [(len(load.held[k]),) * 2])
        self.assert_all_moved(source, target, key)

    def assert_all_moved(self, source, target, key):
        for n in (source, target):
            self.assertEqual(cluster.on(n, "SELECT * FROM ledger.hold_verify()"), [])
        self.assertEqual(cluster.on(source, "SELECT count(*) FROM ledger.hold_pools"
                                    " WHERE sharding.key(pool) = %s OR room_id = 7", [key]), [(0,)])
        self.assertEqual(cluster.on(source, "SELECT count(*) FROM pg_trigger"
                                    " WHERE tgname IN ('append_only', 'keep_pools', 'insert_stay',"
                                    " 'by_functions_only') AND tgenabled = 'A'"), [(4,)])
        # what is remembered is still known, and what is taken is taken
        self.assertEqual(self.ask("SELECT outcome FROM hold_consume('{room-7}done')"),
                         [("already_consumed",)])
        self.assertEqual(self.ask("SELECT outcome FROM hold_try_stay('{room-7}new', 7,"
                                  " '[2031-05-05,2031-05-07)')"), [("stay_taken",)])
        self.assertEqual(self.ask("SELECT outcome FROM hold_try('{room-7}c', 'klass:{room-7}', 46)"),
                         [("insufficient",)])
        self.assert_sound()

    def test_a_move_that_was_interrupted_is_finished(self):
        key, = cluster.keys(0, prefix=self.id())
        self.fill(key)
        slot, = self.ask("SELECT sharding.slot(%s)", [key])[0]
        before = self.state(key)
        call = ("SELECT hold_try(%s, %s)", ["{%s}done" % key, "{%s}" % key])
        for crash_after, meanwhile in (("new", None), ("both", errors.QueryCanceled),
                                       ("source", errors.SerializationFailure)):
            with self.subTest(crash_after):
                source = cluster.shard_of(key)
                move = Move(self.dsns(), 1 - source, [slot])
                self.interrupt(move, source, crash_after)
                with cluster.connect(options="-c statement_timeout=500") as client:
                    if meanwhile:
                        with self.assertRaises(meanwhile):
                            client.execute(*call)
                    else:
                        client.execute(*call)
                move.run()
                self.assertEqual(cluster.shard_of(key), 1 - source)
                self.assertEqual(self.state(key), before)
        self.assert_sound()

    @staticmethod
    def interrupt(move, source, crash_after):
        """As if its machine had gone down."""
        with move.shard(source) as old, move.shard(move.target) as new:
            move.copy(old, new)
            new.execute(f"PREPARE TRANSACTION '{move.name}'")
            if crash_after == "new":
                old.execute("ROLLBACK")
                return
            old.execute(f"PREPARE TRANSACTION '{move.name}'")
            if crash_after == "source":
                old.execute(f"COMMIT PREPARED '{move.name}'")


if __name__ == "__main__":
    unittest.main()
