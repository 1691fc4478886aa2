-- The tables of the report, in Markdown.  The runs come on standard input.
CREATE TEMP TABLE runs (round int, workload text, commit text, clients int, variant text,
	tps float8, transactions float8, cpu float8, wal float8, rows float8, ledger_rows float8, deadlocks int);
\copy runs FROM pstdin CSV

-- A ratio compares within a round, as machines drift.
CREATE TEMP TABLE cells AS
SELECT workload, commit, clients, r.variant,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY r.tps) AS tps,
	   min(r.tps) AS slowest, max(r.tps) AS fastest,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY ours.tps / r.tps) AS ratio,
	   min(ours.tps / r.tps) AS lowest, max(ours.tps / r.tps) AS highest,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY r.cpu / r.transactions) * 1e6 AS cpu,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY r.wal / r.transactions) AS wal,
	   sum(r.rows) / sum(r.transactions) AS rows,
	   sum(r.ledger_rows) / sum(r.transactions) AS ledger_rows,
	   sum(r.deadlocks) AS deadlocks
  FROM runs r
  LEFT JOIN (SELECT * FROM runs WHERE variant = 'hold_ledger') ours
	   USING (round, workload, commit, clients)
 GROUP BY workload, commit, clients, r.variant;

\echo
\echo '## Results'
\echo
\echo 'A transaction is one run of the script. Rate is in transactions per second: median, lowest and highest round.'
\echo 'Ratio is the rate of hold_ledger over that of the line, taken in each round: median, lowest and highest.'
\echo 'CPU is microseconds of the backends, WAL bytes, rows those written in tables, each for one transaction.'
\echo 'Deadlocks are those of all rounds; such a transaction does not count as done.'
\echo
\echo '| workload | commit | clients | variant | rate | lowest - highest | ratio | lowest - highest | CPU | WAL | rows | of them ledger | deadlocks |'
\echo '| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s | %s - %s | %s | %s | %s | %s | %s | %s | %s |',
			  workload, commit, clients, variant, round(tps), round(slowest), round(fastest),
			  to_char(ratio, 'FM99990.00'), to_char(lowest, 'FM99990.00 - ') || to_char(highest, 'FM99990.00'),
			  to_char(cpu, 'FM9990.0'), round(wal), to_char(rows, 'FM990.00'), to_char(ledger_rows, 'FM990.00'), deadlocks)
  FROM cells
 ORDER BY workload, commit, clients, variant <> 'hold_ledger', variant;

\echo
\echo '## Targets'
\echo
\echo '| what | target | measured |'
\echo '| --- | ---: | ---: |'
WITH targets (what, workload, commit, clients, variant, at_least, wal_at_most, deadlocks_at_most) AS (VALUES
	('grants, hold_ledger / plpgsql', 'W1', 'off', 8, 'plpgsql', 1.8, NULL, NULL),
	('grants, hold_ledger / statement', 'W1', 'off', 8, 'statement', 1.2, NULL, NULL),
	('refusals, hold_ledger / plpgsql', 'W3', 'on', 8, 'plpgsql', 10, NULL, NULL),
	('refusals, WAL bytes of hold_ledger', 'W3', 'on', 8, 'hold_ledger', NULL, 0, NULL),
	('stays, hold_ledger / insert', 'W11', 'on', 16, 'insert', 20, NULL, NULL),
	('stays, hold_ledger / insert', 'W11', 'off', 16, 'insert', 20, NULL, NULL),
	('stays, hold_ledger / room_lock', 'W11', 'on', 16, 'room_lock', 1, NULL, NULL),
	('stays, hold_ledger / room_lock', 'W11', 'off', 16, 'room_lock', 1, NULL, NULL),
	('stays, hold_ledger / room_lock', 'W12', 'on', 16, 'room_lock', 1, NULL, NULL),
	('stays, hold_ledger / room_lock', 'W12', 'off', 16, 'room_lock', 1, NULL, NULL),
	('stays, deadlocks of hold_ledger', 'W11', 'on', 16, 'hold_ledger', NULL, NULL, 0),
	('stays, deadlocks of hold_ledger', 'W11', 'off', 16, 'hold_ledger', NULL, NULL, 0),
	('stays, deadlocks of hold_ledger', 'W12', 'on', 16, 'hold_ledger', NULL, NULL, 0),
	('stays, deadlocks of hold_ledger', 'W12', 'off', 16, 'hold_ledger', NULL, NULL, 0),
	('stays, 10,000 past stays / 10', 'W13', 'off', 1, 'hold_ledger-10', 0.9, NULL, NULL))
SELECT format('| %s (%s, commit %s, %s clients) | %s | %s |', what, workload, commit, clients,
			  coalesce('>= ' || at_least, wal_at_most::text, deadlocks_at_most::text),
			  CASE WHEN at_least IS NOT NULL THEN to_char(ratio, 'FM99990.00')
				   WHEN wal_at_most IS NOT NULL THEN round(wal)::text
				   ELSE deadlocks::text END)
  FROM targets JOIN cells USING (workload, commit, clients, variant)
 WHERE ratio IS NOT NULL;
