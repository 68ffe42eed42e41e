from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from analytics.models import Click, DayCount, DayTotal, DeletedLink, LifeCount, QuarterTotal, Segment
from analytics.partitions import ensure_partitions
from analytics.retention import forget_deleted_links, forget_finished_segments, forget_old_clicks
from common.ids import new_public_id
from tests.clicks import drain

MakeLink = Callable[..., dict[str, Any]]


def click(moment: datetime) -> Click:
    text = dict.fromkeys(
        ("reason", "country", "city", "device", "browser", "operating_system", "referrer"), ""
    )
    return Click.objects.create(time=moment, link_id=1, kind=0, **text)


def partitions() -> dict[str, list[datetime]]:
    """By partition, the times of the clicks in it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'analytics_click'::regclass"
        )
        found = {name: [] for (name,) in cursor.fetchall()}
        for name in found:
            cursor.execute(f"SELECT time FROM {name} ORDER BY time")
            found[name] = [time for (time,) in cursor.fetchall()]
    return found


def month(moment: datetime) -> str:
    return f"analytics_click_{moment:%Y_%m}"


def following(moment: datetime) -> datetime:
    return (moment.replace(day=1) + timedelta(days=31)).replace(day=1)


def test_there_are_partitions_for_this_month_and_the_next_two(db: None) -> None:
    for _ in range(2):
        ensure_partitions()
        now = datetime.now(UTC)
        later = following(now)
        assert set(partitions()) == {"analytics_click_default", *map(month, (now, later, following(later)))}


def test_clicks_that_came_before_their_partition_are_moved_into_it(db: None) -> None:
    first, last = datetime(2024, 2, 1, tzinfo=UTC), datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC)
    absurd = [datetime(1971, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)]
    now = timezone.now()
    for moment in (first, last, now, *absurd):
        click(moment)
    ensure_partitions()

    found = partitions()
    assert found[month(first)] == [first, last]
    assert found[month(now)] == [now]
    assert found["analytics_click_default"] == absurd
    ids = list(Click.objects.values_list("id", flat=True))
    assert len(set(ids)) == 5
    assert click(now).id not in ids


def test_whole_months_are_dropped_when_their_last_day_is_old_enough(db: None) -> None:
    now = timezone.now()
    old, kept = now - timedelta(days=100), now - timedelta(days=20)
    for moment in (old, kept, now, datetime(1971, 1, 1, tzinfo=UTC)):
        click(moment)
    ensure_partitions()
    forget_old_clicks(0)
    assert Click.objects.count() == 4
    forget_old_clicks(30)
    assert list(Click.objects.order_by("time").values_list("time", flat=True)) == [kept, now]
    assert month(old) not in partitions()


def test_of_a_deleted_link_nothing_remains(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link, other = make_link(), make_link()
    for each in (link, other):
        visitor.get(f"/{each['shortCode']}")
    drain()
    api.delete(f"/api/urls/{link['_id']}")
    assert DeletedLink.objects.count() == 1
    forget_deleted_links()

    assert DeletedLink.objects.count() == 0
    kept = [
        table.objects.values("link_id").distinct().count()
        for table in (Click, DayTotal, QuarterTotal, DayCount)
    ]
    assert kept == [1, 1, 1, 1]
    assert LifeCount.objects.count() == 0


def test_finished_segments_are_remembered_for_a_week(db: None) -> None:
    now = timezone.now()
    ages = {None: True, timedelta(days=6): True, timedelta(days=8): False}
    made = {
        Segment.objects.create(
            id=new_public_id(), offset=1, finished_at=None if age is None else now - age
        ).id: kept
        for age, kept in ages.items()
    }
    forget_finished_segments()
    assert {identifier: Segment.objects.filter(id=identifier).exists() for identifier in made} == made


def test_the_housekeeping_does_all_of_it(settings: Settings, db: None) -> None:
    settings.CLICK_RETENTION_DAYS = 400
    old = click(datetime(2021, 5, 5, tzinfo=UTC))
    DeletedLink.objects.create(link_id=7)
    call_command("housekeeping", "--once")
    assert not Click.objects.filter(id=old.id).exists()
    assert DeletedLink.objects.count() == 0
    assert month(datetime.now(UTC)) in partitions()
    assert date(2021, 5, 5) not in DayTotal.objects.values_list("day", flat=True)
