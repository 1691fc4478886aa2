-- Every argument of every function: NULL, empty, too long, not a number, out of
-- range, oddly shaped.  Each is an error that names the argument and its limit,
-- and changes nothing.

SET hold_ledger.tenant = 'arguments';
SELECT pg_backend_pid() AS backend \gset

SELECT hold_pool_set('seats', 10) IS NOT NULL AS made;
SELECT outcome FROM hold_try('ann', 'seats', 2);
CREATE TEMP TABLE before AS SELECT * FROM hold_entries;

-- The error of a call.  If there is none, what the call did is taken back.
CREATE FUNCTION pg_temp.answer(call text, OUT code text, OUT message text, OUT detail text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE call;
	RAISE EXCEPTION 'no error' USING ERRCODE = 'ZZZZZ';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE,
		message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	code := NULLIF(code, 'ZZZZZ');
END
$$;

-- The same for a call with each of some values in the place of "?".
CREATE FUNCTION pg_temp.answers(call text, VARIADIC literals text[])
RETURNS TABLE (value text, code text, message text, detail text)
LANGUAGE sql AS $$
	SELECT CASE WHEN length(literal) < 60 THEN literal
			ELSE length(literal) - 2 || ' random characters' END,
		a.*
	FROM unnest(literals) WITH ORDINALITY AS u (literal, number),
		pg_temp.answer(replace(call, '?', literal)) a
	ORDER BY number
$$;

-- 255 and 256 bytes that cannot be compressed
SELECT quote_literal(left(string_agg(md5(i::text), '' ORDER BY i), 255)) AS longest,
	quote_literal(left(string_agg(md5(i::text), '' ORDER BY i), 256)) AS longer
FROM generate_series(1, 8) i \gset

\pset format unaligned
\pset footer off

--
-- Tokens and pools: 1 to 255 bytes
--

CREATE TEMP TABLE key_calls (call text);
INSERT INTO key_calls VALUES
	('SELECT hold_try(?, ''seats'')'),
	('SELECT hold_try(''t'', ?)'),
	('SELECT hold_try_lines(?, ARRAY[hold_line(''seats'')])'),
	('SELECT hold_try_lines(''t'', ARRAY[hold_line(''seats''), hold_line(?)])'),
	('SELECT hold_try_lines(''t'', hold_lines(ARRAY[''seats'', ?]))'),
	('SELECT hold_nights(?, ''[2031-05-01,2031-05-03)'')'),
	('SELECT hold_renew(?)'),
	('SELECT hold_consume(?)'),
	('SELECT hold_release(?)'),
	('SELECT hold_get(?)'),
	('SELECT hold_history(?)'),
	('SELECT hold_pool_history(?)'),
	('SELECT hold_available(?)'),
	('SELECT hold_available_many(ARRAY[''seats'', ?])'),
	('SELECT hold_count(?)'),
	('SELECT hold_pool_set(?, 1)'),
	('SELECT hold_pool_add(?, 1)'),
	('SELECT hold_pool_close(?)'),
	('SELECT hold_pool_open(?)'),
	('SELECT hold_pool_drop(?)');

SELECT call, code, message, detail FROM key_calls, pg_temp.answers(call, 'NULL');
SELECT call, code, message, detail FROM key_calls, pg_temp.answers(call, '''''');
SELECT call, code, message, detail FROM key_calls, pg_temp.answers(call, :'longer');

-- where a pool may be left out, NULL means that
SELECT * FROM pg_temp.answers('SELECT hold_consume(''t'', pool => ?)', 'NULL', '''''', :'longer');
SELECT * FROM pg_temp.answers('SELECT hold_release(''t'', pool => ?)', 'NULL', '''''', :'longer');

-- the longest can be used everywhere
BEGIN;
SELECT hold_pool_set(:longest, 1) IS NOT NULL AS made;
SELECT outcome, pool = :longest AS same FROM hold_try(:longest, :longest);
SELECT outcome, pool = :longest AS same FROM hold_consume(:longest, :longest);
SELECT event, token = :longest AS same FROM hold_history(:longest);
SELECT event, pool = :longest AS same FROM hold_pool_history(:longest);
ROLLBACK;

-- what is counted is bytes: 'é' has two
SELECT * FROM pg_temp.answers('SELECT count(*) FROM hold_get(repeat(E''\xc3\xa9'', ?))', '127', '128');

--
-- Quantities: finite, above 0, 12 digits before and 6 after the point
--

CREATE TEMP TABLE quantity_calls (call text);
INSERT INTO quantity_calls VALUES
	('SELECT hold_try(''t'', ''seats'', ?)'),
	('SELECT hold_try_lines(''t'', ARRAY[hold_line(''seats'', ?)])'),
	('SELECT hold_try_lines(''t'', hold_lines(''{seats}'', ARRAY[?]))'),
	('SELECT hold_try_lines(''t'', hold_nights(''n'', ''[2031-05-01,2031-05-02)'', ?, ''{1}''))'),
	('SELECT hold_consume(''t'', qty => ?)'),
	('SELECT hold_pool_set(''seats'', ?)'),
	('SELECT hold_pool_add(''seats'', ?)');

SELECT call, value, code, message FROM quantity_calls, pg_temp.answers(call,
	'''NaN''::numeric', '''Infinity''::numeric', '''-Infinity''::numeric', '1e400', '-1e400',
	'1000000000000', '4611686018427387904', '1e-30', '0.0000001', '-0.0000001', '1.1234567');
SELECT call, code, message FROM quantity_calls, pg_temp.answers(call, 'NULL::numeric')
WHERE call NOT LIKE '%hold_consume%';
SELECT call, code, message FROM quantity_calls, pg_temp.answers(call, '-1')
WHERE call NOT LIKE '%hold_pool_add%';
SELECT call, code, message FROM quantity_calls, pg_temp.answers(call, '0')
WHERE call LIKE '%hold_try%';

-- the limit is told in each case but NULL
SELECT DISTINCT detail FROM quantity_calls,
	pg_temp.answers(call, '-1000000000000', '''NaN''::numeric', '0.0000001');

-- budgets may be 0 or negative, but not out of range
CREATE TEMP TABLE budget_calls (call text);
INSERT INTO budget_calls VALUES
	('SELECT hold_try(''t'', ''seats'', budget => ?)'),
	('SELECT hold_try_lines(''t'', ARRAY[hold_line(''seats'', 1, ?)])'),
	('SELECT hold_try_lines(''t'', hold_lines(''{seats}'', NULL, ARRAY[?]))'),
	('SELECT hold_try_lines(''t'', hold_nights(''n'', ''[2031-05-01,2031-05-02)'', 1, ARRAY[?]))');
SELECT call, value, code, message FROM budget_calls, pg_temp.answers(call,
	'''NaN''::numeric', '''Infinity''::numeric', '''-Infinity''::numeric', '1e400', '1000000000000', '0.0000001');
SELECT call, value, code, message FROM budget_calls, pg_temp.answers(call, '0', '-5');

-- the largest and the smallest can be used
BEGIN;
SELECT hold_pool_set('large', 999999999999.999999) IS NOT NULL AS made;
SELECT outcome, qty, available FROM hold_try('t', 'large', 999999999999.999998);
SELECT outcome, qty, available FROM hold_try('u', 'large', 0.000001);
SELECT outcome, qty, consumed FROM hold_consume('t', qty => 999999999999.999999);
SELECT capacity, consumed, held, available FROM hold_pool_status WHERE pool = 'large';
ROLLBACK;

-- sums that pass the range are told, and wrap nowhere
SELECT * FROM pg_temp.answers('SELECT hold_try_lines(''t'', hold_lines(array_fill(''seats''::text, ARRAY[?]), array_fill(999999999999, ARRAY[?])))', '10');
SELECT outcome, available FROM hold_try_lines('t', hold_lines('{seats,seats}', '{999999999999,999999999999}'));
BEGIN;
SELECT hold_pool_set('large', 999999999999) IS NOT NULL AS made;
SAVEPOINT s;
SELECT hold_pool_add('large', 1);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO s;
SELECT hold_pool_add('large', 0.999999);
ROLLBACK;
SELECT * FROM pg_temp.answers('SELECT hold_pool_add(''seats'', ?)', '-10.000001', '999999999990');

--
-- Time to live: above 0, at most hold_ledger.max_ttl, no months
--

CREATE TEMP TABLE ttl_calls (call text);
INSERT INTO ttl_calls VALUES
	('SELECT hold_try(''t'', ''seats'', ttl => ?)'),
	('SELECT hold_try_lines(''t'', hold_lines(''{seats}''), ttl => ?)'),
	('SELECT hold_renew(''ann'', ttl => ?)');
SELECT call, value, code, message FROM ttl_calls, pg_temp.answers(call,
	'''0''', '''-1 second''', '''-1 microsecond''', '''1 day -24 hours''', '''1 day -25 hours''',
	'''7 days 0.000001 second''', '''8 days -24.000001 hours''', '''2147483647 days''', '''-2147483648 days''',
	'''2562047788 hours''', '''1 month''', '''1 year''', '''-1 month''', '''1 month -30 days''', '''178000000 years''');

SELECT DISTINCT code, message, detail FROM ttl_calls,
	pg_temp.answers(call, '''0''', '''8 days''', '''1 month''') ORDER BY message;

-- those that only some servers can make are refused as well
SELECT call, value, code IS NOT NULL AS refused FROM ttl_calls, pg_temp.answers(call,
	'''infinity''', '''-infinity''', 'make_interval(secs => 9e15)', 'make_interval(secs => -9e15)');

--
-- Flags and other scalars
--

SELECT * FROM pg_temp.answers('SELECT hold_try_lines(''t'', hold_lines(''{seats}''), replace => ?)', 'NULL');
SELECT * FROM pg_temp.answers('SELECT hold_consume(''ann'', final => ?)', 'NULL');
SELECT * FROM pg_temp.answers('SELECT hold_consume(''ann'', late => ?)', 'NULL');
SELECT * FROM pg_temp.answers('SELECT hold_consume(''ann'', qty => 1, final => false, ref => ?)', 'NULL');
SELECT * FROM pg_temp.answers('SELECT hold_pool_set(''seats'', 10, stripes => ?)', '-1', '65', '2147483647');
SELECT * FROM pg_temp.answers('SELECT hold_sweep(?)', 'NULL', '-1', '-2147483648', '0');
SELECT * FROM pg_temp.answers('CALL hold_sweep_all(?)', 'NULL', '-1');
SELECT * FROM pg_temp.answers('CALL hold_sweep_all(max_batches => ?)', 'NULL', '-1');
SELECT * FROM pg_temp.answers('SELECT hold_history(''t'', since => ?)', 'NULL');
SELECT * FROM pg_temp.answers('SELECT hold_pool_history(''seats'', since => ?)', 'NULL');
SELECT * FROM pg_temp.answers('SELECT hold_grant_access(?, ''app'')', 'NULL');
SELECT * FROM pg_temp.answers('SELECT hold_grant_access(''postgres'', ?)', 'NULL', '''''', '''App''', '''root''');

--
-- Arrays
--

SELECT * FROM pg_temp.answers('SELECT hold_try_lines(''t'', ?)',
	'NULL', '''{}''', 'ARRAY[NULL]::hold_line[]', 'ARRAY[hold_line(''seats''), NULL]',
	'ARRAY[[hold_line(''seats'')], [hold_line(''seats'')]]', '''{"(,1,)"}''', '''{"(seats,,)"}''', '''{"(,,)"}''');
SELECT * FROM pg_temp.answers('SELECT hold_lines(?)',
	'NULL', '''{a,NULL}''', '''{{a},{b}}''', '''{}''');
SELECT * FROM pg_temp.answers('SELECT hold_lines(''{a,b}'', ?)',
	'NULL', '''{1,NULL}''', '''{{1},{2}}''', '''{}''', '''{1}''', '''{1,2,3}''');
SELECT * FROM pg_temp.answers('SELECT hold_lines(''{a,b}'', NULL, ?)',
	'NULL', '''{1,NULL}''', '''{{1},{2}}''', '''{}''', '''{1}''', '''{1,2,3}''');
SELECT * FROM pg_temp.answers('SELECT hold_nights(''n'', ''[2031-05-01,2031-05-03)'', 1, ?)',
	'NULL', '''{1,NULL}''', '''{{1},{2}}''', '''{}''', '''{1}''', '''{1,2,3}''');
SELECT * FROM pg_temp.answers('SELECT hold_available_many(?)',
	'NULL', '''{seats,NULL}''', '''{{seats},{seats}}''', '''{}''');

-- no more lines than hold_ledger.max_lines, and no long wait before that is said
SET statement_timeout = '5s';
SELECT * FROM pg_temp.answers('SELECT count(*) FROM hold_try_lines(''t'', array_fill(hold_line(''seats''), ARRAY[?]))', '1000', '1001', '100000');
SELECT * FROM pg_temp.answers('SELECT hold_lines(array_fill(''seats''::text, ARRAY[?]))', '1001');
RESET statement_timeout;

-- where an array begins makes no difference
BEGIN;
SELECT line, pool, outcome, qty FROM hold_try_lines('t', hold_lines('[0:1]={seats,seats}', '[7:8]={1,2}', '[-1:0]={9,9}'));
SELECT line, pool, outcome, qty FROM hold_try_lines('t', '[0:0]={"(seats,3,)"}');
SELECT pool, available FROM hold_available_many('[0:1]={seats,nowhere}');
ROLLBACK;

--
-- Stays
--

SELECT * FROM pg_temp.answers('SELECT hold_nights(''n'', ?)',
	'NULL', '''empty''', '''[2031-01-01,2031-01-01)''', '''[2031-01-01,)''', '''(,2031-01-01]''', '''(,)''',
	'''[2031-01-01,infinity)''', '''[-infinity,2031-01-01)''', '''[2031-01-01,2032-01-03)''', '''[2031-01-01,2531-01-01)''');

--
-- In full, one of a kind
--

\pset format aligned
SELECT hold_try(NULL, 'seats');
SELECT hold_try('', 'seats');
SELECT hold_try('t', :longer);
SELECT hold_try('t', 'seats', 'NaN');
SELECT hold_try('t', 'seats', 1e12);
SELECT hold_try('t', 'seats', 1.0000001);
SELECT hold_try('t', 'seats', -1);
SELECT hold_try('t', 'seats', ttl => '1 month');
SELECT hold_try('t', 'seats', ttl => '8 days');
SELECT hold_try('t', 'seats', ttl => '0');
SELECT hold_consume('ann', qty => 1, final => false);
SELECT hold_lines('{a,b}', '{1}');
SELECT hold_try_lines('t', '{}');
SELECT hold_try_lines('t', array_fill(hold_line('seats'), ARRAY[1001]));
SELECT hold_nights('n', '[2031-01-01,)');
SELECT hold_nights('n', '[2031-01-01,2032-01-03)');

--
-- Nothing has changed
--

SELECT * FROM before EXCEPT SELECT * FROM hold_entries;
SELECT * FROM hold_entries EXCEPT SELECT * FROM before;
SELECT pool, capacity, consumed, held, available, holds FROM hold_pool_status;
SELECT pg_backend_pid() = :backend AS backend_is_alive;
SELECT regress_ok();
