"""How long reports take for a link with many clicks and for one with few, both over a year."""

from __future__ import annotations

import random
import statistics
import time
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction

from accounts.services import rotate_api_key
from analytics.facts import Facts
from analytics.life_counts import close_days
from analytics.models import DayTotal, Kind
from analytics.partitions import ensure_partitions
from analytics.rollups import add_to_tables
from bench.plain_links import plain_links
from bench.wsgi_call import Caller
from common.countries import COUNTRY_CODES
from links.models import Link

CLICKS = 10_000_000
FEW_CLICKS = 10_000
DAYS = 365
REQUESTS = 300
LIMIT_MS = 30


def run(clicks: int, rounds: int) -> None:
    """``rounds`` times 300 requests of each kind, in turns."""
    few, many = plain_links(2)
    _load(few, FEW_CLICKS)
    _load(many, clicks)
    links = {link.pk: link for link in Link.objects.select_related("owner").filter(pk__in=[few, many])}
    caller = Caller(rotate_api_key(user=links[few].owner))
    today = datetime.now(UTC).date()
    ranges = {
        "whole life": {},
        "a year by dates": {"startDate": today - timedelta(days=DAYS), "endDate": today},
        "30 days": {"startDate": today - timedelta(days=30), "endDate": today},
        "30 days in Tokyo": {
            "startDate": today - timedelta(days=30),
            "endDate": today,
            "timezone": "Asia/Tokyo",
        },
        "7 days by hour": {"startDate": today - timedelta(days=6), "endDate": today, "interval": "hour"},
    }
    print(f"{rounds} x {REQUESTS} requests each; milliseconds: median, p99; rows read")
    for report in ("", "/devices", "/geographic"):
        for name, query in ranges.items():
            if report and "hour" in name:
                continue
            figures = []
            for pk, size in ((few, FEW_CLICKS), (many, clicks)):
                path = f"/api/analytics/{links[pk].public_id}{report}"
                rows = _rows_read(caller, path, query)
                times = [_request(caller, path, query) for _ in range(rounds * REQUESTS)]
                p99 = statistics.quantiles(times, n=100)[98]
                over = "  OVER" if p99 > LIMIT_MS else ""
                figures.append(
                    f"{size:>10,} clicks {statistics.median(times):6.1f} {p99:6.1f} {rows:>8,} rows{over}"
                )
            print(f"  {report or '/overview':12} {name:18}" + " |".join(figures))


def _request(caller: Caller, path: str, query: dict[str, object]) -> float:
    status, _, seconds = caller.get(path, **query)
    assert status == 200
    return seconds * 1000


def _rows_read(caller: Caller, path: str, query: dict[str, object]) -> int:
    def read() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
            cursor.execute(
                "SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname LIKE 'analytics%%')"
                " + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname LIKE 'analytics%%')"
            )
            return int(cursor.fetchone()[0])

    caller.get(path, **query)
    before = read()
    caller.get(path, **query)
    time.sleep(0.1)
    return read() - before


def _load(link_id: int, clicks: int) -> None:
    """By the pipeline's own statements, day after day."""
    if DayTotal.objects.filter(link_id=link_id).exists():
        return
    ensure_partitions()
    chance, started = random.Random(link_id), time.perf_counter()
    now = datetime.now(UTC)
    for day in range(DAYS):
        share = clicks * (day + 1) // DAYS - clicks * day // DAYS
        start = int((now - timedelta(days=DAYS - 1 - day)).timestamp()) * 1_000_000
        with transaction.atomic():
            add_to_tables(_day(link_id, share, start, chance))
    ensure_partitions()
    close_days()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
    print(f"{clicks:,} clicks loaded in {time.perf_counter() - started:.0f} s")


def _day(link_id: int, clicks: int, start: int, chance: random.Random) -> list[Facts]:
    countries = chance.choices(
        sorted(COUNTRY_CODES), [1 / (n + 1) for n in range(len(COUNTRY_CODES))], k=clicks
    )
    cities = chance.choices(range(30), [1 / (n + 1) for n in range(30)], k=clicks)
    sites = chance.choices(range(300), [1 / (n + 1) for n in range(300)], k=clicks)
    agents = chance.choices(range(12), [1 / (n + 1) for n in range(12)], k=clicks)
    return [
        Facts(
            time=start - chance.randrange(3_600) * 1_000_000, link_id=link_id, kind=Kind.CLICK, counted=False,
            reason="", country=country, city=f"City {city}", device=("mobile", "desktop", "tablet")[agent % 3],
            browser=f"Browser {agent}", operating_system=f"System {agent % 7}",
            referrer=f"https://site{site}.example/", referrer_host=f"site{site}.example", visitor=None,
        )
        for country, city, site, agent in zip(countries, cities, sites, agents, strict=True)
    ]  # fmt: skip
