"""The database's clock goes ahead and back: no day is closed early, and lifetime totals stay right or are repaired."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection, transaction
from pytest_django.fixtures import Settings

from analytics.counting.audit import differences, repair
from analytics.counting.closed_days import FORGOTTEN_AFTER, OPEN_DAYS, close_days, confirmed_date, report_date
from analytics.counting.imported_days import add_days
from analytics.counting.retention import delete_old_clicks
from analytics.models import Click, ClosedDay, HostClock, LifeCount, MonthCount
from links.models import Link
from testing.analytics.clicks import drain
from testing.analytics.journaled import MakeLink, journaled, pk
from testing.service.moved_clock import FUNCTIONS

FORTY_DAYS = timedelta(days=40)


@pytest.fixture
def move_database(db: None) -> Callable[[timedelta], None]:
    """Sets the database's clock, for this test's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(FUNCTIONS)
        cursor.execute("SET LOCAL search_path = moved, pg_catalog, public")

    def move(ahead: timedelta) -> None:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE moved.clock SET ahead = %s", [ahead])

    return move


@pytest.fixture
def link(make_link: MakeLink) -> int:
    return pk(make_link())


def today() -> date:
    return datetime.now(UTC).date()


def closed() -> date:
    return ClosedDay.objects.get().day


def report_of(host: str, settings: Settings, ahead: timedelta = timedelta(0)) -> None:
    """Report the date as `report_date` does on another host."""
    settings.VAR_DIR = f"/{host}"
    with time_machine.travel(datetime.now(UTC) + ahead):
        report_date()


def test_a_day_is_closed_once_the_clocks_of_all_hosts_confirm_that_it_is_over(
    move_database: Callable[[timedelta], None], settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    report_of("right", settings)
    move_database(FORTY_DAYS)
    # A host on the machine of the database has the same clock.
    report_of("wrong", settings, FORTY_DAYS)
    close_days()
    assert closed() == today() - timedelta(days=OPEN_DAYS)
    assert f"/right is {today()}. Until they agree, no day after that is closed." in caplog.text
    caplog.clear()
    move_database(timedelta(0))
    report_of("wrong", settings)
    close_days()
    assert (closed(), caplog.text) == (today() - timedelta(days=OPEN_DAYS), "")


def test_a_host_that_is_behind_keeps_days_open(settings: Settings, db: None) -> None:
    report_of("behind", settings, -FORTY_DAYS)
    report_of("right", settings)
    assert confirmed_date() == today() - FORTY_DAYS
    report_of("behind", settings)
    assert confirmed_date() == today()


def test_without_a_report_the_database_decides(db: None) -> None:
    assert confirmed_date() == today()


def test_a_host_that_no_longer_reports_is_forgotten_by_the_number_of_reports(
    settings: Settings, move_database: Callable[[timedelta], None]
) -> None:
    report_of("gone", settings, -timedelta(days=2))
    report_of("right", settings)
    HostClock.objects.filter(host__endswith=":/right").update(report=FORGOTTEN_AFTER)
    # Its age by the database's clock does not count.
    move_database(FORTY_DAYS)
    assert confirmed_date() == today() - timedelta(days=2)
    report_date()
    assert confirmed_date() == today()
    assert [host.host.partition(":")[2] for host in HostClock.objects.all()] == ["/right"]


def test_raw_clicks_outlive_a_wrong_clock_of_the_database(
    link: int, move_database: Callable[[timedelta], None], settings: Settings
) -> None:
    journaled(link, count=3)
    drain()
    report_of("right", settings)
    move_database(timedelta(days=400))
    delete_old_clicks(90)
    assert Click.objects.count() == 3


def test_clicks_of_days_that_were_closed_too_early_reach_the_lifetime_counts(
    link: int, move_database: Callable[[timedelta], None]
) -> None:
    journaled(link, datetime.now(UTC) - timedelta(days=10))
    drain()
    move_database(FORTY_DAYS)
    # No other host has reported.
    close_days(busy=1)
    assert closed() == today() + FORTY_DAYS - timedelta(days=OPEN_DAYS)
    move_database(timedelta(0))
    journaled(link, count=2)
    journaled(link, datetime.now(UTC) - timedelta(days=1))
    assert drain() == 3
    assert list(differences()) == []
    assert sum(LifeCount.objects.filter(dimension=1).values_list("clicks", flat=True)) == 4


# Repair


def run_repair() -> list[str]:
    with transaction.atomic():
        return list(repair())


def test_days_that_were_closed_too_early_are_opened_again(
    link: int, move_database: Callable[[timedelta], None]
) -> None:
    journaled(link, datetime.now(UTC) - timedelta(days=10), count=4)
    journaled(link, count=3)
    drain()
    move_database(FORTY_DAYS)
    close_days(busy=1)
    ahead = closed()
    move_database(timedelta(0))
    first, *changes = run_repair()
    assert first == f"closed days: up to {ahead}, now up to {today() - timedelta(days=OPEN_DAYS)}"
    assert f"link {link} country US: lifetime value 7, now 4" in changes
    assert list(differences()) == []
    assert run_repair() == []
    close_days(busy=1)
    assert list(differences()) == []


def test_every_wrong_sum_of_lifetimes_months_and_owners_is_rebuilt(link: int) -> None:
    journaled(link, datetime(2026, 11, 3, 12, tzinfo=UTC), count=4)
    journaled(link, datetime(2026, 11, 4, 12, tzinfo=UTC), referrer="https://example.org/", count=2)
    drain()
    add_days({(link, date(2026, 11, 5)): 9})
    with time_machine.travel(datetime(2026, 11, 24, 12, tzinfo=UTC)):
        close_days(busy=1)
    assert list(differences()) == []
    before = sums()
    owner = Link.objects.get().owner_id
    for statement in (
        "UPDATE analytics_lifecount SET clicks = clicks - 1 WHERE dimension = 1",
        "DELETE FROM analytics_lifecount WHERE dimension = 4",
        f"INSERT INTO analytics_lifecount (link_id, dimension, value, slot, clicks) VALUES ({link}, 1, 'XX', 3, 5)",
        "UPDATE analytics_monthcount SET clicks = 100 WHERE dimension = 3",
        f"INSERT INTO analytics_monthcount (link_id, dimension, month, value, clicks) VALUES"
        f" ({link}, 1, '2020-01-01', 'XX', 5)",
        "UPDATE links_ownertotals SET clicks = clicks + 7 WHERE slot = (SELECT max(slot) FROM links_ownertotals)",
    ):
        with connection.cursor() as cursor:
            cursor.execute(statement)
    wrong = len(list(differences()))
    changes = run_repair()
    assert len(changes) == wrong > 5
    assert {
        f"link {link} country XX: lifetime value 5, now 0",
        f"link {link} 2020-01-01 country XX: value of the month 5, now 0",
        f"owner {owner}: owner's total 22, now 15",
    } <= {*changes}
    assert list(differences()) == []
    assert sums() == before


def sums() -> list[set[tuple[object, ...]]]:
    return [
        {*LifeCount.objects.values_list("link_id", "dimension", "value", "slot", "clicks")},
        {*MonthCount.objects.values_list("link_id", "dimension", "month", "value", "slot", "clicks")},
    ]


@pytest.mark.django_db(transaction=True)
def test_the_command_says_what_it_changed_and_what_remains(make_link: MakeLink) -> None:
    link = pk(make_link())
    journaled(link, datetime.now(UTC) - timedelta(days=10), count=4)
    drain()
    close_days()
    LifeCount.objects.filter(dimension=1).update(clicks=1)
    # The counter decides which clicks a capped link has left: it is no sum of others.
    with connection.cursor() as cursor:
        cursor.execute("UPDATE analytics_daytotal SET clicks = 5")
    output = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("audit_counters", repair=True, stdout=output)
    lines = output.getvalue().splitlines()
    assert lines[:2] == [f"link {link} country US: lifetime value 1, now 4", "1 repaired."]
    assert f"link {link}: counter 4, days, claims and imports 5" in lines
    assert lines[-1] == f"{len(lines) - 3} differences."
