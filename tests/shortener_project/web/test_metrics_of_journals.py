"""Metrics of the journal and of the database, and damage that hides no metric."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import time_machine
from django.db import connection
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from analytics.journal.drops import count_drop
from common.host import state, vitals
from testing.analytics.clicks import close_journal, drain
from testing.polling import DEADLINE
from tests.shortener_project.web.scraping import out_of_reach, scrape, value
from tests.shortener_project.web.scraping import prometheus as prometheus

MakeLink = Callable[..., dict[str, Any]]


def test_metrics_report_backlog_size_and_age(
    visitor: Client, prometheus: Client, make_link: MakeLink
) -> None:
    path = f"/{make_link()['shortCode']}"
    moment = datetime(2026, 11, 21, 12, tzinfo=UTC)
    with time_machine.travel(moment, tick=False) as clock:
        assert value(prometheus, "journal_backlog_bytes") == 0
        assert value(prometheus, "journal_oldest_seconds") == 0
        visitor.get(path)
        first = value(prometheus, "journal_backlog_bytes")
        assert first > 0
        clock.shift(90)
        assert drain() == 1
        assert value(prometheus, "journal_backlog_bytes") == 0
        assert value(prometheus, "journal_oldest_seconds") == 0
        visitor.get(path)
        clock.shift(30)
        visitor.get(path)
        clock.shift(12)
        assert value(prometheus, "journal_backlog_bytes") == 2 * first
        assert value(prometheus, "journal_oldest_seconds") == 42
        assert value(prometheus, "database_up") == 1


def test_the_age_includes_clicks_that_the_database_took(
    visitor: Client, prometheus: Client, make_link: MakeLink
) -> None:
    link = make_link(restrictions={"maxClicks": 2})
    path = f"/{link['shortCode']}"
    with time_machine.travel(datetime(2026, 11, 21, 12, tzinfo=UTC), tick=False) as clock:
        assert visitor.get(path).status_code == 302
        clock.shift(42)
        assert value(prometheus, "journal_backlog_bytes") == 0
        assert value(prometheus, "journal_oldest_seconds") == 42
        assert drain() == 1
        assert value(prometheus, "journal_oldest_seconds") == 0


@pytest.mark.django_db(transaction=True)
def test_journal_metrics_work_without_the_database(
    visitor: Client, prometheus: Client, make_link: MakeLink
) -> None:
    path = f"/{make_link()['shortCode']}"
    visitor.get(path)
    drain()
    visitor.get(path)
    before = scrape(prometheus)
    waiting = before["shortener_journal_backlog_bytes", frozenset()]
    with out_of_reach():
        errors = value(prometheus, "database_errors_total", where="page")
        samples = scrape(prometheus)
        assert samples["shortener_database_up", frozenset()] == 0
        assert samples["shortener_journal_backlog_bytes", frozenset()] == waiting > 0
        assert samples["shortener_journal_oldest_seconds", frozenset()] > 0
        assert value(prometheus, "database_errors_total", where="page") - errors == 2
        errors = value(prometheus, "database_errors_total", where="redirect")
        assert visitor.get("/whatever").status_code == 503
        assert value(prometheus, "database_errors_total", where="redirect") - errors == 1
    assert value(prometheus, "database_up") == 1


@pytest.mark.django_db(transaction=True)
def test_requests_that_the_database_failed_are_counted(api: APIClient, prometheus: Client) -> None:
    before = value(prometheus, "database_errors_total", where="api")
    with out_of_reach():
        assert api.get("/api/urls").status_code == 503
    assert value(prometheus, "database_errors_total", where="api") - before == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("query", range(4))
def test_a_connection_that_ends_at_any_query_of_a_scrape_fails_none(prometheus: Client, query: int) -> None:
    # No time in the future, as other tests have it.
    state.note_heard()
    queries = 0

    def end_session(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal queries
        queries += 1
        if queries == query + 1:
            end_current_session()
        return execute(*arguments)

    scrape(prometheus)
    with connection.execute_wrapper(end_session):
        samples = scrape(prometheus)
    # As the service does after each request.
    connection.close_if_unusable_or_obsolete()
    assert queries > query
    # Each query has a second attempt.
    assert samples["shortener_database_up", frozenset()] == 1
    assert {"shortener_clock_ahead_seconds", "shortener_journal_lost_bytes"} <= {name for name, _ in samples}
    assert samples["shortener_journal_backlog_bytes", frozenset()] == 0
    assert samples["shortener_changes_unheard_seconds", frozenset()] >= 0


def end_current_session() -> None:
    pid = connection.connection.info.backend_pid
    parameters = connection.settings_dict
    address = os.environ["DATABASE_URL"].rpartition("/")[0] + f"/{parameters['NAME']}"
    with psycopg.connect(address, autocommit=True) as other:
        end = "SELECT pg_terminate_backend(%s, %s)"
        assert other.execute(end, [pid, DEADLINE * 1000]).fetchone() == (True,)


def test_damaged_segments_are_reported(prometheus: Client, settings: Settings, db: None) -> None:
    assert value(prometheus, "journal_damaged_segments") == 0
    settings.CLICKS_DIR.mkdir(exist_ok=True)
    (settings.CLICKS_DIR / "01890000-0000-7000-8000-000000000000.damaged").write_bytes(b"?")
    assert value(prometheus, "journal_damaged_segments") == 1


def test_dropped_clicks_are_reported(prometheus: Client, db: None) -> None:
    before = value(prometheus, "clicks_dropped_total")
    count_drop()
    count_drop()
    assert value(prometheus, "clicks_dropped_total") - before == 2


def test_a_drop_that_no_file_counts_is_reported(prometheus: Client, settings: Settings, db: None) -> None:
    """This happens on a read-only file system."""
    count_drop()
    before = value(prometheus, "clicks_dropped_total")
    path = settings.CLICKS_DIR / "dropped"
    content = path.read_bytes()
    path.unlink()
    path.mkdir()
    count_drop()
    path.rmdir()
    path.write_bytes(content)
    assert value(prometheus, "clicks_dropped_total") - before == 1


@pytest.mark.django_db(transaction=True)
def test_clicks_that_the_database_takes_are_counted(
    visitor: Client, prometheus: Client, settings: Settings, make_link: MakeLink, tmp_path: Path
) -> None:
    path = f"/{make_link()['shortCode']}"
    visitor.get(path)
    names = ("clicks_to_database_total", "journal_writable")
    before = {name: value(prometheus, name) for name in names}
    close_journal()
    (tmp_path / "file").write_bytes(b"")
    settings.CLICKS_DIR = tmp_path / "file" / "clicks"
    for _ in range(3):
        assert visitor.get(path).status_code == 302
    after = {name: value(prometheus, name) for name in names}
    assert (
        after["clicks_to_database_total"] - before["clicks_to_database_total"],
        before["journal_writable"],
    ) == (3, 1)
    assert after["journal_writable"] == 0


def test_a_journal_folder_that_cannot_be_made_hides_no_other_metric(
    prometheus: Client, settings: Settings, tmp_path: Path, db: None
) -> None:
    # No time in the future, as other tests have it.
    state.note_heard()
    whole = {name for name, _ in scrape(prometheus)}
    (tmp_path / "file").write_bytes(b"")
    settings.CLICKS_DIR = tmp_path / "file" / "clicks"
    journal_metrics = ("backlog_bytes", "oldest_seconds", "damaged_segments")
    missing = {"shortener_clicks_dropped_total", *(f"shortener_journal_{name}" for name in journal_metrics)}
    assert whole - {name for name, _ in scrape(prometheus)} == missing
    assert value(prometheus, "database_up") == 1
    assert value(prometheus, "journal_writable") == 0


def test_a_host_is_not_ready_while_a_click_waits_and_no_batch_is_counted(
    visitor: Client, prometheus: Client, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vitals, "_of_all", {})
    drainer = vitals.create(vitals.CLICK_DRAINER)
    state.note_heard()
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        visitor.get(f"/{make_link()['shortCode']}")
        # Less than the tolerance of the clock.
        clock.shift(55)
        assert prometheus.get("/readyz").status_code == 200
        late = time.monotonic_ns() + 61_000_000_000
        monkeypatch.setattr(time, "monotonic_ns", lambda: late)
        monkeypatch.setattr(vitals, "_WAITING_SECONDS", 50.0)
        response = prometheus.get("/readyz")
        assert response.status_code == 503
        assert response.json()["clicks"] == "the oldest has not been counted for 55 s"
        drainer.note_counted()
        assert prometheus.get("/readyz").status_code == 200


def test_the_silence_of_each_process_is_reported(
    prometheus: Client, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    monkeypatch.setattr(vitals, "_of_all", {})
    vitals.create("listener").report(silent_seconds=12.5, failures=0)
    assert value(prometheus, "process_silent_seconds", process="listener") == 12.5
