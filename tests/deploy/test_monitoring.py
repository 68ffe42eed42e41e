"""The files for Prometheus and Grafana, against promtool and against what the service really tells."""

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

from common import metrics
from tests.programs import program

PROJECT = Path(__file__).resolve().parents[2]
DEPLOY = PROJECT / "deploy"
ALERTS = DEPLOY / "alerts.yml"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
# What Grafana puts in their place.
FILLED_IN = {"$__rate_interval": "1m", "$__range": "6h", "$instance": ".*"}
VARIABLE = re.compile(r"\$\w+")
NAME = re.compile(r"\bshortener_\w+")


def promtool(*words: str | Path, given: bytes = b"") -> str:
    done = subprocess.run(
        [program("promtool"), *words], input=given, capture_output=True, timeout=60, check=False
    )
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    return said


@pytest.fixture
def told(db: None) -> bytes:
    """By a service of which everything has been asked once."""
    metrics.observe_redirect("fast", "302", 0.001)
    metrics.count_lookups(hits=1, misses=1)
    metrics.observe_api_request("/api/urls", 200, 0.01)
    metrics.count_database_error("api")
    return Client(headers={"host": "127.0.0.1"}).get("/metrics").content


def test_the_rules_are_rules() -> None:
    assert "SUCCESS" in promtool("check", "config", DEPLOY / "prometheus.yml")


def test_each_rule_wakes_somebody_for_what_it_should_and_for_nothing_else(tmp_path: Path) -> None:
    for path in (ALERTS, Path(__file__).parent / "alerts_test.yml"):
        shutil.copy(path, tmp_path)
    promtool("test", "rules", tmp_path / "alerts_test.yml")


def test_the_dashboard_asks_what_prometheus_understands(tmp_path: Path) -> None:
    rules = []
    for number, query in enumerate(QUERIES):
        expression = VARIABLE.sub(lambda found: FILLED_IN[found[0]], query)
        rules.append({"record": f"query_{number}", "expr": expression})
    path = tmp_path / "queries.yml"
    path.write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
    assert f"{len(QUERIES)} rules found" in promtool("check", "rules", path)


def test_everything_that_is_asked_for_is_told_and_everything_told_is_shown(told: bytes) -> None:
    names = {
        sample.name for family in text_string_to_metric_families(told.decode()) for sample in family.samples
    }
    names = {name for name in names if not name.endswith("_created")}
    shown = set(NAME.findall(" ".join(QUERIES)))
    assert shown | set(NAME.findall(ALERTS.read_text())) <= names
    of_histograms = {name for name in names if name.endswith(("_bucket", "_count", "_sum"))}
    assert names - of_histograms <= shown


def test_what_is_told_is_as_prometheus_would_have_it(told: bytes) -> None:
    promtool("check", "metrics", given=told)


def test_no_panel_lies_on_another() -> None:
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
