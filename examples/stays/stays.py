"""Holds on the nights of a stay: a room of a type, or one room by its number."""

from datetime import datetime, timedelta
from typing import NamedTuple

import psycopg

TTL = timedelta(minutes=15)


class Answer(NamedTuple):
    granted: bool
    taken: list[int]    # which nights are not free: 1 is the first
    expires_at: datetime | None


class NotHeld(Exception):
    """The token does not hold these very nights, or no longer."""


class RoomTaken(Exception):
    """Somebody has or holds the room for one of the nights."""


class Stays:
    """A stay is given by two dates: the first night and the day of departure."""

    def __init__(self, connection):
        self.connection = connection

    def hold_room(self, token, room_id, arrive, leave, ttl=TTL):
        """Every night of the room, or none. The same token again renews."""
        granted, taken, expires_at = self.one(
            "SELECT granted, taken, expires_at"
            " FROM hold_try_stay(%s, %s, daterange(%s, %s), ttl => %s)",
            token, room_id, arrive, leave, ttl)
        return Answer(granted, [(night - arrive).days + 1 for night in taken or []],
                      expires_at if granted else None)

    def hold_type(self, token, room_type, arrive, leave, ttl=TTL):
        """A room of the type for every night, or none. The same token again renews."""
        nights = self.all(
            "SELECT granted, outcome, line, expires_at"
            " FROM hold_try_lines(%s, hold_nights(%s, daterange(%s, %s)), ttl => %s)",
            token, f"type:{room_type}", arrive, leave, ttl)
        granted = nights[0][0]
        return Answer(granted, [line for _, outcome, line, _ in nights if outcome == "insufficient"],
                      min(expires_at for *_, expires_at in nights) if granted else None)

    def release_room(self, token, room_id, arrive, leave):
        """Gives back those of the nights that the token still holds; how many."""
        return self.one("SELECT hold_release_stay(%s, %s, daterange(%s, %s))",
                        token, room_id, arrive, leave)[0]

    def release(self, token):
        """Gives back all that the token still holds; how many nights of types and rooms."""
        return self.one("SELECT COALESCE(sum(refunded), 0)::int FROM hold_release(%s)", token)[0]

    def book(self, token, room_type, arrive, leave):
        """Makes a reservation of the nights that the token holds, and of the room if it
        holds one: both or neither. Answers its id, also when asked again."""
        with self.connection.transaction():
            reservation, = self.one(
                "SELECT nextval(pg_get_serial_sequence('reservations', 'reservation_id'))")
            settled = [row for row in self.all(
                "SELECT outcome, pool, reservation_id"
                " FROM hold_consume(%s, reservation_id => %s, late => true)"
                " WHERE pool IS NOT NULL", token, reservation)
                if row[0] in ("consumed", "already_consumed")]
            wanted = self.all("SELECT pool FROM unnest(hold_nights(%s, daterange(%s, %s)))",
                              f"type:{room_type}", arrive, leave)
            outcomes = {outcome for outcome, _, _ in settled}
            if {(pool,) for _, pool, _ in settled} != set(wanted) or len(outcomes) > 1:
                raise NotHeld
            if outcomes == {"already_consumed"}:
                return settled[0][2]
            self.connection.execute(
                "INSERT INTO reservations VALUES (%s, %s, daterange(%s, %s), %s)",
                [reservation, room_type, arrive, leave, token])
            return reservation

    def give_room(self, reservation, room_id):
        """At check-in: this room for the nights of the reservation."""
        try:
            self.connection.execute(
                "INSERT INTO room_stays (room_id, reservation_id, stay)"
                " SELECT %s, reservation_id, stay FROM reservations WHERE reservation_id = %s",
                [room_id, reservation])
        except psycopg.errors.ExclusionViolation as error:
            raise RoomTaken(room_id) from error

    def all(self, query, *values):
        return self.connection.execute(query, values).fetchall()

    def one(self, query, *values):
        return self.connection.execute(query, values).fetchone()
