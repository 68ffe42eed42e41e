"""The files for Prometheus and Grafana, checked by promtool and against the metrics of the service."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from common.host import metrics, vitals
from common.http.client_address import INTERNAL
from testing.programs import program

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
DEPLOY = PROJECT / "deploy"
ALERTS = DEPLOY / "alerts.yml"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
# The values that Grafana inserts.
FILLED_IN = {"$__rate_interval": "1m", "$__range": "6h", "$instance": ".*"}
VARIABLE = re.compile(r"\$\w+")
NAME = re.compile(r"\bshortener_\w+")


def promtool(*words: str | Path, stdin: bytes = b"") -> str:
    done = subprocess.run(
        [program("promtool"), *words], input=stdin, capture_output=True, timeout=240, check=False
    )
    output = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, output
    return output


@pytest.fixture
def exported(db: None, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The metrics of a service after one request of every kind."""
    metrics.observe_redirect("fast", "302", 0.001)
    metrics.count_lookups(hits=1, misses=1)
    metrics.observe_api_request("/api/urls", 200, 0.01)
    metrics.count_database_error("api")
    metrics.count_restart("listener", "died")
    metrics.count_standby_read("standby")
    monkeypatch.setattr(vitals, "_of_all", {"listener": vitals.Vitals()})
    prometheus = Client(headers={"host": "127.0.0.1"})
    prometheus.defaults[INTERNAL] = True
    return prometheus.get("/metrics").content


def test_promtool_accepts_the_rules() -> None:
    assert "SUCCESS" in promtool("check", "config", DEPLOY / "prometheus.yml")


def test_each_alert_fires_only_for_its_cause(tmp_path: Path) -> None:
    for path in (ALERTS, Path(__file__).parent / "alerts_test.yml"):
        shutil.copy(path, tmp_path)
    promtool("test", "rules", tmp_path / "alerts_test.yml")


def test_prometheus_accepts_the_queries_of_the_dashboard(tmp_path: Path) -> None:
    rules = []
    for number, query in enumerate(QUERIES):
        expression = VARIABLE.sub(lambda match: FILLED_IN[match[0]], query)
        rules.append({"record": f"query_{number}", "expr": expression})
    path = tmp_path / "queries.yml"
    path.write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
    assert f"{len(QUERIES)} rules found" in promtool("check", "rules", path)


def test_every_queried_metric_is_exported_and_every_exported_metric_is_shown(exported: bytes) -> None:
    names = {
        sample.name
        for family in text_string_to_metric_families(exported.decode())
        for sample in family.samples
    }
    names = {name for name in names if not name.endswith("_created")}
    shown = set(NAME.findall(" ".join(QUERIES)))
    assert shown | set(NAME.findall(ALERTS.read_text())) <= names
    of_histograms = {name for name in names if name.endswith(("_bucket", "_count", "_sum"))}
    assert names - of_histograms <= shown


def test_promtool_accepts_the_exported_metrics(exported: bytes) -> None:
    promtool("check", "metrics", stdin=exported)


def test_each_alert_exists_once() -> None:
    names = re.findall(r"- alert: (\w+)", ALERTS.read_text())
    assert names
    assert sorted(names) == sorted(set(names))


def test_each_panel_exists_once_and_has_its_own_position() -> None:
    panels = DASHBOARD["panels"]
    for name in ("id", "title"):
        values = [panel[name] for panel in panels]
        assert sorted(values) == sorted(set(values))
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))


def test_the_clock_panel_shows_negative_values() -> None:
    (panel,) = [
        panel
        for panel in DASHBOARD["panels"]
        if "shortener_clock_ahead_seconds" in panel["targets"][0]["expr"]
    ]
    assert "min" not in panel["fieldConfig"]["defaults"]
