-- Names of tokens, pools and refs: compared byte by byte, given back unchanged.

SET hold_ledger.tenant = 'keys';

-- names that are easily confused; each is given as bytes, so that this file
-- works in every encoding
CREATE TEMP TABLE names (number integer, what text, name text);
INSERT INTO names VALUES
	(1, 'lower case', 'abc'),
	(2, 'upper case', 'ABC'),
	(3, 'mixed case', 'Abc'),
	(4, 'space after', 'abc '),
	(5, 'space before', ' abc'),
	(6, 'two spaces after', 'abc  '),
	(7, 'a space', ' '),
	(8, 'comma', 'a,bc'),
	(9, 'double quote', 'a"bc'),
	(10, 'single quote', 'a''bc'),
	(11, 'backslash', E'a\\bc'),
	(12, 'newline', E'a\nbc'),
	(13, 'tab', E'a\tbc'),
	(14, 'braces', '{abc}'),
	(15, 'parentheses', '(abc,1,)'),
	(16, 'NULL', 'NULL'),
	(17, 'percent', 'a%c'),
	(18, 'underscore', 'a_c'),
	(19, 'semicolon', 'abc;--'),
	(20, 'e acute, composed', E'\xc3\xa9'),
	(21, 'e acute, decomposed', E'e\xcc\x81'),
	(22, 'sharp s', E'stra\xc3\x9fe'),
	(23, 'ss', 'strasse'),
	(24, 'dotless i', E'\xc4\xb1'),
	(25, 'emoji', E'\xf0\x9f\x8e\x9f'),
	(26, 'right-to-left override', E'\xe2\x80\xaeabc'),
	(27, 'zero width joiner', E'a\xe2\x80\x8dbc'),
	(28, 'control character', E'abc\x01'),
	(29, 'the longest', repeat('x', 255)),
	(30, 'one shorter', repeat('x', 254));

-- as pools: each is a pool of its own
SELECT count(DISTINCT hold_pool_set(name, number)) AS pools FROM names;
SELECT count(*) FILTER (WHERE hold_available(name) = number) AS right_one FROM names;
SELECT count(*) AS same FROM names JOIN hold_pool_status s ON s.pool = name COLLATE "C" AND s.capacity = number;
SELECT count(*) AS same FROM hold_available_many(ARRAY(SELECT name FROM names ORDER BY number)) WITH ORDINALITY a
	JOIN names n ON n.number = a.ordinality AND n.name = a.pool AND n.number = a.available;

-- as tokens: each has a hold of its own
SELECT hold_pool_set('tokens', 1000) IS NOT NULL AS made;
SELECT outcome, count(*) FROM names, hold_try(name, 'tokens', number) GROUP BY outcome;
SELECT count(*) AS same FROM names JOIN live_holds h ON h.token = name COLLATE "C" AND h.qty = number;
SELECT outcome, count(*) FROM names, hold_try(name, 'tokens', number) GROUP BY outcome;
SELECT count(*) AS same FROM names, hold_get(name) g WHERE g.qty = number;
SELECT outcome, count(*) FROM names, hold_consume(name) WHERE consumed = number GROUP BY outcome;
SELECT count(*) AS same FROM hold_entries e JOIN names ON e.token = name COLLATE "C" AND e.qty = number
WHERE event = 'consumed';
SELECT count(*) AS same FROM names, hold_history(name) h WHERE h.token = name AND h.event = 'granted';

-- as lines, through arrays
SELECT count(*) AS same
FROM hold_try_lines('lines', hold_lines(ARRAY(SELECT name FROM names ORDER BY number), ARRAY(SELECT number FROM names ORDER BY number))) l
	JOIN names n ON n.number = l.line AND n.name = l.pool AND n.number = l.qty
WHERE l.outcome = 'granted';
SELECT count(*) AS same FROM hold_release('lines') r JOIN names ON r.pool = name COLLATE "C" AND r.qty = number;

-- as refs, of captures and of capacity
SELECT outcome FROM hold_try('refs', 'tokens', 100);
SELECT outcome, count(*) FROM names, hold_consume('refs', qty => 1, final => false, ref => name) GROUP BY outcome;
SELECT outcome, count(*) FROM names, hold_consume('refs', qty => 1, final => false, ref => name) GROUP BY outcome;
SELECT count(*) AS same FROM hold_history('refs') h JOIN names ON h.ref = name COLLATE "C";
SELECT max(hold_pool_add('tokens', 1, name)) FROM names;
SELECT max(hold_pool_add('tokens', 1, name)) FROM names;

-- an empty ref is one too
SELECT hold_pool_add('tokens', 1, '');
SELECT hold_pool_add('tokens', 1, '');

-- as prefixes of nights
SELECT count(*) AS same FROM names, unnest(hold_nights(name, '[2031-05-01,2031-05-02)')) l
WHERE l.pool = name || ':2031-05-01';

-- pools are sorted byte by byte
SELECT pool FROM hold_pool_status WHERE pool >= 'A' AND pool < 'b' AND pool ~ '^[A-Za-z]*$' ORDER BY pool;

-- a payload is kept as it is
SELECT outcome FROM hold_try('payload', 'tokens', 1, payload => '{"b": [1, null, "x\"y"], "a": {"deep": 1.10}}');
SELECT payload FROM hold_get('payload');
SELECT payload FROM live_holds WHERE token = 'payload';
SELECT payload FROM hold_release('payload');
SELECT outcome FROM hold_try('null payload', 'tokens', 1, payload => 'null');
SELECT payload, payload IS NULL AS none FROM hold_get('null payload');

SELECT regress_ok();
