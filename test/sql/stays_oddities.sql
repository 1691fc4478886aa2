-- Ranges, dates, zones, rooms and arrays that are legal to the types and odd to
-- a hotel: nights are calendar dates, and nothing loops or is let in.

SET hold_ledger.tenant = 'stays oddities';
SET DateStyle = ISO;
SET statement_timeout = '5 s';

CREATE TEMP VIEW rooms AS
SELECT room_id, stay, upper(stay) - lower(stay) AS nights, token, reservation_id
FROM room_stays WHERE tenant = hold_tenant() ORDER BY room_id, stay;

-- what each way in says to a range: its SQLSTATE, or "let in"
CREATE FUNCTION ways(odd daterange) RETURNS TABLE (way text, answer text)
LANGUAGE plpgsql AS $$
DECLARE
	id CONSTANT bigint := (SELECT stay_id FROM room_stays
		WHERE tenant = hold_tenant() AND reservation_id = 1);
BEGIN
	FOR way, answer IN VALUES
		('try', 'SELECT hold_try_stay(''odd'', 1, $1)'),
		('try several', 'SELECT hold_try_stays(''odd'', ARRAY[1, 2], $1)'),
		('release', 'SELECT hold_release_stay(''odd'', 1, $1)'),
		('move', 'SELECT hold_move_stay($2, stay => $1)'),
		('insert', 'INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (1, 2, $1)')
	LOOP
		BEGIN
			EXECUTE answer USING odd, id;
			answer := 'let in';
		EXCEPTION WHEN OTHERS THEN
			answer := SQLSTATE || ' ' || SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
END $$;

INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (9, 1, '[2031-01-01,2031-01-03)');

--
-- Ranges
--

SELECT * FROM ways('empty');
SELECT * FROM ways('[2031-01-01,2031-01-01)');
SELECT * FROM ways('(2031-01-01,2031-01-02)');
SELECT * FROM ways('[2031-01-01,)');
SELECT * FROM ways('(,2031-01-01]');
SELECT * FROM ways('(,)');
SELECT * FROM ways(daterange('2031-01-01', 'infinity'));
SELECT * FROM ways(daterange('2031-01-01', 'infinity', '[]'));
SELECT * FROM ways(daterange('-infinity', '2031-01-01'));
SELECT * FROM ways(daterange('-infinity', 'infinity'));
SELECT * FROM ways(daterange('infinity', NULL));
SELECT * FROM ways('[2031-01-01,2531-01-01)');
SELECT * FROM ways('[4713-01-01 BC,5874897-12-31)');
-- NULL: only where it has a meaning
SELECT * FROM ways(NULL) WHERE way NOT IN ('release', 'move');
SELECT * FROM rooms;

-- the table refuses what the functions do, also of a dump
\set VERBOSITY terse
INSERT INTO room_stays (stay_id, tenant, room_id, reservation_id, stay, held_since, version)
VALUES (-1, 'stays oddities', 1, 1, 'empty', now(), 1);
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (stay_id, tenant, room_id, reservation_id, stay, held_since, version)
VALUES (-1, 'stays oddities', 1, 1, '[2031-01-01,infinity)', now(), 1);
\echo :LAST_ERROR_SQLSTATE

\set VERBOSITY default

-- the same message as everybody's, with a hint
SELECT * FROM hold_try_stay('odd', 1, 'empty');
SELECT * FROM hold_try_stay('odd', 1, NULL);
SELECT * FROM hold_try_stay('odd', 1, '[2031-01-01,)');
SELECT * FROM hold_try_stay('odd', 1, daterange('2031-01-01', 'infinity'));

-- the most nights
SELECT outcome FROM hold_try_stay('most', 1, '[2031-01-01,2032-01-02)');
SELECT * FROM hold_try_stay('most', 1, '[2031-01-01,2032-01-03)');
SELECT * FROM rooms WHERE room_id = 1;
SET hold_ledger.max_nights = 2;
SELECT outcome FROM hold_try_stay('two', 2, '[2031-01-01,2031-01-03)');
SELECT outcome FROM hold_try_stay('two', 2, '[2031-01-01,2031-01-03]');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (3, 1, '[2031-01-01,2031-01-04)');
\echo :LAST_ERROR_SQLSTATE
-- what is there already can be settled
SELECT outcome, consumed FROM hold_consume('most', reservation_id => 5);
SELECT outcome, refunded FROM hold_return('most');
RESET hold_ledger.max_nights;
SELECT outcome, taken[1], array_length(taken, 1) FROM hold_try_stay('odd', 2, '[2030-06-01,2031-06-01)');

-- bounds of every kind, in canonical form
SELECT n, outcome, stay
FROM unnest(ARRAY['[2031-02-01,2031-02-03]', '(2031-02-01,2031-02-03)', '(2031-02-01,2031-02-03]',
	'[2031-02-01,2031-02-03)', '[2031-02-01,2031-02-01]']::daterange[]) WITH ORDINALITY b (bounds, n),
	hold_try_stay('b', 10 + n, bounds);
SELECT stay, nights FROM rooms WHERE room_id BETWEEN 11 AND 15;
SELECT outcome, taken FROM hold_try_stay('c', 12, '[2031-02-01,2031-02-02)');
SELECT outcome, taken FROM hold_try_stay('c', 12, '(2031-02-01,2031-02-02]');
SELECT regress_ok();

-- far away
SELECT outcome, stay, taken FROM hold_try_stay('bc', 20, '[0044-03-14 BC,0044-03-16 BC)');
SELECT outcome, stay, taken FROM hold_try_stay('bd', 20, '[0044-03-15 BC,0044-03-18 BC)');
SELECT outcome, stay, taken FROM hold_try_stay('bd', 20, '[0001-12-31 BC,0001-01-02)');
SELECT outcome, stay, taken FROM hold_try_stay('be', 20, '[10000-02-28,10000-03-02)');
SELECT outcome, stay, taken FROM hold_try_stay('bf', 20, '[5874897-12-29,5874897-12-31)');
SELECT outcome, stay, taken FROM hold_try_stay('bg', 20, '[4714-11-24 BC,4714-11-25 BC)');
SELECT * FROM rooms WHERE room_id = 20;
SELECT stay, qty FROM hold_entries WHERE room_id = 20 AND event = 'granted' ORDER BY seq;
SELECT hold_release_stay('be', 20, '[10000-02-29,10000-03-01)');
SELECT stay FROM rooms WHERE token = 'be';
SELECT outcome, consumed FROM hold_consume('bf', reservation_id => 2);
SELECT outcome, stay FROM hold_move_stay((SELECT stay_id FROM room_stays
	WHERE tenant = hold_tenant() AND token = 'bf'), stay => '[0005-02-29 BC,0005-03-01 BC)');
SELECT regress_ok();

--
-- Time zones and DateStyle
--

-- a spring night, an autumn night and a day that Apia never had: as many nights
-- in every zone, and the same ones
CREATE TEMP TABLE zones (n int, zone text);
INSERT INTO zones VALUES (1, 'UTC'), (2, 'Europe/Berlin'), (3, 'America/Santiago'),
	(4, 'Asia/Hong_Kong'), (5, 'Pacific/Apia');
CREATE PROCEDURE hold_everywhere() LANGUAGE plpgsql AS $$
DECLARE
	zone record;
BEGIN
	FOR zone IN SELECT * FROM zones LOOP
		PERFORM set_config('TimeZone', zone.zone, false);
		PERFORM hold_try_stay('spring', 100 + zone.n, '[2031-03-29,2031-04-01)', '1 day'),
			hold_try_stay('autumn', 100 + zone.n, '[2031-10-25,2031-10-28)', '1 day'),
			hold_try_stay('apia', 100 + zone.n, '[2011-12-29,2012-01-01)', '1 day'),
			hold_try_stay('santiago', 100 + zone.n, '[2031-09-06,2031-09-08)', '1 day');
	END LOOP;
	RESET TimeZone;
END $$;
CALL hold_everywhere();
SELECT token, stay, nights, count(*) FROM rooms WHERE room_id > 100
GROUP BY token, stay, nights ORDER BY stay;
-- '1 day' is 24 hours
SELECT DISTINCT extract(epoch FROM expires_at - held_since) / 3600 = 24 AS a_day
FROM room_stays WHERE tenant = hold_tenant() AND room_id > 100;

-- one session holds in one zone, another sees the same nights in another
SET TimeZone = 'Pacific/Apia';
SELECT outcome, taken FROM hold_try_stay('other', 104, '[2011-12-28,2012-01-03)');
SET TimeZone = 'America/Santiago';
SELECT outcome, taken FROM hold_try_stay('other', 105, '[2031-03-25,2031-03-31)');
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (105, 1, '[2031-03-31,2031-04-01)');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO room_stays (room_id, reservation_id, stay) VALUES (105, 1, '[2031-04-01,2031-04-02)');
SET TimeZone = 'Asia/Hong_Kong';
SELECT hold_release_stay('spring', 105, '[2031-03-30,2031-03-31)');
RESET TimeZone;
SELECT stay FROM rooms WHERE room_id = 105 AND lower(stay) > '2031-03-01' AND lower(stay) < '2031-06-01';

-- the style changes how nights are written, not which they are
SET DateStyle = 'SQL, DMY';
SELECT outcome, stay, taken FROM hold_try_stay('other', 102, '[29/03/2031,02/04/2031)');
SET DateStyle = 'German';
SELECT outcome, stay FROM hold_try_stay('other', 102, '[01.04.2031,03.04.2031)');
SET DateStyle = ISO;
SELECT stay FROM rooms WHERE token = 'other';
SELECT regress_ok();

--
-- Rooms
--

SELECT outcome, room_id FROM unnest(ARRAY[-1, 0, 9223372036854775807, -9223372036854775808]) room,
	hold_try_stay('far', room, '[2031-01-01,2031-01-03)');
SELECT outcome, room_id, taken
FROM hold_try_stays('near', ARRAY[9223372036854775807, 0, -9223372036854775808], '[2031-01-02,2031-01-03)')
ORDER BY room_id;
SELECT outcome, room_id FROM hold_consume('far', reservation_id => -9223372036854775808) ORDER BY room_id;
SELECT outcome, room_id, reservation_id FROM hold_consume('far', reservation_id => 0) ORDER BY room_id;
INSERT INTO room_stays (room_id, reservation_id, stay)
VALUES (-9223372036854775808, 9223372036854775807, '[2031-01-03,2031-01-04)'), (0, 0, '[2031-01-03,2031-01-04)');
SELECT * FROM rooms WHERE room_id IN (-1, 0, 9223372036854775807, -9223372036854775808);
SELECT hold_try_stay('far', 9223372036854775808, '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stay('far', NULL, '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stay(NULL, 1, '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stay('', 1, '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stay(repeat('x', 256), 1, '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stay('far', 30, '[2031-01-01,2031-01-03)', '1 month');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stay('far', 30, '[2031-01-01,2031-01-03)', '0');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stay('far', 30, '[2031-01-01,2031-01-03)', '8 days');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_release_stay(NULL, 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hold_release_stay('far', NULL);
\echo :LAST_ERROR_SQLSTATE

--
-- Arrays of rooms
--

SELECT hold_try_stays('arr', NULL, '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stays('arr', '{}', '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stays('arr', '{40,NULL}', '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
-- no room twice
SELECT hold_try_stays('arr', '{41,40,41}', '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SELECT hold_try_stays('arr', '{{40,41},{42,43}}', '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
SET hold_ledger.max_lines = 2;
SELECT hold_try_stays('arr', '{40,41,42}', '[2031-01-01,2031-01-03)');
\echo :LAST_ERROR_SQLSTATE
RESET hold_ledger.max_lines;
SELECT count(*) FROM hold_get('arr');
SELECT outcome, room_id FROM hold_try_stays('arr', '[0:1]={41,40}', '[2031-01-01,2031-01-03)') ORDER BY room_id;
SELECT count(*), count(DISTINCT outcome)
FROM hold_try_stays('many', ARRAY(SELECT generate_series(1000, 1, -1)) , '[2035-01-01,2035-01-03)');
SELECT count(*), sum(refunded) FROM hold_release('many');

-- nothing odd has come in
SELECT count(*) FROM room_stays WHERE tenant = hold_tenant()
	AND (isempty(stay) OR NOT isfinite(lower(stay)) OR NOT isfinite(upper(stay)));
SELECT regress_ok();

DROP FUNCTION ways;
DROP PROCEDURE hold_everywhere;
