"""Counted clicks of a year, as the pipeline stores them."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction

from analytics.counting.closed_days import close_days
from analytics.counting.enrichment import Facts
from analytics.counting.raw_clicks import ClickTexts
from analytics.counting.retention import ensure_partitions
from analytics.counting.rollups import add_to_tables
from analytics.models import DayTotal, Dimension, Kind
from common.countries import COUNTRY_CODES

DAYS = 365


def load_clicks(links: Sequence[int], clicks: int, hours: int = 1) -> None:
    """Insert clicks on random ones of the links with the pipeline's own statements, day by day, unless they are there.

    ``hours``: those of a day that have clicks.
    """
    if DayTotal.objects.filter(link_id__in=links[:100]).exists():
        return
    ensure_partitions()
    random_source, started = random.Random(links[0]), time.perf_counter()
    now = datetime.now(UTC)
    for day in range(DAYS):
        share = clicks * (day + 1) // DAYS - clicks * day // DAYS
        start = int((now - timedelta(days=DAYS - 1 - day)).timestamp()) * 1_000_000
        with transaction.atomic():
            add_to_tables(_day(links, share, start, hours, random_source), 0, ClickTexts())
    ensure_partitions()
    close_days()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
    print(f"{clicks:,} clicks loaded in {time.perf_counter() - started:.0f} s")


def _client(agent: int) -> str:
    return f"{('mobile', 'desktop', 'tablet')[agent % 3]}\tSystem {agent % 7}\tBrowser {agent}"


def _day(
    links: Sequence[int], clicks: int, start: int, hours: int, random_source: random.Random
) -> list[Facts]:
    countries = random_source.choices(
        sorted(COUNTRY_CODES), [1 / (n + 1) for n in range(len(COUNTRY_CODES))], k=clicks
    )
    cities = random_source.choices(range(30), [1 / (n + 1) for n in range(30)], k=clicks)
    sites = random_source.choices(range(300), [1 / (n + 1) for n in range(300)], k=clicks)
    agents = random_source.choices(range(12), [1 / (n + 1) for n in range(12)], k=clicks)
    return [
        Facts(
            time=start - random_source.randrange(3_600 * hours) * 1_000_000, link_id=random_source.choice(links),
            kind=Kind.CLICK, counted=False,
            scanned=False, reason="", place=f"{country} City {city}", visitor=None, branch_number=0,
            client=_client(agent), referrer=f"https://site{site}.example/", keys=(
                f"{Dimension.CLIENT:d}{_client(agent)}", f"1{country}", f"2{country} City {city}",
                f"4site{site}.example",
            ),
        )
        for country, city, site, agent in zip(countries, cities, sites, agents, strict=True)
    ]  # fmt: skip
