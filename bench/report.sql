-- The tables of the report, in Markdown, and the data of its plots.
\set runs :work '/runs.csv'
\set own :work '/own.csv'
\set plots :work '/plots.tsv'
CREATE TEMP TABLE runs (round int, workload text, commit text, clients int, variant text,
	tps float8, transactions float8, cpu float8, wal float8, rows float8, ledger_rows float8, deadlocks int);
CREATE TEMP TABLE own (round int, workload text, variant text, what text, unit text, value float8,
	line int GENERATED ALWAYS AS IDENTITY);
COPY runs FROM :'runs' CSV;
COPY own (round, workload, variant, what, unit, value) FROM :'own' CSV;

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

-- What the workloads with scripts of their own measured.  Where less is better,
-- the ratio is turned round.
CREATE TEMP TABLE own_cells AS
SELECT workload, what, unit, r.variant, min(r.line) AS line,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY r.value) AS value,
	   min(r.value) AS least, max(r.value) AS most,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) AS ratio,
	   min(ratio) AS lowest, max(ratio) AS highest
  FROM (SELECT r.*, CASE WHEN unit LIKE '%/s' THEN ours.value / r.value ELSE r.value / ours.value END AS ratio
		  FROM own r
		  LEFT JOIN (SELECT round, workload, what, unit, nullif(value, 0) AS value FROM own
					  WHERE variant = 'hold_ledger') ours
			   USING (round, workload, what, unit)) r
 GROUP BY workload, what, unit, r.variant;

SELECT count(*) > 0 AS any_own FROM own \gset
\if :any_own
\echo
\echo 'These have scripts of their own. Ratio is how many times better hold_ledger is, be it more per second or less time.'
\echo
\echo '| workload | what | variant | value | lowest - highest | unit | ratio | lowest - highest |'
\echo '| --- | --- | --- | ---: | ---: | --- | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s - %s | %s | %s | %s |', workload, what, variant,
			  round(value), round(least), round(most), unit,
			  to_char(ratio, 'FM99990.00'), to_char(lowest, 'FM99990.00 - ') || to_char(highest, 'FM99990.00'))
  FROM own_cells
 ORDER BY workload, min(line) OVER (PARTITION BY workload, what), variant <> 'hold_ledger', variant;
\endif

-- for lib/report.sh: workload, variant, place and name of the bars, median, lowest, highest
COPY (
	SELECT workload, variant,
		   dense_rank() OVER (PARTITION BY workload ORDER BY commit DESC, clients),
		   format('%s clients, commit %s', clients, commit), tps, slowest, fastest
	  FROM cells
	UNION ALL
	SELECT workload, variant,
		   dense_rank() OVER (PARTITION BY workload ORDER BY place),
		   format('%s, %s', what, unit), value, least, most
	  FROM (SELECT *, min(line) OVER (PARTITION BY workload, what) AS place FROM own_cells) o
	ORDER BY 1, 2, 3) TO :'plots';

CREATE TEMP TABLE targets (what, workload, commit, clients, variant, at_least, wal_at_most, deadlocks_at_most) AS VALUES
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
	('stays, 10,000 past stays / 10', 'W13', 'off', 1, 'hold_ledger-10', 0.9, NULL, NULL);

SELECT count(*) > 0 AS any_target
  FROM targets JOIN cells USING (workload, commit, clients, variant) WHERE ratio IS NOT NULL
\gset
\if :any_target
\echo
\echo '## Targets'
\echo
\echo '| what | target | measured |'
\echo '| --- | ---: | ---: |'
SELECT format('| %s (%s, commit %s, %s clients) | %s | %s |', what, workload, commit, clients,
			  coalesce('>= ' || at_least, wal_at_most::text, deadlocks_at_most::text),
			  CASE WHEN at_least IS NOT NULL THEN to_char(ratio, 'FM99990.00')
				   WHEN wal_at_most IS NOT NULL THEN round(wal)::text
				   ELSE deadlocks::text END)
  FROM targets JOIN cells USING (workload, commit, clients, variant)
 WHERE ratio IS NOT NULL;
\endif
