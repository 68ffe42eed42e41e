"""Writes clicks to the tables in the form that the pipeline produces, without the pipeline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from analytics.counting.days import pack_counts, pack_quarters
from analytics.models import (
    BusyDayCount,
    BusyMonth,
    Click,
    ClosedDay,
    DayTotal,
    Dimension,
    Kind,
    LifeCount,
    MonthCount,
)
from links.models import Link
from testing.analytics.branches import branch_at
from testing.analytics.raw_clicks import store_clicks


class Fact(NamedTuple):
    """``time`` is ISO 8601. A visitor's first click of a day is unique. ``count``: the number of equal clicks.

    ``branch``: see `testing.analytics.branches`.
    """

    time: str
    country: str = "DE"
    city: str = "Berlin"
    device: str = "desktop"
    browser: str = "Firefox"
    operating_system: str = "Linux"
    referrer: str = ""
    visitor: str = "somebody"
    kind: Kind = Kind.CLICK
    reason: str = ""
    count: int = 1
    branch: int = 0
    scanned: bool = False
    language: str = "unknown"
    region: str = "unknown"


def record(link: str, facts: Iterable[Fact], *, raw: bool = True, closed: str = "9999-12-31") -> None:
    """``link`` is an ``_id``. Without ``raw``, only roll-ups exist, as after the end of the retention.

    Lifetime counts and months include the days up to ``closed``. Every month is a busy one.
    """
    link_id = Link.objects.get(public_id=link).pk
    days: Counter[date] = Counter()
    unique_days: Counter[date] = Counter()
    quarters: defaultdict[date, dict[int, list[int]]] = defaultdict(dict)
    counts: Counter[tuple[Dimension, date, str]] = Counter()
    seen = set()
    clicks = []
    for fact in sorted(facts, key=moment):
        time = moment(fact)
        day, quarter = time.date(), time.hour * 4 + time.minute // 15
        rows = [click(link_id, fact) for _ in range(fact.count)]
        clicks += rows if raw else []
        for dimension, value in dimension_values(fact):
            counts[dimension, day, value] += fact.count
        if fact.kind == Kind.CLICK:
            days[day] += fact.count
            numbers = quarters[day].setdefault(quarter, [0, 0])
            numbers[0] += fact.count
            branch = str(branch_at(link_id, fact.branch, time)) if fact.branch else None
            if branch is not None:
                counts[Dimension.BRANCH, day, branch] += fact.count
            if (day, fact.visitor) not in seen:
                seen.add((day, fact.visitor))
                unique_days[day] += 1
                numbers[1] += 1
                if branch is not None:
                    rows[0].is_unique = True
                    counts[Dimension.UNIQUE_BRANCH, day, branch] += 1
    life: Counter[tuple[Dimension, str]] = Counter()
    months: Counter[tuple[Dimension, date, str]] = Counter()
    for (dimension, day, value), number in counts.items():
        if day.isoformat() <= closed:
            life[dimension, value] += number
            if dimension != Dimension.OUTCOME:
                months[dimension, day.replace(day=1), value] += number
    ClosedDay.objects.all().delete()
    ClosedDay.objects.create(day=closed)
    store_clicks(clicks)
    DayTotal.objects.bulk_create(
        DayTotal(
            link_id=link_id,
            day=day,
            clicks=number,
            unique_clicks=unique_days[day],
            quarter=min(quarters[day]),
            quarters=pack_quarters(quarters[day]),
            counts=pack_counts(
                {
                    f"{dimension:d}{value}": clicks
                    for (dimension, counted, value), clicks in counts.items()
                    if counted == day and dimension != Dimension.OUTCOME
                }
            ),
        )
        for day, number in days.items()
    )
    BusyDayCount.objects.bulk_create(
        BusyDayCount(link_id=link_id, dimension=dimension, day=day, value=value, clicks=number)
        for (dimension, day, value), number in counts.items()
        if dimension == Dimension.OUTCOME
    )
    LifeCount.objects.bulk_create(
        LifeCount(link_id=link_id, dimension=dimension, value=value, clicks=number)
        for (dimension, value), number in life.items()
    )
    BusyMonth.objects.bulk_create(
        BusyMonth(link_id=link_id, month=month) for month in {month for _, month, _ in months}
    )
    MonthCount.objects.bulk_create(
        MonthCount(link_id=link_id, dimension=dimension, month=month, value=value, clicks=number)
        for (dimension, month, value), number in months.items()
    )


def moment(fact: Fact) -> datetime:
    return datetime.fromisoformat(fact.time).astimezone(UTC)


def click(link_id: int, fact: Fact) -> Click:
    return Click(
        time=moment(fact),
        link_id=link_id,
        kind=fact.kind,
        reason=fact.reason,
        country=fact.country,
        city=fact.city,
        device=fact.device,
        browser=fact.browser,
        language=fact.language,
        region=fact.region,
        operating_system=fact.operating_system,
        referrer=fact.referrer,
        scanned=fact.scanned,
        branch=branch_at(link_id, fact.branch, moment(fact)) if fact.branch else None,
    )


def dimension_values(fact: Fact) -> list[tuple[Dimension, str]]:
    if fact.kind == Kind.REFUSED:
        return [(Dimension.OUTCOME, f"refused:{fact.reason}")]
    if fact.kind != Kind.CLICK:
        return [(Dimension.OUTCOME, fact.kind.name.lower())]
    host = (urlsplit(fact.referrer).hostname or fact.referrer or "direct").removeprefix("www.")
    language = "" if fact.language == "unknown" else f" {fact.language}"
    region = "" if fact.region == "unknown" else f"\t{fact.region}"
    values = [(Dimension.CLIENT, f"{fact.device}\t{fact.operating_system}\t{fact.browser}")]
    if fact.country != "unknown" or language:
        values.append((Dimension.COUNTRY, f"{fact.country}{language}"))
    if fact.city != "unknown" or region:
        values.append((Dimension.CITY, f"{fact.country} {fact.city}{region}"))
    if host != "direct":
        values.append((Dimension.REFERRER, host))
    if fact.scanned:
        values.append((Dimension.SOURCE, "qr"))
    return values
