"""What is wrong on purpose: a function more, the fault it has, and its SQL.

Each misbehaves only for values that are seldom drawn, and is otherwise like the
extension's own.
"""


def function(body, condition, volatile="VOLATILE"):
    return f"""
CREATE FUNCTION wrong.verb(token text, qty numeric DEFAULT 1, ref text DEFAULT NULL)
RETURNS public.hold_grant LANGUAGE plpgsql {volatile} SECURITY DEFINER AS $verb$
DECLARE answer public.hold_grant;
BEGIN
	IF {condition} THEN {body} END IF;
	answer.outcome := 'insufficient';
	RETURN answer;
END $verb$;
"""


CHANGE = "UPDATE public.hold_pools SET consumed = consumed + 1 WHERE pool = 'a';"


MUTANTS = [
    ("an internal error for NaN", "SQLSTATE XX000", function(
        "RAISE SQLSTATE 'XX000' USING MESSAGE = 'cannot happen';", "qty = 'NaN'")),
    ("a call that never ends", "it does not end", function(
        "LOOP END LOOP;", "token = ''")),
    ("a session that is ended", "the connection was lost", function(
        "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1);", "length(ref) = 255")),
    ("a crash", "the connection was lost", function(
        "EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'kill -SEGV ' || pg_backend_pid());",
        "length(token) > 8000")),
    ("a leak", "something leaked", function(
        "RAISE WARNING 'buffer refcount leak: [1]';", "qty < 0")),
    ("a refusal that takes units", "a refusal changed something", function(
        CHANGE, "qty = 0")),
    ("a reader that writes", "what only reads changed something", function(
        "PERFORM fuzz.change();", "ref = 'r'", "STABLE") + f"""
CREATE FUNCTION fuzz.change() RETURNS void LANGUAGE sql AS $$ {CHANGE} $$;
"""),
    ("an error that leaves a change", "an error changed something", """
CREATE PROCEDURE wrong.verb(token text, qty numeric) LANGUAGE plpgsql AS $$ BEGIN
	IF token IS NULL THEN
		UPDATE public.hold_pools SET consumed = 9 WHERE pool = 'a';
		COMMIT;
		RAISE EXCEPTION 'token must not be null';
	END IF;
END $$;
"""),
    ("a hold that is not counted", "hold_verify() finds something", """
CREATE FUNCTION wrong.verb(token text, qty numeric) RETURNS void LANGUAGE sql SECURITY DEFINER
AS $$ UPDATE public.hold_pools SET held = held + 1 WHERE qty = 'Infinity' AND pool = 'b' $$;
"""),
    ("more than there is", "more than there is", """
CREATE FUNCTION wrong.verb(token text, qty numeric) RETURNS void LANGUAGE sql SECURITY DEFINER
AS $$ UPDATE public.hold_pools SET consumed = capacity + 1 WHERE qty < 0 AND pool = 'most' $$;
"""),
]
