"""The calls: what a round does, step by step, before anything of it is done."""

from dataclasses import dataclass

from values import Values, quoted

BLOCKS = 12  # of a round, each with its own role, settings and transaction
CALLS = 20  # of a block
WRONG = 50  # how often to call what is wrong on purpose; others: by their arguments
ROLES = ["postgres"] * 4 + ["fuzz_operator"] * 4 + ["fuzz_app"] * 2 + ["fuzz_monitor", "fuzz_nobody"]
LEVELS = ["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]
CLIENTS = ["UTF8", "LATIN1", "SQL_ASCII", "WIN1252", "EUC_JP", "SJIS", "BIG5"]
TOKEN_COLUMNS = ["token", "number", "chars", "document", "missing", "", '"token"', "ctid", "TOKEN"]

# What a superuser may try on tables, as it is refused to all; a superuser who
# writes the other tables by hand gets what that deserves.
REFUSED = ["UPDATE public.room_stays SET room_id = room_id", "DELETE FROM public.room_stays",
           "TRUNCATE public.room_stays", "DELETE FROM public.hold_ledger WHERE false",
           "UPDATE public.hold_ledger SET qty = 0", "TRUNCATE public.hold_ledger CASCADE",
           "DELETE FROM public.hold_pools", "TRUNCATE public.hold_pools CASCADE"]


@dataclass
class Step:
    """A statement, or a few that are sent at once."""
    kind: str  # set, begin, end, or a call
    sql: str
    only_reads: bool = False  # whatever comes of it, nothing may change
    function: str = ""


class Round:
    """Draws the steps of one round."""

    def __init__(self, random, catalog, encoding):
        self.random = random
        self.catalog = catalog
        self.values = Values(random, catalog, encoding, catalog.version >= 170000)
        self.choose = random.choice
        self.chance = self.values.chance
        self.numbers = iter(range(1, 1_000_000))
        self.role = None
        self.weights = [WRONG if function.name.startswith("wrong.") else 1 + len(function.types)
                        for function in catalog.functions]

    def steps(self):
        return [step for _ in range(BLOCKS) for step in self.block()]

    def block(self):
        yield from self.surroundings()
        calls = [self.call() for _ in range(CALLS)]
        if self.chance(0.4):
            yield from calls
        else:
            yield Step("begin", f"BEGIN ISOLATION LEVEL {self.choose(LEVELS)}, "
                       f"{self.choose(['READ WRITE'] * 5 + ['READ ONLY', 'READ ONLY, DEFERRABLE'])}")
            yield from calls
            yield from self.end()

    def end(self):
        if self.chance(0.8):
            yield Step("end", self.choose(["COMMIT", "COMMIT", "ROLLBACK"]))
            return
        yield Step("end", "PREPARE TRANSACTION :'DBNAME'")
        yield Step("end", f"{self.choose(['COMMIT', 'ROLLBACK'])} PREPARED :'DBNAME'")

    # -- whose session it is, and under which settings

    def surroundings(self):
        self.role = self.choose(ROLES)
        for statement in ("RESET SESSION AUTHORIZATION", "RESET ALL", "DEALLOCATE ALL"):
            yield Step("set", statement)
        if self.chance(0.3):
            yield Step("set", "SET hold_ledger.tenant = 'other'")
        for name, *setting in self.catalog.settings:
            if self.chance(0.08):
                yield Step("set", f"SET {name} = {self.setting(*setting)}")
        for name in self.catalog.surroundings:
            if self.chance(0.1):
                yield Step("set", f"SET {name} = {'on' if 'parallel' in name else 'off'}")
        for statement in self.client():
            if self.chance(0.2):
                yield Step("set", statement)
        yield Step("set", f"SET SESSION AUTHORIZATION {self.role}")

    def setting(self, kind, default, least, most, unit):
        if kind == "bool":
            return self.choose(["on", "off"])
        if kind == "string":
            return self.choose(["'other'", "''", "'{room}'", f"'{'x' * 255}'", f"'{'x' * 256}'"])
        seconds = unit == "s"
        middle = ["20min", "1h", "1d", "1us"] if seconds else ["1", "2", "10"]
        return "'" + self.choose([least, most, default] + middle * 2) + "'"

    def client(self):
        return [f"SET client_encoding = '{self.choose(CLIENTS)}'",
                "SET search_path = ''", "SET search_path = pg_temp, fuzz",
                f"SET timezone = '{self.choose(['America/New_York', 'Asia/Kathmandu'])}'",
                f"SET datestyle = '{self.choose(['German', 'SQL, DMY'])}'",
                "SET intervalstyle = 'iso_8601'", "SET standard_conforming_strings = off",
                "SET default_transaction_isolation = 'serializable'",
                "SET default_transaction_read_only = on", "SET work_mem = '64kB'",
                "SET plan_cache_mode = force_generic_plan"]

    # -- calls

    def call(self):
        kind = self.random.random()
        if kind < 0.05:
            return self.look()
        if kind < 0.10:
            return self.insert()
        if kind < 0.12:
            return self.write()
        function = self.function()
        if function.is_trigger:
            return Step("call", self.trigger(function), function=function.name)
        given = self.arguments(function)
        return Step("call", self.shape(function, given), function.only_reads, function.name)

    def function(self):
        """Mostly one that the role may execute."""
        drawn = self.random.choices(self.catalog.functions, self.weights, k=3)
        return next((one for one in drawn if self.role in one.callers), drawn[0])

    def arguments(self, function):
        """Pairs of a name, or None, and a value; by place first, then by name."""
        count = len(function.types)
        required = count - function.defaults
        placed = self.random.randint(0, count) if all(function.names[:count]) and function.names else count
        indexes = [i for i in range(count) if i < max(placed, required) or self.chance(0.4)]
        draw = self.values.sensible if self.chance(0.75) else self.values.either
        values = {i: draw(self.name(function, i), function.types[i]) for i in indexes}
        if indexes and draw == self.values.sensible and self.chance(0.7):
            for i in self.random.choices(indexes, k=self.choose([1, 2])):
                values[i] = self.values.odd(self.name(function, i), function.types[i])
        return [(None if i < placed else function.names[i], value) for i, value in values.items()]

    def name(self, function, i):
        return function.names[i] if i < len(function.names) else ""

    def shape(self, function, given):
        """The ways in which SQL calls a function."""
        call = "{}({})".format(function.name, said(given))
        if function.kind == "p":
            return self.choose([f"CALL {call}"] * 3 + [f"DO $fuzz$ BEGIN CALL {call}; END $fuzz$"])
        return self.random.choices([
            lambda: f"SELECT * FROM {call}",
            lambda: f"SELECT {call}",
            lambda: f"SELECT {call} FROM generate_series(1, 2)",
            lambda: f"SELECT count(*) FROM (SELECT * FROM {call} AS a LIMIT 1) AS one",
            lambda: f"SELECT 1 FROM generate_series(1, 2) WHERE (SELECT count(*) FROM {call} AS a) > 0",
            lambda: f"DO $fuzz$ BEGIN PERFORM * FROM {call}; END $fuzz$",
            lambda: self.cursor(call),
            lambda: self.prepared(function, given),
        ], weights=[8, 2, 1, 1, 1, 1, 1, 2])[0]()

    def cursor(self, call):
        name = f"c{next(self.numbers)}"
        return f"DECLARE {name} CURSOR FOR SELECT * FROM {call}; FETCH 1 FROM {name}; CLOSE {name}"

    def prepared(self, function, given):
        """With the arguments as parameters."""
        name = f"p{next(self.numbers)}"
        types = [function.types[function.names.index(key)] if key else function.types[i]
                 for i, (key, _) in enumerate(given)]
        places = said([(key, f"${i}") for i, (key, _) in enumerate(given, 1)])
        declared = "({})".format(", ".join(map(self.values.sql, types))) if given else ""
        passed = "({})".format(", ".join(value for _, value in given)) if given else ""
        return (f"PREPARE {name} {declared} AS SELECT * FROM {function.name}({places}); "
                f"EXECUTE {name} {passed}")

    def trigger(self, function):
        """A trigger function, called by a trigger of any kind, or as none."""
        if self.chance(0.2):
            return f"SELECT {function.name}()"
        table = f"rows_{next(self.numbers)}"
        constraint = self.chance(0.5)
        when = "AFTER" if constraint else self.choose(["BEFORE", "AFTER"])
        each = "ROW" if constraint else self.choose(["ROW", "STATEMENT"])
        event = self.choose(["INSERT", "INSERT OR UPDATE", "UPDATE OF token", "DELETE"]
                            + ["TRUNCATE"] * (each == "STATEMENT"))
        columns = [quoted(name.encode()) for name in TOKEN_COLUMNS[:2] * 3 + TOKEN_COLUMNS]
        given = ", ".join(self.random.choices(columns, k=self.choose([1, 1, 1, 0, 2])))
        token = self.values.either("token", "text")
        return f"""DO $fuzz$ BEGIN
	CREATE TEMP TABLE {table} (token text, number numeric, chars char(300), document jsonb) ON COMMIT DROP;
	CREATE {'CONSTRAINT ' * constraint}TRIGGER g {when} {event} ON {table}
		{'DEFERRABLE INITIALLY DEFERRED ' * constraint}FOR EACH {each} EXECUTE FUNCTION {function.name}({given});
	{self.consumption(token)}INSERT INTO {table} VALUES ({token}, {self.values.odd('', 'numeric')}, {token}, to_jsonb(1));
	UPDATE {table} SET token = {self.values.either('token', 'text')};
	{self.choose(['DELETE FROM', 'TRUNCATE'])} {table};
	SET CONSTRAINTS ALL IMMEDIATE;
END $fuzz$"""

    def consumption(self, token):
        if self.chance(0.5):
            return ""
        return (f"PERFORM public.hold_try({token}, 'a', 0.000001); "
                f"PERFORM public.hold_consume({token}, 'a');\n\t")

    # -- statements on relations

    def look(self):
        name, columns = self.choose(sorted(self.catalog.views.items()))
        column, type = self.choose(columns)
        operator = self.choose(["=", "<", ">=", "IS DISTINCT FROM"])
        return Step("call", f"SELECT * FROM {name} WHERE {column} {operator} "
                    f"{self.values.either(column, type)} ORDER BY {self.choose(columns)[0]}", True, name)

    def insert(self):
        """Stays that an application confirms; only superusers may say more."""
        name = "public.room_stays"
        columns = [(column, type) for column, type in self.catalog.tables[name]
                   if column in ("room_id", "stay", "reservation_id", "ref")
                   or self.role != "postgres" and self.chance(0.05)]
        columns = [pair for pair in columns if pair[0] in ("room_id", "stay") or self.chance(0.7)]
        rows = ", ".join("({})".format(", ".join(self.values.either(*pair) for pair in columns))
                         for _ in range(self.choose([1, 1, 2])))
        return Step("call", "INSERT INTO {} ({}) VALUES {}{}".format(
            name, ", ".join(column for column, _ in columns), rows,
            self.choose([""] * 4 + [" ON CONFLICT DO NOTHING"])), False, name)

    def write(self):
        """What nobody may do, or only those who do not call."""
        if self.role == "postgres":
            return Step("call", self.choose(REFUSED), True)
        name, columns = self.choose(sorted((self.catalog.tables | self.catalog.views).items()))
        column, type = self.choose(columns)
        return Step("call", self.choose([
            f"UPDATE {name} SET {column} = {self.values.odd(column, type)}",
            f"DELETE FROM {name}", f"TRUNCATE {name}", f"SELECT * FROM {name} FOR UPDATE",
            f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE NOWAIT",
        ]), True, name)


def said(given):
    return ", ".join(f"{name} => {value}" if name else value for name, value in given)
