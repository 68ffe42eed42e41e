from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from analytics.counting.retention import MAX_FORMER_URLS, delete_former_routes
from analytics.models import BusyDayCount, Dimension, LifeCount
from links.models import Route

pytestmark = pytest.mark.django_db

LINK = 7


def periods(*ends: datetime | None, number: int = 1, branch: uuid.UUID | None = None) -> list[int]:
    """The ids of the rows of one branch. Each row ends at its time; None: current."""
    since = datetime(2020, 1, 1, tzinfo=UTC)
    rows = []
    for end in ends:
        rows.append(
            Route(link_id=LINK, number=number, branch=branch, name="", url="x", since=since, until=end)
        )
        since = end or since
    return [row.pk for row in Route.objects.bulk_create(rows)]


def kept() -> set[int]:
    return set(Route.objects.values_list("pk", flat=True))


def test_urls_before_the_oldest_raw_click_are_deleted() -> None:
    now = timezone.now()
    # Raw clicks of the whole month are kept.
    month = (
        (now - timedelta(days=100)).astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    )
    before = month - timedelta(seconds=1)
    target = periods(before, month, now, None, number=0)
    current = periods(before, None, branch=uuid.uuid4())
    deleted = periods(before - timedelta(days=1), before, number=2, branch=uuid.uuid4())
    # Another branch has the number of a deleted one.
    periods(None, number=2, branch=uuid.uuid4())
    everything = kept()

    delete_former_routes(0)
    assert kept() == everything
    delete_former_routes(100)
    assert kept() == everything - {target[0], current[0], deleted[0]}


def test_urls_of_clicks_that_may_still_arrive_are_kept() -> None:
    now = timezone.now()
    rows = periods(now - timedelta(days=32), now - timedelta(days=29), None, number=0)
    delete_former_routes(1)
    assert set(rows[1:]) <= kept()


def test_each_link_keeps_its_newest_former_urls() -> None:
    now = timezone.now()
    first = now - timedelta(days=20)
    ends = [first + timedelta(minutes=minute) for minute in range(MAX_FORMER_URLS + 5)]
    rows = periods(*ends, None, branch=uuid.uuid4())
    # Its clicks may still arrive.
    recent = periods(first - timedelta(days=1), number=2, branch=uuid.uuid4())

    delete_former_routes(0)
    assert kept() == {*rows[5:], *recent}


def test_a_deleted_branch_with_clicks_keeps_its_last_row() -> None:
    now = timezone.now()
    periods(*(now - timedelta(minutes=minute) for minute in range(MAX_FORMER_URLS, 0, -1)), None, number=0)
    ended = now - timedelta(days=40)
    today, before, unused = (uuid.uuid4() for _ in range(3))
    rows = [
        periods(ended, number=2 + place, branch=branch)
        for place, branch in enumerate((today, before, unused))
    ]
    values = {"link_id": LINK, "dimension": Dimension.BRANCH, "clicks": 1}
    BusyDayCount.objects.create(day=now.date(), value=str(today), **values)
    LifeCount.objects.create(value=str(before), **values)
    everything = kept()

    delete_former_routes(0)
    assert kept() == everything - set(rows[2])
