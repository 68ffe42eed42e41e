"""Days are closed once, and the salts of visitors live for two days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from analytics.counting.closed_days import close_days
from analytics.counting.day_visitors import delete_old_visitors
from analytics.models import ClosedDay, DaySalt, Dimension, LifeCount, VisitorBlock
from testing.analytics.clicks import drain
from testing.analytics.journaled import BRITISH, MakeLink, journaled, pk
from tests.analytics.counting.counted import totals


def life() -> dict[str, int]:
    return dict(LifeCount.objects.filter(dimension=Dimension.COUNTRY).values_list("value", "clicks"))


def test_days_are_closed_once_and_late_clicks_reach_the_lifetime_counts(make_link: MakeLink) -> None:
    link = pk(make_link())
    now = datetime.now(UTC)
    for age in (0, 2, 3, 10):
        journaled(link, now - timedelta(days=age))
    drain()
    assert life() == {}

    for _ in range(2):
        close_days()
        assert life() == {"US": 2}
        assert ClosedDay.objects.get().day == (now - timedelta(days=3)).date()

    journaled(link, now - timedelta(days=3), address=BRITISH)
    journaled(link, now - timedelta(days=2), address=BRITISH)
    drain()
    close_days()
    assert life() == {"US": 2, "GB": 1}
    assert sum(clicks for clicks, _ in totals()) == 6


def test_salts_and_visitors_are_destroyed_after_two_days(make_link: MakeLink) -> None:
    link = pk(make_link())
    now = datetime.now(UTC)
    for age in (0, 1, 2, 3):
        journaled(link, now - timedelta(days=age))
    drain()
    delete_old_visitors()

    kept = [now.date() - timedelta(days=1), now.date()]
    assert list(DaySalt.objects.order_by("day").values_list("day", flat=True)) == kept
    assert list(VisitorBlock.objects.order_by("day").values_list("day", flat=True)) == kept
    assert totals() == [(1, 1)] * 4


def test_visitor_hash_differs_by_day_and_link(make_link: MakeLink) -> None:
    first, second = pk(make_link()), pk(make_link())
    earlier, later = (datetime.now(UTC) - timedelta(days=age) for age in (5, 4))
    journaled(first, earlier)
    journaled(second, earlier)
    journaled(first, later)
    drain()
    assert len(set(VisitorBlock.objects.values_list("hashes", flat=True))) == 3
    assert set(DaySalt.objects.values_list("day", flat=True)) == {earlier.date(), later.date()}
