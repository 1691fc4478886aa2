"""The values: SQL for what an argument of a type, or of a name, may be.

What is sensible is told by the argument's name where that is known, what is
odd by its type.  All is ASCII, so that it can be pasted whatever the encodings;
no value depends on what the server answered.
"""

BIG = 1_000_000  # bytes of a huge text
MANY = 10_001  # elements of a long array

POOLS = ["a", "a", "a", "b", "b", "k:1", "k:2", "n:2031-01-01", "f:1", "striped", "striped",
         "adaptive", "external", "closed", "leased", "most", "empty", "dropped", "unknown", "new"]
TOKENS = ["t", "u", "v", "w", "x", "z", "old", "new", "1", "2", "3"]
STAYS = ["[2031-01-01,2031-01-03)", "[2031-01-02,2031-01-06)", "[2031-01-03,2031-01-04)",
         "[2031-02-01,2031-02-02)", "[2031-01-07,2031-01-09]", "[2031-01-05,2031-01-07)"]

# text that says the same in each encoding
TEXTS = [b"", b"x", b" ", b"a ", b"A", b"\t", b"\n", b"\x01", b"\x7f", b"'", b'"', b"\\", b"''",
         b"{}", b"{room}", b"{a,b}", b"(a,1,)", b"%s %n", b"$1", b";--", b":", b"k:", b":1", b"k::1",
         b"k:1:2", b"NULL", b"null", b"hold_ledger", b"2031-01-01", b"app", b"operator", b"0", b"-1"]
# and what only this encoding has: several bytes a character, combining, right to
# left; bytes that are no character where the server does not mind
ENCODED = {
    "UTF8": [b"\xc3\xa9", b"e\xcc\x81", b"\xf0\x9f\x9b\x8f", b"\xd7\xa9\xd7\x9c", b"\xe2\x80\x8b",
             b"\xef\xbf\xbf", b"\xc3\xa9" * 127, b"\xf0\x9f\x9b\x8f" * 64, b"x" + b"\xc3\xa9" * 127],
    "LATIN1": [b"\xe9", b"\x80", b"\xff", b"\xa0" * 255, b"\xdf" * 256],
    "SQL_ASCII": [b"\xe9", b"\xc3", b"\xe2\x82", b"\xff\xfe", b"\xf0\x9f", b"\xed\xa0\x80",
                  b"\x80" * 255, b"\xc3" * 256],
}

NUMERICS = ["NaN", "Infinity", "-Infinity", "0", "-0", "0.000", "-1", "-0.000001", "0.000001",
            "0.0000001", "1.0000000", "1.50", "0.3333333", "999999999999.999999", "1000000000000",
            "9999999999999", "9223372036854.775807", "9223372036854.775808", "9223372036854775807",
            "1e18", "-1e18", "1e400", "-1e400", "1e-400", "1e-16383", "1e131071"]
INTEGERS = ["0", "-1", "1", "2", "63", "64", "65", "1000", "32767", "32768",
            "2147483647", "-2147483648"]
BIGINTS = INTEGERS + ["2147483648", "9223372036854775807", "-9223372036854775808",
                      "9223372036854", "9223372036855"]
INTERVALS = ["0", "-1 second", "1 microsecond", "-1 microsecond", "1 month", "-1 year",
             "1 month -30 days", "7 days", "7 days 0.000001 seconds", "-1 day 30 hours",
             "1 day -24 hours", "178000000 years", "100000000 days", "2147483647 days",
             "-2147483648 days", "2562047788 hours", "-2562047788 hours",
             "-178000000 years -2147483648 days -2562047788 hours", "3653 days"]
TIMES = ["infinity", "-infinity", "4714-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999",
         "epoch", "2000-01-01", "2031-01-01 00:00:00.000001", "1-01-01 BC", "now"]
DATES = ["infinity", "-infinity", "4714-11-24 BC", "5874897-12-31", "epoch", "2031-01-01"]
RANGES = ["empty", "(,)", "[2031-01-01,)", "(,2031-01-01]", "[2031-01-01,2031-01-01]",
          "(2031-01-01,2031-01-02)", "[2031-01-01,2031-01-01)", "[2031-01-01,infinity)",
          "[2031-01-01,infinity]", "[-infinity,2031-01-01)", "[-infinity,infinity]",
          "[infinity,infinity]", "[2031-01-01,2032-01-02)", "[2031-01-01,2032-01-03)",
          "[2031-01-01,2041-01-07)", "[2031-01-01,2041-01-09)", "[4714-11-24 BC,4714-11-26 BC)",
          "[0001-12-31 BC,0001-01-02)", "[4714-11-24 BC,5874897-12-31]",
          "[5874897-12-30,5874897-12-31)", "[5874897-12-30,5874897-12-31]", "[1999-12-31,2000-01-02)"]
DOCUMENTS = ["null", "{}", "[]", "1", '""', '"x"', "true", '{"a": null}', "1e400", "-0",
             '{"a": {"b": [1, 2, {"c": "{room}"}]}}', '{"": 1, "token": "t"}']
PROCEDURES = ["fuzz.told(text)", "fuzz.told_nan(text)", "fuzz.told_much(text)",
              "fuzz.told_null(text)", "fuzz.told_wrong(text)", "fuzz.told_holding(text)",
              "fuzz.told_itself(text)", "fuzz.told_volatile(text)", "fuzz.told_rows(text)",
              "fuzz.told_text(text)", "public.hold_available(text)", "public.hold_sweep_all(integer,integer)",
              "pg_catalog.now()", "pg_catalog.sum(numeric)", "-", "0", "1", "4294967295"]
ROLES = ["fuzz_app", "fuzz_monitor", "fuzz_operator", "fuzz_nobody", "postgres",
         "pg_read_all_data", "-", "0", "1", "4294967295"]

ODD = {
    "numeric": NUMERICS, "integer": INTEGERS, "bigint": BIGINTS, "smallint": INTEGERS[:9],
    "interval": INTERVALS, "timestamp with time zone": TIMES, "date": DATES, "daterange": RANGES,
    "boolean": ["true", "false"], "jsonb": DOCUMENTS, "regprocedure": PROCEDURES,
    "regrole": ROLES, '"char"': ["", "a", "\\\\377"], "oid": ["0", "1", "4294967295"],
}

SENSIBLE = {
    "token": TOKENS, "tokens": TOKENS, "pool": POOLS, "pools": POOLS,
    "prefix": ["k", "n", "f", "k:1", "new"], "ref": ["r", "s"], "refs": ["r", "s"],
    "level": ["app", "monitor", "operator"],
    "qty": ["1", "2", "0.5", "0.000001", "3"], "qtys": ["1", "2", "0.5"],
    "budget": ["4", "10", "0"], "budgets": ["4", "10"],
    "capacity": ["10", "12", "5", "0", "100"], "delta": ["1", "-1", "2.5"],
    "stripes": ["1", "2", "4", "0"],
    "ttl": ["1 minute", "10 minutes", "1 hour", "1 day"], "since": ["1 day", "1 hour"],
    "expires_at": ["tomorrow", "infinity", "2030-01-01", "2031-01-01"],
    "before": ["2030-01-01", "now"],
    "room_id": ["1", "1", "2", "3", "4"], "room_ids": ["1", "2", "3", "4"],
    "stay": STAYS, "nights": STAYS, "reservation_id": ["7", "8"],
    "stay_id": list(map(str, range(1, 60))),
    "batch": ["1000", "1", "10"], "max_batches": ["16", "2"],
    "final": ["true", "true", "false"], "late": ["true", "false"], "replace": ["true", "false"],
    "payload": ['{"a": 1}', "1"], "capacity_from": PROCEDURES[:1],
    "role": ROLES[:4],
}


def quoted(data):
    """Bytes as an SQL string; what is not plain is escaped."""
    if all(32 <= byte < 127 and byte not in b"'\\" for byte in data):
        return "'" + data.decode() + "'"
    return "E'" + "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}"
        for byte in data) + "'"


class Values:
    """Draws values for one database."""

    def __init__(self, random, catalog, encoding, infinite_intervals):
        self.random = random
        self.catalog = catalog
        self.texts = TEXTS + 3 * ENCODED[encoding]
        self.odd_scalars = dict(ODD)
        if infinite_intervals:
            self.odd_scalars["interval"] = INTERVALS + ["infinity", "-infinity"]

    def chance(self, share):
        return self.random.random() < share

    def sensible(self, name, type):
        """What a careful caller passes."""
        if type.endswith("[]"):
            return self.sensible_array(name, type)
        if type in self.catalog.composites:
            return self.row(type, self.sensible)
        if name in SENSIBLE:
            return f"'{self.random.choice(SENSIBLE[name])}'::{self.sql(type)}"
        return self.odd_value(type)

    def sensible_array(self, name, type):
        element = type[:-2]
        if element == "hold_line" and self.chance(0.5):
            return f"public.hold_lines(ARRAY['{self.random.choice(POOLS)}', 'a'])"
        values = (self.sensible(name, element) for _ in range(self.random.choice([1, 1, 2, 3])))
        return "ARRAY[{}]::{}".format(", ".join(values), self.sql(type))

    def odd(self, name, type):
        """What a careless or hostile caller passes."""
        if self.chance(0.15):
            return f"NULL::{self.sql(type)}"
        if type.endswith("[]"):
            return self.odd_array(name, type)
        if type in self.catalog.composites:
            return self.row(type, self.either)
        return self.odd_value(type)

    def either(self, name, type):
        return (self.sensible if self.chance(0.6) else self.odd)(name, type)

    def odd_array(self, name, type):
        """Of any shape: empty, with NULLs, of several dimensions, not from 1 on."""
        element = self.either(name, type[:-2])
        null = f"NULL::{self.sql(type[:-2])}"
        return self.random.choices([
            f"'{{}}'::{self.sql(type)}",
            f"ARRAY[{null}]",
            f"ARRAY[{element}, {null}]",
            f"ARRAY[{element}, {self.either(name, type[:-2])}]::{self.sql(type)}",
            f"array_fill({element}, ARRAY[2, 2])",
            f"array_fill({element}, ARRAY[1, 1, 1])",
            f"array_fill({element}, ARRAY[0])",
            f"array_fill({element}, ARRAY[2], ARRAY[{self.random.choice([-2147483648, -1, 0, 2])}])",
            f"array_fill({element}, ARRAY[3], ARRAY[2147483640])",
            f"array_fill({null if 'repeat' in element else element}, "
            f"ARRAY[{self.random.choice([1000, 1001, MANY - 1, MANY])}])",
            f"'{{'::{self.sql(type)}",
        ], weights=[3, 3, 3, 6, 3, 2, 1, 3, 1, 1, 0.5])[0]

    def row(self, type, draw):
        """A composite value, now and then not one of that type at all."""
        columns = self.catalog.composites[type]
        wrong = self.random.random()
        if draw != self.sensible and wrong < 0.05:
            return f"ROW(1)::{self.sql(type)}"
        if draw != self.sensible and wrong < 0.15:
            return "ROW({})::{}".format(", ".join("NULL" for _ in columns), self.sql(type))
        if draw != self.sensible and wrong < 0.2:
            return f"'(a,b)'::{self.sql(type)}"
        values = ("NULL" if number >= 2 and self.chance(0.5) else draw(name, column)
                  for number, (name, column) in enumerate(columns))
        return "ROW({})::{}".format(", ".join(values), self.sql(type))

    def odd_value(self, type):
        if type in self.odd_scalars and not (type == "jsonb" and self.chance(0.1)):
            return f"'{self.random.choice(self.odd_scalars[type])}'::{type}"
        if type == "jsonb":
            return self.huge_document()
        if type in self.catalog.enums:
            return f"'{self.random.choice(self.catalog.enums[type] + ['', 'none'])}'::{self.sql(type)}"
        if type == "text":
            return self.odd_text() + "::text"
        return f"{quoted(self.random.choice(TEXTS))}::{self.sql(type)}"

    def odd_text(self):
        if self.chance(0.25):
            unit = self.random.choice([b"x", b"\x01", b"{", b"'", b":"])
            return f"repeat({quoted(unit)}, {self.random.choice([254, 255, 256, 8192, BIG])})"
        return quoted(self.random.choice(self.texts))

    def huge_document(self):
        depth = self.random.choice([100, 2000, 100_000])
        return self.random.choice([
            f"to_jsonb(repeat('x', {BIG}))",
            f"(repeat('[', {depth}) || repeat(']', {depth}))::jsonb",
            "(SELECT jsonb_object_agg(i, i) FROM generate_series(1, 5000) AS i)",
        ])

    def sql(self, type):
        """The type's name under any search_path."""
        return self.catalog.qualified.get(type.removesuffix("[]"), type.removesuffix("[]")) + (
            "[]" if type.endswith("[]") else "")
