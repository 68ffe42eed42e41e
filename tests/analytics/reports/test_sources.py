"""The tables that a report reads hold each closed day of its range once, and no other day."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from analytics.reports.sources import LinkDays, Sources, Span, sources

DAY = timedelta(days=1)
FIRST, LAST = date(2025, 1, 20), date(2026, 3, 10)
days = st.dates(FIRST - 40 * DAY, LAST + 40 * DAY)
MONTHS = [date(2025, month, 1) for month in range(1, 13)] + [date(2026, month, 1) for month in range(1, 4)]


def between(first: date, last: date) -> list[date]:
    """The days in the range on which the link has clicks."""
    first, last = max(first, FIRST), min(last, LAST)
    return [first + number * DAY for number in range((last - first).days + 1)]


def signed_days(used: Sources, closed: date) -> Counter[date]:
    """How often a report counts each day, if the day ``closed`` is the last closed one when it reads the tables."""
    counted: Counter[date] = Counter()
    if used.is_of_life:
        counted.update(between(FIRST, LAST))
    for month in used.months:
        last = (month + 31 * DAY).replace(day=1) - DAY
        counted.update(dict.fromkeys(between(month, last), used.sign))
    for span in used.spans:
        counted.update(dict.fromkeys(between(span.first, span.last), span.sign))
    return Counter({day: times for day, times in counted.items() if day <= closed and times})


@given(st.lists(days, min_size=2, max_size=2), st.sets(st.sampled_from(MONTHS)), days, st.integers(0, 40))
def test_each_closed_day_counts_once(
    requested: list[date], months: set[date], closed: date, closed_later: int
) -> None:
    first, last = sorted(requested)
    used = sources(first, last, LinkDays(FIRST, LAST, sorted(months), closed))
    if used is not None:
        closed += closed_later * DAY
        assert signed_days(used, closed) == Counter(day for day in between(first, last) if day <= closed)


def test_months_replace_their_days() -> None:
    link = LinkDays(FIRST, LAST, MONTHS, LAST)
    assert sources(date(2025, 7, 26), date(2025, 10, 4), link) == Sources(
        is_of_life=False,
        months=[date(2025, 8, 1), date(2025, 9, 1)],
        sign=1,
        spans=[
            Span(1, date(2025, 7, 26), date(2025, 7, 31)),
            Span(1, date(2025, 10, 1), date(2025, 10, 4)),
        ],
    )


def test_the_other_days_of_a_month_are_subtracted_if_they_are_fewer() -> None:
    link = LinkDays(FIRST, LAST, MONTHS, LAST)
    assert sources(date(2025, 7, 4), date(2025, 9, 27), link) == Sources(
        is_of_life=False,
        months=[date(2025, 7, 1), date(2025, 8, 1), date(2025, 9, 1)],
        sign=1,
        spans=[
            Span(-1, date(2025, 7, 1), date(2025, 7, 3)),
            Span(-1, date(2025, 9, 28), date(2025, 9, 30)),
        ],
    )


def test_the_current_month_includes_the_days_that_are_closed() -> None:
    link = LinkDays(FIRST, LAST, MONTHS, LAST - 3 * DAY)
    assert sources(date(2026, 2, 1), LAST, link) == Sources(
        is_of_life=False,
        months=[date(2026, 2, 1), date(2026, 3, 1)],
        sign=1,
        spans=[Span(-1, date(2026, 3, 11), date(2026, 3, 31))],
    )


def test_days_between_busy_months_are_read_day_by_day() -> None:
    link = LinkDays(FIRST, LAST, [date(2025, 5, 1), date(2025, 7, 1)], LAST)
    assert sources(date(2025, 5, 1), date(2025, 7, 31), link) == Sources(
        is_of_life=False,
        months=[date(2025, 5, 1), date(2025, 7, 1)],
        sign=1,
        spans=[Span(1, date(2025, 6, 1), date(2025, 6, 30))],
    )


def test_most_of_a_life_is_the_lifetime_without_the_other_days_and_months() -> None:
    link = LinkDays(FIRST, LAST, MONTHS, LAST)
    assert sources(date(2025, 3, 1), date(2026, 3, 4), link) == Sources(
        is_of_life=True,
        months=[date(2025, 1, 1), date(2025, 2, 1)],
        sign=-1,
        spans=[
            Span(-1, date.min, date(2024, 12, 31)),
            Span(-1, date(2026, 3, 5), date.max),
        ],
    )


def test_without_busy_months_less_than_most_of_a_life_is_read_day_by_day() -> None:
    link = LinkDays(FIRST, LAST, [], LAST)
    assert sources(date(2025, 5, 1), date(2025, 7, 31), link) is None
