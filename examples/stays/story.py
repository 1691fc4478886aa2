"""The story of the README: two doubles, and guests who want them in May."""

from datetime import date
from uuid import uuid4

import psycopg

from stays import RoomTaken, Stays

RUN = uuid4()    # the hotel and its guests are new each time
DOUBLE = f"double-{RUN}"


def may(day):
    return date(2031, 5, day)


def say(guest, wish, answer):
    if answer.granted:
        print(f"{guest} wants {wish}: held")
    else:
        print(f"{guest} wants {wish}: no, taken are nights {answer.taken}")


def main():
    connection = psycopg.connect(autocommit=True)
    stays = Stays(connection)
    rooms = dict(connection.execute(
        "INSERT INTO rooms (room_type, name) VALUES (%s, '101'), (%s, '102')"
        " RETURNING name, room_id", [DOUBLE, DOUBLE]))

    def want_double(guest, arrive, leave):
        say(guest, f"a double, {arrive} to {leave} May",
            stays.hold_type(f"{guest}-{RUN}", DOUBLE, may(arrive), may(leave)))

    def want_room(guest, name, arrive, leave):
        say(guest, f"room {name}, {arrive} to {leave} May",
            stays.hold_room(f"{guest}-{RUN}", rooms[name], may(arrive), may(leave)))

    def book(guest, arrive, leave):
        print(f"{guest} pays: booked")
        return stays.book(f"{guest}-{RUN}", DOUBLE, may(arrive), may(leave))

    def check_in(guest, reservation, name):
        try:
            stays.give_room(reservation, rooms[name])
            print(f"{guest} arrives: room {name}")
        except RoomTaken:
            print(f"{guest} arrives: room {name} is taken")

    want_double("ann", 1, 8)
    want_double("bob", 3, 5)
    want_double("cid", 1, 6)
    want_double("ann", 1, 8)
    print("bob leaves:", stays.release(f"bob-{RUN}"), "nights given back")
    want_double("cid", 1, 6)

    want_room("ann", "101", 1, 8)
    want_room("dora", "101", 6, 10)
    want_room("dora", "101", 8, 10)
    print("dora leaves early:", stays.release_room(f"dora-{RUN}", rooms["101"], may(9), may(12)),
          "night given back")

    book("ann", 1, 8)
    cid = book("cid", 1, 6)
    want_double("eve", 5, 8)
    check_in("cid", cid, "101")
    check_in("cid", cid, "102")
    for name, stay in connection.execute(
            "SELECT name, stay::text FROM room_stays JOIN rooms USING (room_id)"
            " WHERE room_type = %s AND reservation_id IS NOT NULL ORDER BY name", [DOUBLE]):
        print(f"room {name}: {stay}")
    stays.release(f"dora-{RUN}")


main()
