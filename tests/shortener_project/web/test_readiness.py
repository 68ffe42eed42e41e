"""`/readyz`: a bare status for everybody, and the state of each part on the internal listener."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from analytics.journal.writer import journal
from common.host import state
from shortener_project.web import views
from testing.cases import for_each
from testing.visitors.browsers import browser as browser
from tests.shortener_project.web.scraping import inside, out_of_reach

ALL_OK = dict.fromkeys([part.name for part in views.PARTS], "ok")


@pytest.fixture
def operator(db: None) -> Client:
    """A client of the internal listener. The host hears of changes."""
    # No time in the future, as other tests have it.
    state.note_heard()
    return inside()


def shown(response: HttpResponse) -> tuple[int, Any, str | None]:
    return response.status_code, response.json(), response.headers.get("Retry-After")


def test_the_internal_listener_shows_every_part(operator: Client) -> None:
    response = operator.get("/readyz")
    assert shown(response) == (200, {"status": "ok"} | ALL_OK, None)
    assert response.headers["Cache-Control"] == "no-store"


def test_the_public_port_shows_a_bare_status(browser: Client, operator: Client, settings: Settings) -> None:
    assert shown(browser.get("/readyz")) == (200, {"status": "ok"}, None)
    settings.CLICK_BACKLOG_MB = -1
    response = browser.get("/readyz")
    assert shown(response) == (503, {"status": "unavailable"}, "2")
    assert response.headers["Cache-Control"] == "no-store"


def test_the_public_port_does_not_leave_out_parts(
    browser: Client, operator: Client, settings: Settings
) -> None:
    """Otherwise a client could find out which part is not well."""
    settings.CLICK_BACKLOG_MB = -1
    assert operator.get("/readyz?exclude=clicks").status_code == 200
    assert shown(browser.get("/readyz?exclude=clicks")) == (503, {"status": "unavailable"}, "2")


def test_an_excluded_part_is_not_examined(operator: Client, settings: Settings) -> None:
    settings.CLICK_BACKLOG_MB = -1
    others = {name: state for name, state in ALL_OK.items() if name not in ("clicks", "changes")}
    assert shown(operator.get("/readyz?exclude=clicks&exclude=changes&exclude=unknown")) == (
        200,
        {"status": "ok"} | others,
        None,
    )


def test_it_is_503_while_too_many_clicks_wait_to_be_counted(operator: Client, settings: Settings) -> None:
    settings.CLICK_BACKLOG_MB = 1
    for _ in range(17):
        journal().append(b"x" * 65_000)
    expected = {"status": "unavailable"} | ALL_OK | {"clicks": "the backlog is above its limit"}
    assert shown(operator.get("/readyz")) == (503, expected, "2")
    settings.CLICK_BACKLOG_MB = 2
    assert operator.get("/readyz").status_code == 200


@for_each("app", ["accounts", "links", "domains", "analytics", "sessions"])
def test_it_is_503_while_a_migration_is_missing(app: str, operator: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM django_migrations WHERE id = (SELECT max(id) FROM django_migrations WHERE app = %s)",
            [app],
        )
        assert cursor.rowcount == 1
    expected = {"status": "unavailable"} | ALL_OK | {"migrations": "migrations are missing"}
    assert shown(operator.get("/readyz")) == (503, expected, "2")


def test_migrations_of_a_newer_version_are_ignored(operator: Client) -> None:
    """The old version keeps serving during a rollout of a new one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('links', '9999_from_the_future', now())"
        )
    assert operator.get("/readyz").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_without_the_database_the_parts_that_need_it_are_unknown(operator: Client) -> None:
    with out_of_reach():
        response = operator.get("/readyz")
    states = response.json()
    assert response.status_code == 503
    assert states.pop("database").startswith("the database does not respond: connection ")
    unknown = {part.name: "unknown without the database" for part in views.PARTS if part.needs_database}
    assert states == {"status": "unavailable", "changes": "ok", "journal": "ok"} | unknown


def test_a_part_that_raises_an_unexpected_error_is_not_well(
    operator: Client, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CLICK_BACKLOG_MB = "many"
    response = operator.get("/readyz")
    assert response.status_code == 503
    assert response.json()["clicks"].startswith("unknown: TypeError(")
    assert "The state of the clicks is unknown" in caplog.text


def test_it_is_503_while_the_journal_cannot_be_written(
    operator: Client, browser: Client, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    settings.CLICKS_DIR = tmp_path / "file" / "clicks"
    reason = {"journal": "it cannot be written: Not a directory"}
    status, states, _ = shown(operator.get("/readyz"))
    assert (status, {name: states[name] for name in reason}) == (503, reason)
    assert shown(browser.get("/readyz")) == (503, {"status": "unavailable"}, "2")
