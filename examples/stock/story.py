"""The story of the README: flour and yeast at a warehouse, and two carts."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from uuid import uuid4

import psycopg

from stock import Refused, Stock

ORG = f"bakery-{uuid4()}"    # a new one each time
FILL = """
    WITH shelf AS (INSERT INTO locations (warehouse) VALUES ('north') RETURNING location),
        cellar AS (INSERT INTO locations (warehouse) VALUES ('north') RETURNING location),
        dock AS (INSERT INTO locations (warehouse, internal) VALUES ('north', false)
            RETURNING location)
    INSERT INTO quants (location, item, quantity)
    SELECT location, 'flour', 2.5 FROM shelf UNION ALL
    SELECT location, 'flour', 10 FROM cellar UNION ALL
    SELECT location, 'yeast', 0.3 FROM shelf UNION ALL
    SELECT location, 'flour', 100 FROM dock"""


def soon():
    return datetime.now(timezone.utc) + timedelta(minutes=20)


def hold(stock, ref, *lines):
    asked = ", ".join(f"{qty} {item}" for item, qty in lines)
    try:
        held = stock.hold(ref, "north", [(item, Decimal(qty)) for item, qty in lines], soon())
    except Refused as no:
        print(f"{ref} wants {asked}: refused, of {no.item} it asked for {no.asked}, "
              f"available {no.available}")
    else:
        left = ", ".join(f"{line.remaining} {line.item}" for line in held)
        print(f"{ref} wants {asked}: held, remaining {left}")


def order(stock, ref):
    """The moves take over from the holds, in one transaction."""
    with stock.transaction() as connection:
        lines = stock.held_for_ref(ref)
        ended = stock.consume(ref)
        for line in lines:
            connection.execute("SELECT plan_moves(%s, %s, %s, %s)",
                               [ref, line.warehouse, line.item, line.qty])
    print(f"{ref} is ordered: {ended} holds ended")


def show(stock, ref):
    held = ", ".join(f"{line.qty} {line.item}" for line in stock.held_for_ref(ref))
    print(f"{ref} holds {held or 'nothing'}")


def main():
    connection = psycopg.connect(autocommit=True)
    stock = Stock(connection, ORG)
    connection.execute("SELECT add_org(%s)", [ORG])
    with stock.transaction():
        connection.execute(FILL)

    hold(stock, "cart:1", ("flour", "8"), ("yeast", "0.1"))
    hold(stock, "cart:2", ("flour", "5"), ("yeast", "0.1"))
    hold(stock, "cart:2", ("flour", "4.5"), ("yeast", "0.1"))
    hold(stock, "cart:1", ("flour", "4"), ("flour", "4"), ("yeast", "0.2"))
    hold(stock, "cart:1", ("flour", "5"), ("flour", "5"))
    show(stock, "cart:1")
    order(stock, "cart:1")
    order(stock, "cart:1")
    print("released:", stock.release("cart:2"), "then", stock.release("cart:2"))
    hold(stock, "cart:3", ("flour", "4.75"))
    hold(stock, "cart:3", ("flour", "4.5"))
    stock.release("cart:3")
    with stock.transaction():
        for row in connection.execute(
                "SELECT location - min(location) OVER () + 1, item, trim_scale(quantity)"
                " FROM moves WHERE ref = 'cart:1' ORDER BY move"):
            print("move from location {}: {} {}".format(row[0], row[2], row[1]))


main()
