"""Do exporter and Prometheus answer what the dashboard and the alerts ask?"""

import json
import os
import re
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import psycopg

HERE = Path(__file__).parent
DASHBOARD = json.loads((HERE / "dashboard.json").read_text())


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(name, *arguments, **environment):
    """A program, whose output is kept beside it."""
    with open(HERE / f"{name}.log", "w") as log:
        return subprocess.Popen([name, *arguments], env=os.environ | environment,
                                stdout=log, stderr=log)


def start_exporter(port):
    dsn = f"host={os.environ['PGHOST']} user=prometheus dbname=postgres sslmode=disable"
    return start("prometheus-postgres-exporter", f"--web.listen-address=127.0.0.1:{port}",
                 "--extend.query-path=queries.yaml", "--disable-default-metrics",
                 "--disable-settings-metrics", DATA_SOURCE_NAME=dsn)


def start_prometheus(port, exporter_port):
    """With the example's configuration, but for the port and the interval."""
    config = (HERE / "prometheus.yml").read_text()
    (HERE / "test.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        + config.replace("127.0.0.1:9187", f"127.0.0.1:{exporter_port}"))
    return start("prometheus", f"--web.listen-address=127.0.0.1:{port}",
                 "--config.file=test.yml", "--storage.tsdb.path=prometheus-data")


def work(connection):
    """Some of everything that is counted."""
    run = connection.execute
    for number in range(30):
        run("SELECT hold_try(%s, 'show:1')", [f"ann:{number}"])
        run("SELECT hold_try(%s, 'sku:7', 2, '50 ms')", [f"bob:{number}"])
    run("SELECT hold_try('ann:0', 'show:1', 2), hold_try('ann:1', 'show:1')")
    run("SELECT hold_consume('ann:2'), hold_try('ann:2', 'show:1'), hold_release('ann:3')")
    run("SELECT hold_return('ann:2'), hold_try('all', 'show:2', 5)")
    time.sleep(0.1)
    # a call that needs the room settles some itself, the sweep the rest
    run("SELECT hold_try('most', 'sku:7', 60)")
    run("SELECT hold_sweep()")


class Monitoring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.database = psycopg.connect(autocommit=True)
        exporter_port, cls.port = free_port(), free_port()
        cls.exporter_url = f"http://127.0.0.1:{exporter_port}/metrics"
        cls.exporter = start_exporter(exporter_port)
        cls.addClassCleanup(cls.exporter.kill)
        cls.prometheus = start_prometheus(cls.port, exporter_port)
        cls.addClassCleanup(cls.prometheus.kill)
        cls.until(lambda: cls.value("hold_ledger_granted_total"))
        for _ in range(3):  # rates need samples before and after
            work(cls.database)
            time.sleep(1.5)

    @classmethod
    def until(cls, condition, seconds=60):
        """Waits until it holds, and returns what it says."""
        end = time.monotonic() + seconds
        while True:
            try:
                if found := condition():
                    return found
            except (urllib.error.URLError, ConnectionError):
                pass
            if time.monotonic() > end:
                raise AssertionError("it has not become true")
            time.sleep(0.2)

    @classmethod
    def api(cls, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"http://127.0.0.1:{cls.port}/api/v1/{path}?{query}") as reply:
            return json.load(reply)["data"]

    @classmethod
    def value(cls, expression):
        """What Prometheus says: a list of series."""
        return cls.api("query", query=expression)["result"]

    def test_every_panel_has_an_answer(self):
        for panel in DASHBOARD["panels"]:
            for target in panel["targets"]:
                with self.subTest(panel["title"], expression=target["expr"]):
                    found = self.until(lambda expr=target["expr"]: self.value(expr))
                    self.assertNotIn("NaN", [series["value"][1] for series in found])

    def test_every_metric_is_on_the_dashboard_or_known(self):
        with urllib.request.urlopen(self.exporter_url) as reply:
            names = set(re.findall(r"^(hold_ledger_\w+)", reply.read().decode(), re.MULTILINE))
        asked = set(re.findall(r"hold_ledger_\w+", json.dumps(DASHBOARD)))
        self.assertEqual(asked - names, set())
        self.assertEqual(names - asked, {
            "hold_ledger_pools_capacity", "hold_ledger_pools_consumed",
            "hold_ledger_pools_holds", "hold_ledger_hoarding_holds"})

    def test_numbers_are_those_of_the_server(self):
        granted = self.database.execute("SELECT granted FROM hold_stats()").fetchone()[0]
        self.assertGreater(granted, 30)
        self.until(lambda: self.value("hold_ledger_granted_total")[0]["value"][1] == str(granted))
        series = self.value("hold_ledger_granted_total")[0]["metric"]
        self.assertEqual(series["scope"], "server")

    def test_rules_are_valid(self):
        subprocess.run(["promtool", "check", "rules", "alerts.yaml"], cwd=HERE, check=True,
                       stdout=subprocess.DEVNULL)
        rules = self.until(lambda: [rule for group in self.api("rules")["groups"]
                                    for rule in group["rules"] if rule["health"] == "ok"])
        self.assertEqual(len(rules), (HERE / "alerts.yaml").read_text().count("- alert:"))

    def test_a_sweep_that_lags_is_told(self):
        self.database.execute("SELECT hold_try('left', 'sku:7', 1, '1 s')")
        self.database.execute("ALTER ROLE prometheus SET hold_ledger.clock_offset = '1 h'")
        self.database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                              " WHERE usename = 'prometheus'")
        self.until(lambda: [alert for alert in self.api("alerts")["alerts"]
                            if alert["labels"]["alertname"] == "HoldLedgerSweepLags"])


if __name__ == "__main__":
    unittest.main()
