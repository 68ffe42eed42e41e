from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.services import NewAccount
from analytics.counting.retention import (
    delete_clicks_of_deleted_links,
    delete_finished_segments,
    delete_old_clicks,
    ensure_partitions,
)
from analytics.models import Click, DayCount, DayTotal, DeletedLink, LifeCount, QuarterTotal, Segment
from common.ids import new_public_id
from testing.analytics.clicks import drain
from testing.links.deletion import delete_finally
from tests.analytics.counting.retention.partitions import click, following, month, partitions

MakeLink = Callable[..., dict[str, Any]]


def test_partitions_exist_for_this_month_and_the_next_two(db: None) -> None:
    for _ in range(2):
        ensure_partitions()
        now = datetime.now(UTC)
        later = following(now)
        assert set(partitions()) == {
            "analytics_rawclick_default",
            *map(month, (now, later, following(later))),
        }


def test_clicks_in_the_default_partition_move_to_their_month(db: None) -> None:
    first, last = datetime(2024, 2, 1, tzinfo=UTC), datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC)
    extreme = [datetime(1971, 1, 1, tzinfo=UTC), datetime(6000, 1, 1, tzinfo=UTC)]
    now = timezone.now()
    for moment in (first, last, now, *extreme):
        click(moment)
    ensure_partitions()

    times_by_partition = partitions()
    assert times_by_partition[month(first)] == [first, last]
    assert times_by_partition[month(now)] == [now]
    assert times_by_partition["analytics_rawclick_default"] == extreme
    ids = list(Click.objects.values_list("id", flat=True))
    assert len(set(ids)) == 5
    assert click(now).id not in ids


def test_month_is_dropped_when_its_last_day_expires(db: None) -> None:
    now = timezone.now()
    old, kept = now - timedelta(days=100), now - timedelta(days=20)
    for moment in (old, kept, now, datetime(1971, 1, 1, tzinfo=UTC)):
        click(moment)
    ensure_partitions()
    delete_old_clicks(0)
    assert Click.objects.count() == 4
    delete_old_clicks(30)
    assert list(Click.objects.order_by("time").values_list("time", flat=True)) == [kept, now]
    assert month(old) not in partitions()


def test_all_rows_of_a_finally_deleted_link_are_deleted(
    visitor: Client, alice: NewAccount, make_link: MakeLink
) -> None:
    link, other = make_link(), make_link()
    for visited in (link, other):
        visitor.get(f"/{visited['shortCode']}")
    drain()
    delete_finally(alice.workspace, link["_id"])
    assert DeletedLink.objects.count() == 1
    delete_clicks_of_deleted_links()

    assert DeletedLink.objects.count() == 0
    kept = [
        table.objects.values("link_id").distinct().count()
        for table in (Click, DayTotal, QuarterTotal, DayCount)
    ]
    assert kept == [1, 1, 1, 1]
    assert LifeCount.objects.count() == 0


def test_rows_of_finished_segments_are_kept_for_a_week(db: None) -> None:
    now = timezone.now()
    ages = {None: True, timedelta(days=6): True, timedelta(days=8): False}
    segments = {
        Segment.objects.create(
            id=new_public_id(), offset=1, finished_at=None if age is None else now - age
        ).id: kept
        for age, kept in ages.items()
    }
    delete_finished_segments()
    assert {identifier: Segment.objects.filter(id=identifier).exists() for identifier in segments} == segments


def test_housekeeping_runs_every_step(settings: Settings, db: None) -> None:
    settings.CLICK_RETENTION_DAYS = 400
    old = click(datetime(2021, 5, 5, tzinfo=UTC))
    DeletedLink.objects.create(link_id=7)
    call_command("housekeeping", "--once")
    assert not Click.objects.filter(id=old.id).exists()
    assert DeletedLink.objects.count() == 0
    assert month(datetime.now(UTC)) in partitions()
    assert date(2021, 5, 5) not in DayTotal.objects.values_list("day", flat=True)
