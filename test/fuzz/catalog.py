"""What there is to be called: all of it comes from the server's catalogs."""

from dataclasses import dataclass

MEMBERS = """
SELECT d.objid FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
WHERE d.deptype = 'e' AND e.extname = 'hold_ledger' AND d.classid = 'pg_catalog.{}'::regclass
"""

# Those in the schema "wrong", where there is one, are called like the others.
FUNCTIONS = f"""
SELECT format('%I.%I', n.nspname, p.proname), p.prokind, p.provolatile,
	p.prorettype = 'trigger'::regtype, p.pronargdefaults,
	COALESCE((SELECT array_agg(format_type(a.type, NULL) ORDER BY a.number)
		FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, number)), '{{}}'),
	COALESCE(p.proargnames[1:p.pronargs], '{{}}'),
	ARRAY(SELECT r.rolname::text FROM pg_catalog.pg_roles r
		WHERE has_function_privilege(r.oid, p.oid, 'EXECUTE'))
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.oid IN ({MEMBERS.format("pg_proc")}) OR n.nspname = 'wrong'
ORDER BY 1, p.oid::regprocedure::text
"""

COLUMNS = f"""
SELECT c.relkind, format('%I.%I', n.nspname, c.relname), c.relname,
	array_agg(a.attname ORDER BY a.attnum),
	array_agg(format_type(a.atttypid, NULL) ORDER BY a.attnum)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'v') AND c.oid IN ({MEMBERS.format("pg_class")})
	OR c.relkind = 'c' AND c.reltype IN ({MEMBERS.format("pg_type")})
GROUP BY c.oid, n.nspname ORDER BY 2
"""

TYPES = f"""
SELECT t.typname, format('%I.%I', n.nspname, t.typname),
	COALESCE((SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
		FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid), '{{}}')
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE t.typcategory <> 'A' AND t.oid IN ({MEMBERS.format("pg_type")}) ORDER BY 1
"""

SETTINGS = """
SELECT name, vartype, boot_val, min_val, max_val, unit FROM pg_catalog.pg_settings
WHERE name LIKE 'hold\\_ledger.%' ORDER BY 1
"""

# What else may change how a function runs, where the server has it.
SURROUNDINGS = """
SELECT name FROM pg_catalog.pg_settings WHERE name IN ('debug_parallel_query',
	'force_parallel_mode', 'enable_seqscan', 'enable_indexscan', 'enable_bitmapscan')
ORDER BY 1
"""


@dataclass
class Function:
    name: str
    kind: str
    volatile: str
    is_trigger: bool
    defaults: int
    types: list
    names: list
    callers: list  # roles that may execute it

    @property
    def only_reads(self):
        return self.volatile != "v"


class Catalog:
    """Read once, by a superuser, from a database that has the extension."""

    def __init__(self, connection):
        ask = connection.execute
        ask("SELECT hold_clock()")  # loads the library, and its settings with it
        self.functions = [Function(*row) for row in ask(FUNCTIONS)]
        relations = list(ask(COLUMNS))
        self.composites = {name: list(zip(columns, types))
                           for kind, _, name, columns, types in relations if kind == "c"}
        self.tables = {name: list(zip(columns, types))
                       for kind, name, _, columns, types in relations if kind == "r"}
        self.views = {name: list(zip(columns, types))
                      for kind, name, _, columns, types in relations if kind == "v"}
        types = list(ask(TYPES))
        self.qualified = {name: qualified for name, qualified, _ in types}
        self.enums = {name: labels for name, _, labels in types if labels}
        self.settings = list(ask(SETTINGS))
        self.surroundings = [name for name, in ask(SURROUNDINGS)]
        self.version = connection.info.server_version
