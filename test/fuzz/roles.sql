-- Who calls, beside the superuser; each database grants them their levels.

CREATE ROLE fuzz_app LOGIN;
CREATE ROLE fuzz_monitor LOGIN;
CREATE ROLE fuzz_operator LOGIN;
CREATE ROLE fuzz_nobody LOGIN;
