"""Reports that read months show the same as reports that read every day."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from analytics.counting.closed_days import close_days
from analytics.models import BusyMonth, ClosedDay, Kind, LifeCount, MonthCount
from testing.analytics.facts import Fact, record
from tests.analytics.reading import report

ZONES = ["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia"]
LIFE_DAYS = 150


def random_facts(chance: random.Random, first: datetime) -> list[Fact]:
    return [
        Fact(
            (first + timedelta(seconds=chance.randrange(LIFE_DAYS * 86_400))).isoformat(),
            chance.choice(["DE", "FR", "unknown"]),
            chance.choice(["Berlin", "Bonn", "unknown"]),
            chance.choice(["desktop", "mobile"]),
            chance.choice(["Firefox", "Chrome"]),
            referrer=chance.choice(["", "https://a.example/x"]),
            visitor=chance.choice("abc"),
            kind=chance.choice([Kind.CLICK, Kind.CLICK, Kind.HEAD]),
        )
        for _ in range(400)
    ]


def everything(api: APIClient, link: str, **query: object) -> list[dict[str, Any]]:
    return [report(api, link, part, **query) for part in ("", "/devices", "/geographic")]


def forget_everything_closed() -> None:
    for model in (MonthCount, BusyMonth, LifeCount, ClosedDay):
        model.objects.all().delete()
    ClosedDay.objects.create(day=date(1970, 1, 1))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.slow
def test_any_range_shows_the_same_as_its_days(api: APIClient, link: str, zone: str, seed: int) -> None:
    chance = random.Random(seed)
    first = datetime(2026, 1, 10, tzinfo=UTC)
    ages = sorted(chance.sample(range(-20, LIFE_DAYS + 20), 6))
    bounds = [(first + timedelta(days=age)).date().isoformat() for age in ages]
    ranges = [(start, end) for start in bounds for end in bounds if start < end]
    closed = (first + timedelta(days=chance.randrange(60, LIFE_DAYS))).date()
    record(link, random_facts(chance, first), closed=closed.isoformat())
    quiet_months = chance.sample(sorted(BusyMonth.objects.values_list("month", flat=True)), 2)
    BusyMonth.objects.filter(month__in=quiet_months).delete()
    MonthCount.objects.filter(month__in=quiet_months).delete()
    with CaptureQueriesContext(connection) as captured:
        shown = [everything(api, link, startDate=start, endDate=end, timezone=zone) for start, end in ranges]
    texts = [query["sql"] for query in captured.captured_queries]
    assert any("analytics_monthcount" in text and "analytics_lifecount" not in text for text in texts)
    assert any("analytics_monthcount" in text and "analytics_lifecount" in text for text in texts)

    forget_everything_closed()
    assert shown == [
        everything(api, link, startDate=start, endDate=end, timezone=zone) for start, end in ranges
    ]


@pytest.mark.parametrize("days", [80, LIFE_DAYS + 40])
def test_no_report_starts_parallel_workers(api: APIClient, link: str, days: int) -> None:
    """Months, then lifetime counts."""
    first = datetime(2026, 1, 10, tzinfo=UTC)
    record(link, random_facts(random.Random(7), first))
    query = {"startDate": first.date(), "endDate": (first + timedelta(days=days)).date()}
    with CaptureQueriesContext(connection) as captured:
        report(api, link, "/geographic", **query)
    statement = captured.captured_queries[-1]["sql"]
    assert ("analytics_lifecount" if days > LIFE_DAYS else "analytics_monthcount") in statement
    with connection.cursor() as cursor:
        for setting in ("parallel_setup_cost", "parallel_tuple_cost"):
            cursor.execute(f"SET LOCAL {setting} = 0")
        cursor.execute(f"EXPLAIN {statement}")
        plan = [line for (line,) in cursor.fetchall()]
    assert [line for line in plan if "Gather" in line or "Parallel" in line] == []


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
@pytest.mark.parametrize("ages", [(89, 0), (89, 5), (140, 3), (25, 1)])
def test_days_that_close_before_the_report_reads_its_figures_count_once(
    api: APIClient, link: str, zone: str, ages: tuple[int, int]
) -> None:
    now = datetime.now(UTC)
    facts = random_facts(random.Random(7), now - timedelta(days=LIFE_DAYS))
    record(link, facts, closed=(now - timedelta(days=10)).date().isoformat())
    start, end = (now - timedelta(days=age) for age in ages)
    query = {"startDate": start.date(), "endDate": end.date(), "timezone": zone}
    before = everything(api, link, **query)
    closed: list[date] = []

    def close_after_planning(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if "analytics_busymonth" in sql and not closed:
            closed.append(ClosedDay.objects.get().day)
            close_days(busy=1)
        return result

    with connection.execute_wrapper(close_after_planning):
        assert everything(api, link, **query) == before
    [before_closing] = closed
    assert before_closing < ClosedDay.objects.get().day
