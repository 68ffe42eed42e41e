"""Latency of reports for a link with many clicks and for one with few, both over a year."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime, timedelta

from django.db import connection

from accounts.services import rotate_api_key
from bench.harness.results import record
from bench.harness.wsgi_call import Caller
from bench.load.counted_clicks import DAYS, load_clicks
from bench.load.plain_links import plain_links
from links.models import Link

CLICKS = 10_000_000
FEW_CLICKS = 10_000
REQUESTS = 300
LIMIT_MS = 30


def run(clicks: int, rounds: int) -> None:
    """Send ``rounds`` times REQUESTS requests of each kind."""
    few, many = plain_links(2)
    load_clicks([few], FEW_CLICKS)
    load_clicks([many], clicks)
    links = {
        link.pk: link for link in Link.objects.select_related("owner__account").filter(pk__in=[few, many])
    }
    caller = Caller(rotate_api_key(user=links[few].owner.account))
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
    overview: list[str] = []
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
                if not report and name == "whole life":
                    overview.append(f"{size:,} clicks: {statistics.median(times):.1f} ms, p99 {p99:.1f} ms")
                figures.append(
                    f"{size:>10,} clicks {statistics.median(times):6.1f} {p99:6.1f} {rows:>8,} rows{over}"
                )
            print(f"  {report or '/overview':12} {name:18}" + " |".join(figures))
    record("clicks-reports", "; ".join(reversed(overview)))


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
