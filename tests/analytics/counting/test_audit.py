from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings

from analytics.counting.audit import differences
from analytics.counting.closed_days import close_days
from analytics.models import Click, ClosedDay
from links.models import Link
from links.services import delete_link
from testing.analytics.busy_days import unpack_days
from testing.analytics.clicks import drain
from testing.analytics.facts import Fact, record
from testing.analytics.raw_clicks import store_clicks
from testing.cases import for_each

MakeLink = Callable[..., dict[str, Any]]
AMERICA, GOOGLEBOT = "8.8.8.8", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def visit(visitor: Client, link: dict[str, Any], referrer: str = "", **more: Any) -> None:
    visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=AMERICA, headers={"referer": referrer}, **more)


@pytest.fixture
def pk(visitor: Client, make_link: MakeLink) -> int:
    """The id of a link with counted clicks of every kind."""
    link = make_link(restrictions={"maxClicks": 3})
    for referrer in ("https://www.example.net/a", "mailto:nobody"):
        visit(visitor, link, referrer)
    visitor.get(f"/{link['shortCode']}?qr=1", REMOTE_ADDR=AMERICA, headers={"referer": "http://[::1]/x"})
    visit(visitor, link)
    visitor.head(f"/{link['shortCode']}")
    visitor.get(f"/{link['shortCode']}", headers={"user-agent": GOOGLEBOT})
    drain()
    return Link.objects.get(public_id=link["_id"]).pk


def run(sql: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        assert cursor.rowcount == 1


def day() -> str:
    return datetime.now(UTC).date().isoformat()


def test_a_healthy_installation_has_no_difference(pk: int) -> None:
    assert list(differences()) == []


def test_pending_claimed_clicks_are_no_difference(pk: int, visitor: Client, make_link: MakeLink) -> None:
    visit(visitor, make_link(restrictions={"maxClicks": 3}))
    assert list(differences()) == []


def test_a_site_with_the_name_of_direct_visits_is_no_difference(
    pk: int, visitor: Client, make_link: MakeLink
) -> None:
    visit(visitor, make_link(), "https://www.direct/")
    drain()
    assert Click.objects.filter(referrer="https://www.direct/").count() == 1
    assert list(differences()) == []


def test_clicks_of_a_deleted_link_are_no_difference(pk: int) -> None:
    link = Link.objects.get(pk=pk)
    delete_link(owner=link.owner, public_id=str(link.public_id))
    assert Click.objects.filter(link_id=pk).exists()
    assert list(differences()) == []


@for_each(
    ("tampering", "lines"),
    [
        (
            "UPDATE links_clickcounter SET clicks = clicks + 2 WHERE link_id = %s",
            ["link {pk}: counter 5, days, claims and imports 3"],
        ),
        (
            "UPDATE links_ownertotals t SET clicks = t.clicks + 1 FROM links_link l "
            "WHERE l.id = %s AND t.owner_id = l.owner_id AND t.slot = l.id %% 8",
            ["owner {owner}: owner's total 4, counters 3"],
        ),
        (
            "UPDATE analytics_daytotal SET quarters = ARRAY[quarter, 2, unique_clicks] WHERE link_id = %s",
            ["link {pk} {day}: day 3, quarters 2"],
        ),
        (
            "UPDATE analytics_daytotal SET quarters = ARRAY[quarter, clicks, 9] WHERE link_id = %s",
            ["link {pk} {day}: unique of the day 1, unique of the quarters 9"],
        ),
        (
            "DELETE FROM analytics_rawclick WHERE id = (SELECT min(id) FROM analytics_rawclick WHERE link_id = %s)",
            [
                "link {pk} {day}: day 3, clicks 2",
                "link {pk} {day} country US: value of the day 3, clicks 2",
                "link {pk} {day} client desktop\tLinux\tFirefox: value of the day 3, clicks 2",
                "link {pk} {day} referrer example.net: value of the day 1, clicks 0",
            ],
        ),
        (
            "UPDATE analytics_busydaycount SET clicks = 4 WHERE link_id = %s AND value = 'example.net'",
            [
                "link {pk} {day} referrer: day 3, values 6",
                "link {pk} {day} referrer example.net: value of the day 4, clicks 1",
            ],
        ),
        (
            "UPDATE analytics_busydaycount SET value = 'DESKTOP' WHERE link_id = %s AND value LIKE 'desktop%%'",
            [
                "link {pk} {day} client DESKTOP: value of the day 3, clicks 0",
                "link {pk} {day} client desktop\tLinux\tFirefox: value of the day 0, clicks 3",
            ],
        ),
        (
            "DELETE FROM analytics_busydaycount WHERE link_id = %s AND value = 'crawler'",
            ["link {pk} {day} outcome crawler: value of the day 0, clicks 1"],
        ),
        (
            "INSERT INTO analytics_busydaycount (link_id, dimension, day, value, clicks) "
            "SELECT link_id, 2, day, 'US Nowhere', 4 FROM analytics_daytotal WHERE link_id = %s",
            [
                "link {pk} {day} city: day 3, values 4",
                "link {pk} {day} US: country 3, its cities 4",
                "link {pk} {day} city US Nowhere: value of the day 4, clicks 0",
            ],
        ),
        (
            "DELETE FROM analytics_busydaycount WHERE link_id = %s AND value = 'qr'",
            ["link {pk} {day} source qr: value of the day 0, clicks 1"],
        ),
        (
            "INSERT INTO analytics_lifecount (link_id, dimension, value, clicks) VALUES (%s, 3, 'other', 1)",
            ["link {pk} client other: lifetime value 1, closed days 0"],
        ),
        (
            "INSERT INTO analytics_monthcount (link_id, dimension, month, value, clicks) "
            "VALUES (%s, 3, '2026-01-01', 'other', 1)",
            ["link {pk} 2026-01-01 client other: value of the month 1, closed days 0"],
        ),
    ],
)
def test_every_difference_is_found(pk: int, tampering: str, lines: list[str]) -> None:
    unpack_days()
    run(tampering, pk)
    owner = Link.objects.get(pk=pk).owner_id
    expected = [line.format(pk=pk, day=day(), owner=owner) for line in lines]
    assert list(differences()) == expected


def test_a_missing_row_is_a_difference(pk: int) -> None:
    run("DELETE FROM analytics_daytotal WHERE link_id = %s", pk)
    assert f"link {pk}: counter 3, days, claims and imports 0" in list(differences())


def test_closed_days_are_compared_with_lifetime_counts_and_months(
    visitor: Client, make_link: MakeLink
) -> None:
    link = make_link()
    pk = Link.objects.get(public_id=link["_id"]).pk
    record(link["_id"], [Fact("2026-01-05T12:00:00+00:00", count=3)])
    run("UPDATE links_clickcounter SET clicks = 3 WHERE link_id = %s", pk)
    ClosedDay.objects.all().delete()
    ClosedDay.objects.create(day=date(2026, 1, 4))
    assert len(list(differences())) == 6
    ClosedDay.objects.update(day=date(2026, 1, 5))
    assert list(differences()) == []
    close_days()
    assert list(differences()) == []


def test_days_with_dropped_clicks_are_not_compared_with_clicks(
    make_link: MakeLink, settings: Settings
) -> None:
    link = make_link()
    pk = Link.objects.get(public_id=link["_id"]).pk
    ClosedDay.objects.all().delete()
    ClosedDay.objects.create(day=date(2026, 1, 5))
    record(link["_id"], [Fact("2026-01-05T12:00:00+00:00", count=3)], raw=False)
    run("UPDATE links_clickcounter SET clicks = 3 WHERE link_id = %s", pk)
    assert f"link {pk} 2026-01-05: day 3, clicks 0" in list(differences())
    settings.CLICK_RETENTION_DAYS = 30
    store_clicks(
        [Click(time=datetime(2026, 2, 1, tzinfo=UTC), link_id=0, kind=1, scanned=False, is_unique=False)]
    )
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
def test_command_prints_the_number_of_differences_and_sets_the_exit_status(
    visitor: Client, make_link: MakeLink
) -> None:
    link = make_link()
    visit(visitor, link)
    drain()
    output = StringIO()
    call_command("audit_counters", stdout=output)
    assert output.getvalue() == "0 differences.\n"
    run("DELETE FROM analytics_rawclick")
    output = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("audit_counters", stdout=output)
    assert ended.value.code == 1
    assert output.getvalue().splitlines()[-1] == "3 differences."
