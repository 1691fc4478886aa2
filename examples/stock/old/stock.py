"""What stock.py replaces: look whether there is enough, then write it down."""


class Insufficient(Exception):
    """item, asked, available"""


class Stock:
    def __init__(self, connection):
        self.connection = connection

    def available(self, warehouse, item):
        return self.connection.execute(
            """SELECT COALESCE((
                   SELECT sum(quantity - reserved) FROM quants JOIN locations USING (location)
                   WHERE warehouse = %(warehouse)s AND item = %(item)s AND internal), 0)
               - COALESCE((
                   SELECT sum(qty) FROM old.reservations
                   WHERE warehouse = %(warehouse)s AND item = %(item)s
                       AND status = 'held' AND expires_at > now()), 0)""",
            {"warehouse": warehouse, "item": item}).fetchone()[0]

    def hold(self, ref, warehouse, lines, expires_at):
        for item, qty in lines:
            available = self.available(warehouse, item)
            if qty > available:
                raise Insufficient(item, qty, available)
        with self.connection.transaction():
            self.release(ref)
            for item, qty in lines:
                self.connection.execute(
                    "INSERT INTO old.reservations (ref, warehouse, item, qty, expires_at)"
                    " VALUES (%s, %s, %s, %s, %s)", [ref, warehouse, item, qty, expires_at])

    def release(self, ref):
        return self.connection.execute(
            "UPDATE old.reservations SET status = 'released' WHERE ref = %s AND status = 'held'",
            [ref]).rowcount
