-- What the calls find: pools, holds and stays in every state, functions that
-- can be asked for capacity, roles of every level, and digests of it all.

SET client_min_messages = warning;
CREATE EXTENSION hold_ledger CASCADE;
CREATE SCHEMA fuzz;
GRANT USAGE ON SCHEMA fuzz TO PUBLIC;

DO $$
BEGIN
	PERFORM hold_grant_access('fuzz_app', 'app'), hold_grant_access('fuzz_monitor', 'monitor'),
		hold_grant_access('fuzz_operator', 'operator');
END
$$;

-- what capacity_from may name, rightly and wrongly
CREATE FUNCTION fuzz.told(pool text) RETURNS numeric LANGUAGE sql STABLE
RETURN pg_catalog.length(pool);
CREATE FUNCTION fuzz.told_nan(pool text) RETURNS numeric LANGUAGE sql STABLE
RETURN 'NaN'::numeric;
CREATE FUNCTION fuzz.told_much(pool text) RETURNS numeric LANGUAGE sql STABLE
RETURN 1e30;
CREATE FUNCTION fuzz.told_null(pool text) RETURNS numeric LANGUAGE sql STABLE
RETURN NULL::numeric;
CREATE FUNCTION fuzz.told_wrong(pool text) RETURNS numeric LANGUAGE plpgsql STABLE
AS $$ BEGIN RETURN 1 / (pg_catalog.length(pool) - pg_catalog.length(pool)); END $$;
CREATE FUNCTION fuzz.told_holding(pool text) RETURNS numeric LANGUAGE plpgsql STABLE
AS $$ BEGIN PERFORM public.hold_try('t', pool); RETURN 1; END $$;
CREATE FUNCTION fuzz.told_itself(pool text) RETURNS numeric LANGUAGE plpgsql STABLE
AS $$ BEGIN RETURN fuzz.told_itself(pool); END $$;
CREATE FUNCTION fuzz.told_volatile(pool text) RETURNS numeric LANGUAGE sql
RETURN pg_catalog.random();
CREATE FUNCTION fuzz.told_rows(pool text) RETURNS SETOF numeric LANGUAGE sql STABLE
RETURN 1;
CREATE FUNCTION fuzz.told_text(pool text) RETURNS text LANGUAGE sql STABLE
RETURN pool;

-- each table of the extension: how many rows, and a sum over them; of the
-- ledger, which cannot change, how many of each event
DO $$
BEGIN
	EXECUTE (
		SELECT 'CREATE VIEW fuzz.everything AS ' || string_agg(format(
			'SELECT %L AS name, count(*), sum(hash_record_extended(t, 0)) FROM %s t',
			c.relname, c.oid::regclass), ' UNION ALL ')
			|| ' UNION ALL SELECT event::text, count(*), max(seq) FROM public.hold_ledger GROUP BY event'
		FROM pg_class c JOIN pg_depend d ON d.objid = c.oid AND d.deptype = 'e'
		WHERE d.classid = 'pg_class'::regclass AND c.relkind = 'r'
			AND c.relname <> 'hold_ledger');
END
$$;

-- the same without what expires before a moment, and without how the rows of a
-- pool share its capacity: what a refusal must leave as it was
CREATE FUNCTION fuzz.lasting(moment timestamptz, OUT name text, OUT figures text)
RETURNS SETOF record LANGUAGE sql BEGIN ATOMIC
	SELECT 'pool',
		ROW(p.tenant, p.pool, p.room_id, sum(p.capacity), sum(p.consumed),
			sum(p.held) - COALESCE(sum(h.held), 0) - COALESCE(sum(s.held), 0),
			sum(p.holds) - COALESCE(sum(h.holds), 0) - COALESCE(sum(s.holds), 0),
			p.generation, p.lease_end, p.closed, p.retired, p.class_id, p.stripes)::text
	FROM public.hold_pools p
		LEFT JOIN LATERAL (SELECT count(*) AS holds,
				sum(h.qty) FILTER (WHERE h.generation = p.generation) AS held
			FROM public.holds h
			WHERE h.pool_id = p.pool_id AND h.expires_at <= moment) h ON true
		LEFT JOIN LATERAL (SELECT count(*) AS holds,
				sum(upper(s.stay) - lower(s.stay)) * 1000000 AS held
			FROM public.room_stays s
			WHERE s.tenant = p.tenant AND s.room_id = p.room_id
				AND s.expires_at <= moment) s ON true
	GROUP BY p.tenant, p.pool, p.room_id, p.generation, p.lease_end, p.closed,
		p.retired, p.class_id, p.stripes
	UNION ALL
	SELECT 'hold', hash_record_extended(h, 0)::text
	FROM public.holds h WHERE h.expires_at > moment
	UNION ALL
	SELECT 'stay', hash_record_extended(s, 0)::text
	FROM public.room_stays s WHERE (s.expires_at <= moment) IS NOT TRUE
	UNION ALL
	SELECT 'class', hash_record_extended(c, 0)::text FROM public.hold_classes c
	UNION ALL
	SELECT e.event::text, count(*)::text FROM public.hold_ledger e
	WHERE e.event <> 'expired' GROUP BY e.event;
END;

CREATE FUNCTION fuzz.digest(moment timestamptz) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' SET datestyle = 'ISO'
AS $$
BEGIN
	RETURN ARRAY[
		(SELECT md5(string_agg(concat_ws(' ', e.*), ',' ORDER BY e.name))
			FROM fuzz.everything e),
		(SELECT md5(string_agg(concat_ws(' ', l.name, l.figures), ','
				ORDER BY l.name, l.figures COLLATE "C"))
			FROM fuzz.lasting(moment) l)];
END
$$;

-- what must not be found at the end
CREATE VIEW fuzz.unsound AS
SELECT 'more than there is' AS what, 'held and consumed' AS problem, min(p.pool) AS pool,
	sum(p.capacity)::text AS expected, sum(p.held + p.consumed - COALESCE(h.held, 0))::text AS found
FROM public.hold_pools p
	LEFT JOIN LATERAL (SELECT sum(h.qty) AS held FROM public.holds h
		WHERE h.pool_id = p.pool_id AND h.generation = p.generation
			AND h.expires_at <= public.hold_clock()) h ON true
WHERE p.room_id IS NULL AND p.capacity IS NOT NULL
	-- unless the capacity was ever lowered or set for the first time, or that may
	-- be forgotten; what a stripe hands to another is lowered here and raised there at one time
	AND NOT EXISTS (SELECT FROM public.hold_pools r
			JOIN public.hold_ledger e ON e.pool_id = r.pool_id
		WHERE r.tenant = p.tenant AND r.pool = p.pool AND e.event = 'capacity'
		GROUP BY e.at HAVING sum(e.qty) < 0 OR max(r.first_seq) > 1
			OR count(e.capacity) < count(*))
GROUP BY p.tenant, p.pool
HAVING sum(p.held + p.consumed - COALESCE(h.held, 0)) > sum(p.capacity)
UNION ALL
SELECT 'hold_verify() finds something', v.problem, v.pool, v.expected, v.found FROM public.hold_verify() v;

-- the pools and rooms of two tenants
CREATE PROCEDURE fuzz.fill() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM hold_class_set('k', 3), hold_class_set('n', 2, stripes => 2),
		hold_class_set('f', capacity_from => 'fuzz.told(text)');
	PERFORM hold_pool_set('a', 10), hold_pool_set('b', 5.5),
		hold_pool_set('empty', 0), hold_pool_set('most', 999999999999.999999),
		hold_pool_set('external', NULL), hold_pool_set('striped', 10, stripes => 4),
		hold_pool_set('adaptive', 10, stripes => 0), hold_pool_set('closed', 10),
		hold_pool_set('leased', 10, 'now'::timestamptz + interval '1 hour'),
		hold_pool_set('dropped', 1);
	PERFORM hold_pool_drop('dropped');
	PERFORM hold_try('t', 'a', 2), hold_try('u', 'a', 1), hold_try('t', 'b', 0.5),
		hold_try('t', 'striped', 3), hold_try('u', 'external', 2, budget => 4),
		hold_try('v', 'k:1', 1), hold_try('v', 'closed', 1), hold_try('w', 'a', 1),
		hold_try('x', 'a', 2), hold_try('t', 'leased', 2);
	PERFORM hold_pool_close('closed');
	PERFORM hold_consume('w', reservation_id => 7);
	PERFORM hold_consume('x', 'a', 0.5, false, 'r');
	PERFORM hold_try_stay('t', 1, '[2031-01-01,2031-01-05)'),
		hold_try_stay('u', 1, '[2031-01-05,2031-01-07)'),
		hold_try_stay('z', 2, '[2031-01-01,2031-01-04)');
	PERFORM hold_consume('z', ref => 'r');
	INSERT INTO room_stays (room_id, reservation_id, stay)
	VALUES (3, 5, '[2031-01-01,2031-01-03)');
	-- these have expired
	SET LOCAL hold_ledger.clock_offset = '-1 d';
	PERFORM hold_try('old', 'b', 1), hold_try('old', 'adaptive', 1);
	PERFORM hold_try_stay('old', 2, '[2031-02-01,2031-02-03)');
END
$$;
SET hold_ledger.tenant = 'other';
CALL fuzz.fill();
SET hold_ledger.tenant = '';
CALL fuzz.fill();
