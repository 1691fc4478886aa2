"""What the old design could not promise, and a crowd. Redis is at REDIS_SOCKET."""

import os
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from uuid import uuid4

import psycopg
import redis

from old.stays import Stays as OldStays
from stays import NotHeld, RoomTaken, Stays


def may(day):
    return date(2031, 5, day)


def connect():
    return psycopg.connect(autocommit=True)


class Hotel(unittest.TestCase):
    """Each test has rooms of a type of its own, and two guests, a and b."""

    def setUp(self):
        self.connection = connect()
        self.addCleanup(self.connection.close)
        self.stays = Stays(self.connection)
        self.type = f"type-{uuid4()}"
        self.a, self.b = uuid4().hex, uuid4().hex

    def build(self, count):
        return [room for room, in self.connection.execute(
            "INSERT INTO rooms (room_type, name) SELECT %s, n FROM generate_series(1, %s) n"
            " RETURNING room_id", [self.type, count])]

    def booked(self, schema):
        return self.connection.execute(
            f"SELECT count(*) FROM {schema}.reservations WHERE room_type = %s",
            [self.type]).fetchone()[0]

    def at(self, offset):
        self.connection.execute("SELECT set_config('hold_ledger.clock_offset', %s, false)", [offset])

    def assert_sound(self):
        self.assertEqual(self.connection.execute("SELECT * FROM hold_verify()").fetchall(), [])


class OldFaults(Hotel):
    def setUp(self):
        super().setUp()
        self.redis = redis.Redis(unix_socket_path=os.environ["REDIS_SOCKET"])
        self.addCleanup(self.redis.close)
        self.old = OldStays(self.redis, self.connection)

    def test_stale_counts_oversell(self):
        self.build(1)
        nights = self.type, may(1), may(3)
        self.assertEqual(self.old.hold_type(self.a, *nights, self.old.rooms_free(*nights)), [])
        stale = self.old.rooms_free(*nights)
        self.old.book_type(self.a, *nights)
        self.assertEqual(self.old.hold_type(self.b, *nights, stale), [])
        self.old.book_type(self.b, *nights)
        self.assertEqual(self.booked("old"), 2, "one room, sold twice")

    def test_a_held_room_is_given_to_another(self):
        room, = self.build(1)
        self.assertEqual(self.old.hold_room(self.a, room, may(1), may(5)), [])
        self.old.book_room(1, room, may(3), may(4))
        self.assertEqual(self.old.hold_room(self.a, room, may(1), may(5)), [], "still held, it says")
        with self.assertRaises(psycopg.errors.ExclusionViolation):
            self.old.book_room(2, room, may(1), may(5))

    def test_the_rest_was_right(self):
        room, = self.build(1)
        self.assertEqual(self.old.hold_room(self.a, room, may(2), may(4)), [])
        self.assertEqual(self.old.hold_room(self.b, room, may(1), may(6)), [2, 3])
        self.assertEqual(self.old.release_room(self.b, room, may(1), may(6)), 0)
        self.assertEqual(self.old.release_room(self.a, room, may(3), may(6)), 1)


class Now(Hotel):
    def assert_taken(self, answer, nights):
        self.assertEqual((answer.granted, answer.taken, answer.expires_at), (False, nights, None))

    def assert_held(self, answer):
        self.assertEqual((answer.granted, answer.taken), (True, []))

    def test_counts_are_not_stale(self):
        self.build(1)
        nights = self.type, may(1), may(3)
        self.assert_held(self.stays.hold_type(self.a, *nights))
        with connect() as desk, ThreadPoolExecutor(1) as pool:
            with desk.transaction():
                Stays(desk).book(self.a, *nights)
                meanwhile = pool.submit(self.stays.hold_type, self.b, *nights)
            self.assert_taken(meanwhile.result(), [1, 2])
        self.assert_taken(self.stays.hold_type(self.b, *nights), [1, 2])
        self.assertEqual(self.booked("public"), 1)

    def test_a_held_room_is_not_given_to_another(self):
        room, = self.build(1)
        self.assert_held(self.stays.hold_room(self.a, room, may(1), may(5)))
        self.connection.execute(
            "INSERT INTO reservations VALUES (DEFAULT, %s, daterange(%s, %s))",
            [self.type, may(3), may(4)])
        desk, = self.connection.execute(
            "SELECT max(reservation_id) FROM reservations").fetchone()
        with self.assertRaises(RoomTaken):
            self.stays.give_room(desk, room)
        self.at("16 min")
        self.stays.give_room(desk, room)
        self.assert_taken(self.stays.hold_room(self.a, room, may(1), may(5)), [3])

    def test_a_room_every_night_or_none(self):
        room, = self.build(1)
        self.assert_held(self.stays.hold_room(self.a, room, may(2), may(4)))
        self.assert_taken(self.stays.hold_room(self.b, room, may(1), may(6)), [2, 3])
        self.assert_held(self.stays.hold_room(self.b, room, may(4), may(6)))
        self.assert_held(self.stays.hold_room(self.a, room, may(2), may(4)))

    def test_a_type_every_night_or_none(self):
        self.build(2)
        self.assert_held(self.stays.hold_type(self.a, self.type, may(2), may(3)))
        self.assert_held(self.stays.hold_type(self.b, self.type, may(1), may(3)))
        third = uuid4().hex
        self.assert_taken(self.stays.hold_type(third, self.type, may(1), may(4)), [2])
        self.assert_held(self.stays.hold_type(self.a, self.type, may(2), may(3)))
        self.assertEqual(self.stays.release(self.b), 2)
        self.assert_held(self.stays.hold_type(third, self.type, may(1), may(4)))

    def test_release_of_what_is_still_yours(self):
        room, = self.build(1)
        self.stays.hold_room(self.a, room, may(1), may(5), ttl=timedelta(minutes=1))
        self.assertEqual(self.stays.release_room(self.b, room, may(1), may(5)), 0)
        self.assertEqual(self.stays.release_room(self.a, room, may(4), may(9)), 1)
        self.at("2 min")
        self.assert_held(self.stays.hold_room(self.b, room, may(2), may(3)))
        self.assertEqual(self.stays.release_room(self.a, room, may(1), may(5)), 0)
        self.assertEqual(self.stays.release(self.a), 0)
        self.assert_taken(self.stays.hold_room(self.a, room, may(1), may(5)), [2])

    def test_type_and_room_are_booked_together(self):
        room, = self.build(1)
        self.stays.hold_type(self.a, self.type, may(1), may(3))
        self.stays.hold_room(self.a, room, may(1), may(3))
        reservation = self.stays.book(self.a, self.type, may(1), may(3))
        self.assertEqual(self.stays.book(self.a, self.type, may(1), may(3)), reservation)
        self.assertEqual(self.connection.execute(
            "SELECT room_id FROM room_stays WHERE reservation_id = %s",
            [reservation]).fetchall(), [(room,)])
        self.assert_taken(self.stays.hold_room(self.b, room, may(2), may(4)), [1])
        self.assert_taken(self.stays.hold_type(self.b, self.type, may(2), may(4)), [1])

    def test_only_what_is_held_is_booked(self):
        self.build(1)
        self.stays.hold_type(self.a, self.type, may(1), may(3), ttl=timedelta(minutes=1))
        for token, last in (self.a, may(4)), (self.b, may(3)):
            with self.assertRaises(NotHeld):
                self.stays.book(token, self.type, may(1), last)
        self.at("2 min")
        self.stays.hold_type(self.b, self.type, may(2), may(3))
        with self.assertRaises(NotHeld):
            self.stays.book(self.a, self.type, may(1), may(3))
        self.stays.release(self.b)
        self.assertTrue(self.stays.book(self.a, self.type, may(1), may(3)), "late, and still free")

    def test_check_in(self):
        first, second = self.build(2)
        reservations = []
        for token, arrive, leave in (self.a, 1, 3), (self.b, 2, 4):
            self.stays.hold_type(token, self.type, may(arrive), may(leave))
            reservations.append(self.stays.book(token, self.type, may(arrive), may(leave)))
        self.stays.give_room(reservations[0], first)
        with self.assertRaises(RoomTaken):
            self.stays.give_room(reservations[1], first)
        self.stays.give_room(reservations[1], second)

    def crowd(self, visit):
        start = threading.Barrier(60)

        def guest(number):
            with connect() as connection:
                start.wait()
                return visit(Stays(connection), number)

        with ThreadPoolExecutor(60) as pool:
            return list(pool.map(guest, range(60)))

    def test_sixty_want_one_room(self):
        room, = self.build(1)

        def visit(stays, number):
            arrive = may(1 + number % 10)
            length = 1 + number % 3
            granted = stays.hold_room(uuid4().hex, room, arrive, arrive + timedelta(length)).granted
            return length if granted else 0

        held = sum(self.crowd(visit))
        nights = [night for night, in self.connection.execute(
            "SELECT generate_series(lower(stay), upper(stay) - 1, '1 day')"
            " FROM room_stays WHERE room_id = %s", [room])]
        self.assertEqual((len(nights), len(set(nights))), (held, held))
        self.assertGreater(held, 3)
        self.assert_sound()

    def test_sixty_want_five_doubles(self):
        self.build(5)

        def visit(stays, number):
            token, nights = uuid4().hex, (may(1 + number % 4), may(4 + number % 4))
            if not stays.hold_type(token, self.type, *nights).granted:
                return None
            if number % 3 == 0:
                stays.release(token)
                return None
            return stays.book(token, self.type, *nights)

        booked = [reservation for reservation in self.crowd(visit) if reservation]
        fullest, = self.connection.execute(
            "SELECT max(guests) FROM (SELECT count(*) AS guests FROM reservations,"
            "     generate_series(lower(stay), upper(stay) - 1, '1 day')"
            "     WHERE room_type = %s GROUP BY generate_series) AS nights", [self.type]).fetchone()
        self.assertEqual(self.booked("public"), len(booked))
        self.assertLessEqual(fullest, 5)
        self.assertGreater(len(booked), 0)
        self.assert_sound()
