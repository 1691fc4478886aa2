-- CREATE EXTENSION, what every object of it has in common, and the functions
-- that the other tests use.  It is run before any other test.

CREATE EXTENSION hold_ledger CASCADE;

SELECT extname, extrelocatable FROM pg_extension
WHERE extname IN ('hold_ledger', 'btree_gist') ORDER BY extname;

CREATE VIEW regress_objects AS
SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, 0) AS object
FROM pg_depend d
WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
	AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'hold_ledger');

-- everything that users meet has a comment
SELECT object FROM regress_objects
WHERE obj_description(objid, classid::regclass::name) IS NULL
	AND (classid = 'pg_proc'::regclass OR EXISTS (SELECT FROM pg_class c
		WHERE c.oid = objid AND classid = 'pg_class'::regclass AND c.relkind IN ('r', 'v', 'S')));

-- no function that writes turns a mistake into NULL, or may be run in parallel
SELECT object FROM regress_objects JOIN pg_proc p ON p.oid = objid
WHERE classid = 'pg_proc'::regclass
	AND p.provolatile = 'v' AND (p.proisstrict OR p.proparallel <> 'u');

-- all tables and sequences are dumped
SELECT object FROM regress_objects JOIN pg_class c ON c.oid = objid
WHERE classid = 'pg_class'::regclass AND c.relkind IN ('r', 'S')
	AND c.oid <> ALL (SELECT unnest(extconfig) FROM pg_extension WHERE extname = 'hold_ledger');

-- views show nothing of another tenant to a function of the caller's query
SELECT object FROM regress_objects JOIN pg_class c ON c.oid = objid
WHERE classid = 'pg_class'::regclass AND c.relkind = 'v'
	AND NOT COALESCE('security_barrier=true' = ANY (c.reloptions), false);

DROP VIEW regress_objects;

--
-- Functions of the tests
--

-- How many minutes from now, rounded: a time that can be printed.
CREATE FUNCTION regress_minutes(moment timestamptz) RETURNS numeric
LANGUAGE sql AS $$
	SELECT round(extract(epoch FROM moment - hold_clock()) / 60)
$$;

-- Are all promises about the current tenant's pools kept?  Answers "ok", or
-- what is broken.
CREATE FUNCTION regress_ok() RETURNS text
LANGUAGE sql AS $$
	WITH live AS (
		SELECT pool, count(*) AS holds, sum(qty) AS held FROM live_holds GROUP BY pool
	), broken AS (
		-- counters, holds and ledger tell the same
		SELECT format('%s: %s, expected %s, found %s', pool, problem, expected, found) AS what
		FROM hold_verify()
		UNION ALL
		-- nothing is lost and nothing is given twice, unless capacity was lowered
		SELECT format('%s: capacity %s, available %s, held %s, consumed %s',
			pool, capacity, available, held, consumed)
		FROM hold_pool_status s
		WHERE NOT closed AND (expires_at <= hold_clock()) IS NOT TRUE
			AND capacity <> available + held + consumed
			AND NOT (available = 0 AND held + consumed > capacity AND EXISTS (
				SELECT FROM hold_entries e WHERE e.pool = s.pool
					AND e.event = 'capacity' AND e.held + e.consumed > e.capacity))
		UNION ALL
		-- whoever asks gets the same answer
		SELECT format('%s: status says %s available and %s holds, functions say %s and %s',
			pool, available, holds, hold_available(pool), hold_count(pool))
		FROM hold_pool_status
		WHERE (available, holds) IS DISTINCT FROM (hold_available(pool), hold_count(pool))
		UNION ALL
		SELECT format('%s: status says %s held by %s, live_holds says %s by %s',
			pool, s.held, s.holds, l.held, l.holds)
		FROM hold_pool_status s FULL JOIN live l USING (pool)
		WHERE (s.held, s.holds) IS DISTINCT FROM (COALESCE(l.held, 0), COALESCE(l.holds, 0))
	)
	SELECT COALESCE(string_agg(what, E'\n' ORDER BY what), 'ok') FROM broken
$$;

SELECT regress_ok();
