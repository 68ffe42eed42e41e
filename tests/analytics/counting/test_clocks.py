"""Hosts with clock skew: days and deletions follow the database's clock."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from analytics.counting.audit import differences
from analytics.models import Click, DayTotal
from common.database import seconds_ahead
from common.http.client_address import INTERNAL
from shortener_project.management.commands.housekeeping import report_clock
from testing.analytics.clicks import drain
from testing.attempts import slow_down_clock
from testing.programs import program
from testing.service.housekeeping import housekeeping_at

MakeLink = Callable[..., dict[str, Any]]
YEAR_AND_MORE = timedelta(days=400)


@pytest.fixture
def database_now(db: None) -> datetime:
    """The database's time, which hardly advances. Otherwise the measured skew would depend on the machine's speed."""
    slow_down_clock()
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        [(now,)] = cursor.fetchall()
    assert isinstance(now, datetime)
    return now


def housekeeping_under(shift: str, tmp_path: Path, retention_days: int) -> None:
    """A process whose clock is shifted by ``shift``."""
    server = os.environ["DATABASE_URL"].rpartition("/")[0]
    environment = os.environ | {
        "DATABASE_URL": f"{server}/{connection.settings_dict['NAME']}",
        "SECRET_KEY": django_settings.SECRET_KEY,
        "VAR_DIR": str(tmp_path),
        "CLICK_RETENTION_DAYS": str(retention_days),
    }
    done = housekeeping_at(shift, environment, faketime=program("faketime"))
    assert done.returncode == 0, done.stderr


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_housekeeping_400_days_ahead_deletes_no_click(
    visitor: Client, api: APIClient, make_link: MakeLink, tmp_path: Path
) -> None:
    link = make_link()
    for _ in range(3):
        visitor.get(f"/{link['shortCode']}")
    assert drain() == 3

    housekeeping_under("+400d", tmp_path, retention_days=90)

    assert Click.objects.count() == 3
    assert list(differences()) == []
    visitor.get(f"/{link['shortCode']}")
    assert drain() == 1
    assert api.get(f"/api/analytics/{link['_id']}").json()["data"]["totalClicks"] == 4


@pytest.mark.parametrize("shift", [YEAR_AND_MORE, -YEAR_AND_MORE, timedelta(seconds=90)])
def test_clicks_of_a_host_whose_clock_is_wrong_are_counted_today(
    visitor: Client, make_link: MakeLink, shift: timedelta
) -> None:
    code = make_link()["shortCode"]
    with time_machine.travel(datetime.now(UTC) + shift):
        for _ in range(3):
            assert visitor.get(f"/{code}").status_code == 302
        assert drain() == 3

    today = datetime.now(UTC).date()
    assert {(total.day, total.clicks) for total in DayTotal.objects.all()} == {(today, 3)}
    assert [abs(click.time - datetime.now(UTC)) < timedelta(minutes=5) for click in Click.objects.all()] == [
        True
    ] * 3
    assert list(differences()) == []


def test_clicks_that_waited_for_the_database_keep_their_day(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    moment = datetime.now(UTC) - timedelta(days=10)
    with time_machine.travel(moment, tick=False):
        visitor.get(f"/{code}")
    drain()

    assert [click.time for click in Click.objects.all()] == [moment]
    assert list(differences()) == []


@pytest.mark.parametrize("seconds", [-90, -7, 7, 90])
def test_clock_skew_is_measured_and_logged(
    database_now: datetime, caplog: pytest.LogCaptureFixture, seconds: int
) -> None:
    with (
        time_machine.travel(database_now + timedelta(seconds=seconds), tick=False),
        caplog.at_level(logging.ERROR),
    ):
        assert seconds_ahead() == pytest.approx(seconds, abs=0.001)
        report_clock()

    side = "ahead of" if seconds > 0 else "behind"
    assert f"s {side} the database's" in caplog.text


def test_correct_clock_is_not_logged(db: None, caplog: pytest.LogCaptureFixture) -> None:
    assert seconds_ahead() == 0.0
    report_clock()

    # Repeated lines of an earlier test may be logged late.
    assert "the database's" not in caplog.text


@pytest.mark.parametrize(("seconds", "status"), [(-90, 503), (-30, 200), (0, 200), (30, 200), (90, 503)])
def test_readyz_is_503_from_a_minute_of_skew_and_the_metric_shows_any_skew(
    database_now: datetime, settings: Settings, seconds: int, status: int
) -> None:
    browser = Client(headers={"host": "sho.rt"})
    # Metrics and details are at the internal listener.
    browser.defaults[INTERNAL] = True
    with time_machine.travel(database_now + timedelta(seconds=seconds), tick=False):
        response, shown = browser.get("/readyz"), browser.get("/metrics", REMOTE_ADDR="127.0.0.1")

    assert response.status_code == status
    assert (response.json()["clock"] != "ok") == (status == 503)
    [line] = [
        sample for sample in shown.content.decode().splitlines() if sample.startswith("shortener_clock_ahead")
    ]
    assert float(line.split()[1]) == pytest.approx(seconds, abs=0.001)
