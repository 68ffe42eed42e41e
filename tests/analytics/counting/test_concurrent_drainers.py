"""Several drainers count at the same time: the sums that their batches share do not serialise them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from analytics.counting.audit import differences
from analytics.counting.closed_days import close_days
from analytics.counting.pipeline import Drainer
from analytics.counting.retention import delete_clicks_of_deleted_links
from analytics.journal.records import BRANCH_SHIFT, UNKNOWN_CODE
from analytics.models import Click, DayCount, DayTotal, Dimension, LifeCount, MonthCount, UnknownCode
from links.models import ClickCounter, DeletedLink
from links.storage.deletion import delete_locked_links
from testing.analytics.clicks import close_journal, drain
from testing.analytics.journaled import AMERICAN, BRITISH, MakeLink, journaled, pk
from tests.analytics.counting.open_batches import COUNTERS, VISITORS, batch_held_before, routed_link

pytestmark = pytest.mark.django_db(transaction=True)

# Far below the time for which the other transaction stays open, and far above the time that a batch takes.
LOCK_TIMEOUT = "1s"
OFFSETS = "UPDATE analytics_segment s"


def drain_beside(folder: Path) -> int:
    """Count one batch. A wait for a lock of the other transaction is an error."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [LOCK_TIMEOUT])
    try:
        return Drainer(folder).drain_batch()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")


def segment_of(*links: int, **fields: Any) -> None:
    """A closed segment with one click of each link and one request for an unknown code."""
    for link in links:
        journaled(link, **fields)
    journaled(0, kind=UNKNOWN_CODE)
    close_journal()


@pytest.fixture
def salt_exists(make_link: MakeLink) -> None:
    """The first batch of a day creates the day's salt; other batches of that moment wait for it."""
    journaled(pk(make_link()))
    close_journal()
    assert drain() == 1


@pytest.mark.usefixtures("salt_exists")
def test_batches_with_different_links_of_one_owner_do_not_wait_for_each_other(
    make_link: MakeLink, clicks_dir: Path
) -> None:
    first, second = pk(make_link()), pk(make_link())
    segment_of(first)
    segment_of(second)
    with batch_held_before(OFFSETS, clicks_dir, 2):
        assert drain_beside(clicks_dir) == 2
        # Segments of one millisecond have no order.
        assert (
            sum(ClickCounter.objects.filter(link_id__in=(first, second)).values_list("clicks", flat=True))
            == 1
        )

    assert [ClickCounter.objects.get(link_id=link).clicks for link in (first, second)] == [1, 1]
    assert sum(UnknownCode.objects.values_list("hits", flat=True)) == 2
    assert list(differences()) == []


@pytest.mark.usefixtures("salt_exists")
@pytest.mark.parametrize("number", [0, 1])
def test_batches_with_the_same_link_do_not_wait_for_each_others_rollups(
    make_link: MakeLink, clicks_dir: Path, number: int
) -> None:
    link = routed_link(make_link)
    flags = number << BRANCH_SHIFT
    segment_of(link, flags=flags)
    segment_of(link, flags=flags, address=BRITISH)
    with batch_held_before(VISITORS, clicks_dir, 2):
        assert drain_beside(clicks_dir) == 2
        assert ClickCounter.objects.get(link_id=link).clicks == 1

    assert ClickCounter.objects.get(link_id=link).clicks == 2
    totals = DayTotal.objects.filter(link_id=link).values_list("clicks", "unique_clicks")
    assert [sum(column) for column in zip(*totals, strict=True)] == [2, 2]
    assert Click.objects.filter(link_id=link).count() == 2
    assert list(differences()) == []


@pytest.mark.usefixtures("salt_exists")
@pytest.mark.parametrize("number", [0, 1])
def test_batches_with_a_link_that_is_deleted_meanwhile_do_not_deadlock(
    make_link: MakeLink, clicks_dir: Path, number: int
) -> None:
    link = routed_link(make_link)
    flags = number << BRANCH_SHIFT
    segment_of(link, flags=flags)
    segment_of(link, flags=flags, address=BRITISH)
    # Leave rows in two slots.
    with batch_held_before(VISITORS, clicks_dir, 2):
        assert drain_beside(clicks_dir) == 2
    assert DayTotal.objects.filter(link_id=link).count() == 2
    segment_of(link, flags=flags, address="203.0.113.1")
    segment_of(link, flags=flags, address="203.0.113.2")
    batches = (batch_held_before(VISITORS, clicks_dir, 2), batch_held_before(COUNTERS, clicks_dir, 2))
    with batches[0], batches[1], transaction.atomic():
        delete_locked_links([link])
        # At once, as after the days in which the link can be brought back.
        DeletedLink.objects.filter(link_id=link).delete()
    delete_clicks_of_deleted_links()
    for model in (Click, DayTotal, DayCount, LifeCount, MonthCount):
        assert not model.objects.filter(link_id=link).exists()


def test_late_clicks_of_the_same_link_do_not_wait_for_each_others_lifetime_counts(
    make_link: MakeLink, clicks_dir: Path
) -> None:
    link = pk(make_link())
    late = datetime.now(UTC) - timedelta(days=6)
    journaled(link, late)
    close_journal()
    assert drain() == 1
    close_days()
    for address in (AMERICAN, BRITISH):
        journaled(link, late, address=address, user_agent="other")
        close_journal()
    with batch_held_before(VISITORS, clicks_dir, 1):
        assert drain_beside(clicks_dir) == 1

    countries = LifeCount.objects.filter(link_id=link, dimension=Dimension.COUNTRY).values_list(
        "value", "clicks"
    )
    assert sum(clicks for _, clicks in countries) == 3
    assert list(differences()) == []
