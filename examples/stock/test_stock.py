"""What the old service could not promise, and a crowd."""

import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import psycopg

from old.stock import Insufficient
from old.stock import Stock as OldStock
from stock import Refused, Stock

D = Decimal
SOON = datetime.now(timezone.utc) + timedelta(minutes=20)


def connect():
    return psycopg.connect(autocommit=True)


class Warehouse(unittest.TestCase):
    """Each test has an org, and so a warehouse, of its own."""

    def setUp(self):
        self.org = self.id()
        self.connection = connect()
        self.addCleanup(self.connection.close)
        self.connection.execute("SELECT add_org(%s)", [self.org])
        self.stock = Stock(self.connection, self.org)

    def fill(self, item, quantity):
        with self.stock.transaction() as connection:
            connection.execute(
                "WITH place AS (INSERT INTO locations (warehouse) VALUES (%s) RETURNING location)"
                " INSERT INTO quants (location, item, quantity) SELECT location, %s, %s FROM place",
                [self.org, item, quantity])

    def hold(self, ref, *lines, stock=None):
        return (stock or self.stock).hold(ref, self.org, lines, SOON)

    def order(self, stock, ref):
        with stock.transaction() as connection:
            lines = stock.held_for_ref(ref)
            stock.consume(ref)
            for line in lines:
                connection.execute("SELECT plan_moves(%s, %s, %s, %s)",
                                   [ref, line.warehouse, line.item, line.qty])

    def at(self, offset):
        self.connection.execute("SELECT set_config('hold_ledger.clock_offset', %s, false)", [offset])

    def reserved(self):
        return self.connection.execute(
            "SELECT sum(reserved) FROM quants JOIN locations USING (location) WHERE org = %s",
            [self.org]).fetchone()[0]

    def held(self):
        with self.stock.transaction() as connection:
            return connection.execute("SELECT COALESCE(sum(qty), 0) FROM live_holds").fetchone()[0]

    def assert_sound(self):
        self.assertEqual(self.connection.execute("SELECT * FROM hold_verify()").fetchall(), [])


class OldFaults(Warehouse):
    def test_two_carts_both_pass(self):
        self.fill("flour", 1)
        looked = threading.Barrier(2)

        class Hasty(OldStock):
            def available(self, warehouse, item):
                answer = super().available(warehouse, item)
                looked.wait()
                return answer

        def cart(ref):
            with connect() as connection:
                self.hold(ref, ("flour", D(1)), stock=Hasty(connection))

        with ThreadPoolExecutor() as pool:
            list(pool.map(cart, ["a", "b"]))
        self.assertEqual(OldStock(self.connection).available(self.org, "flour"), -1)

    def test_rehold_competes_with_itself(self):
        self.fill("flour", 3)
        old = OldStock(self.connection)
        self.hold("a", ("flour", D(2)), stock=old)
        with self.assertRaises(Insufficient):
            self.hold("a", ("flour", D(3)), stock=old)

    def test_lines_of_one_item_are_checked_alone(self):
        self.fill("flour", 3)
        old = OldStock(self.connection)
        self.hold("a", ("flour", D(2)), ("flour", D(2)), stock=old)
        self.assertEqual(old.available(self.org, "flour"), -1)


class Now(Warehouse):
    def test_one_of_two_carts_passes(self):
        self.fill("flour", 1)
        start = threading.Barrier(2)

        def cart(ref):
            with connect() as connection:
                start.wait()
                try:
                    self.hold(ref, ("flour", D(1)), stock=Stock(connection, self.org))
                except Refused as no:
                    return no.available
                return "held"

        with ThreadPoolExecutor() as pool:
            self.assertCountEqual(pool.map(cart, ["a", "b"]), ["held", 0])

    def test_rehold_replaces_in_one_step(self):
        self.fill("flour", 3)
        self.fill("yeast", D("0.5"))
        self.hold("a", ("flour", D(2)), ("yeast", D("0.25")))
        self.assertEqual(self.hold("a", ("flour", D(3)))[0].remaining, 0)
        self.assertEqual(self.hold("a", ("flour", D(3)))[0].remaining, 0)
        self.assertEqual([(h.item, h.qty) for h in self.stock.held_for_ref("a")], [("flour", 3)])
        with self.assertRaises(Refused):
            self.hold("a", ("yeast", D(1)))
        self.assertEqual([(h.item, h.qty) for h in self.stock.held_for_ref("a")], [("flour", 3)])

    def test_lines_of_one_item_are_summed(self):
        self.fill("flour", 3)
        with self.assertRaises(Refused) as caught:
            self.hold("a", ("flour", D(2)), ("flour", D(2)))
        no = caught.exception
        self.assertEqual((no.outcome, no.item, no.asked, no.available),
                         ("insufficient", "flour", 4, 3))
        self.assertEqual(self.held(), 0)

    def test_refusal_names_the_line_in_the_way(self):
        self.fill("flour", 3)
        self.fill("yeast", D("0.1"))
        with self.assertRaises(Refused) as caught:
            self.hold("a", ("flour", D(1)), ("yeast", D("0.2")))
        self.assertEqual((caught.exception.item, caught.exception.available), ("yeast", D("0.1")))

    def test_mistakes(self):
        for lines in [], [("flour", D(0))], [("flour", D(1)), ("flour", D(-1))]:
            with self.assertRaises(ValueError):
                self.hold("a", *lines)

    def test_moves_take_over(self):
        self.fill("flour", 2)
        self.fill("flour", 2)
        self.hold("a", ("flour", D(3)))
        self.order(self.stock, "a")
        self.assertEqual((self.reserved(), self.held()), (3, 0))
        self.assertEqual(self.stock.consume("a"), 0)
        with self.assertRaises(Refused) as caught:
            self.hold("b", ("flour", D(2)))
        self.assertEqual(caught.exception.available, 1)

    def test_failed_move_keeps_the_hold(self):
        self.fill("flour", 2)
        self.hold("a", ("flour", D(2)))
        with self.assertRaises(psycopg.errors.RaiseException), self.stock.transaction() as connection:
            self.stock.consume("a")
            connection.execute("SELECT plan_moves('a', %s, 'flour', 3)", [self.org])
        self.assertEqual((self.reserved(), self.held()), (0, 2))

    def test_expired(self):
        self.fill("flour", 2)
        self.hold("a", ("flour", D(2)))
        self.at("30 min")
        self.assertEqual(self.stock.held_for_ref("a"), [])
        self.assertEqual(self.stock.release("a"), 0)
        with self.assertRaises(Refused) as caught:
            self.order(self.stock, "a")
        self.assertEqual((caught.exception.outcome, caught.exception.item), ("expired", "flour"))
        self.stock.hold("a", self.org, [("flour", D(2))], SOON + timedelta(hours=1))
        self.order(self.stock, "a")
        self.assertEqual((self.reserved(), self.held()), (2, 0))

    def test_sweep_says_0_at_last(self):
        self.fill("flour", 9)
        for number in range(5):
            self.hold(f"cart:{number}", ("flour", D(1)))
        self.at("30 min")
        swept = list(iter(lambda: self.stock.sweep_expired(2), 0))
        self.assertTrue(all(0 < count <= 2 for count in swept))
        self.assertGreaterEqual(sum(swept), 5)

    def test_orgs_do_not_meet(self):
        self.fill("flour", 1)
        self.hold("a", ("flour", D(1)))
        other = Stock(self.connection, "somebody else")
        self.connection.execute("SELECT add_org('somebody else')")
        self.assertEqual(other.held_for_ref("a"), [])
        self.assertEqual(other.release("a"), 0)
        with self.assertRaises(Refused):
            self.hold("a", ("flour", D(1)), stock=other)

    def test_sixty_carts(self):
        """Each wants both, in opposite orders; every third leaves, the others order."""
        self.fill("flour", D("7.5"))
        self.fill("yeast", D("1.5"))
        start = threading.Barrier(60)

        def cart(number):
            lines = [("flour", D("0.5")), ("yeast", D("0.1"))]
            with connect() as connection:
                stock = Stock(connection, self.org)
                start.wait()
                try:
                    self.hold(f"cart:{number}", *lines[::1 if number % 2 else -1], stock=stock)
                except Refused:
                    return "refused"
                if number % 3 == 0:
                    return "left" if stock.release(f"cart:{number}") == 2 else "lost"
                self.order(stock, f"cart:{number}")
                return "ordered"

        with ThreadPoolExecutor(60) as pool:
            answers = list(pool.map(cart, range(60)))
        ordered = answers.count("ordered")
        self.assertNotIn("lost", answers)
        self.assertLessEqual(ordered, 15)
        self.assertEqual((self.reserved(), self.held()), (ordered * D("0.6"), 0))
        for number in range(15 - ordered):
            self.hold(f"late:{number}", ("flour", D("0.5")), ("yeast", D("0.1")))
        with self.assertRaises(Refused) as caught:
            self.hold("one too many", ("flour", D("0.000001")))
        self.assertEqual(caught.exception.available, 0)
        self.assert_sound()
