"""Time from a redirect until its click is in the link's clickCount and in every report, on the whole service."""

from __future__ import annotations

import http.client
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from django.db import connection

from accounts.services import rotate_api_key
from bench.harness.results import record
from bench.harness.running import served
from bench.load.plain_links import plain_links
from links.models import Link

CLICKS = 100
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


def run(clicks: int, rounds: int) -> None:
    """Time ``clicks`` times ``rounds`` clicks, one at a time."""
    links = Link.objects.select_related("owner__account").filter(pk__in=plain_links(1))
    [link] = links
    key = rotate_api_key(user=link.owner.account)
    connection.close()
    with served() as (port, _):
        times = _times(port, key, link, clicks * rounds)
    print(
        f"{len(times)} clicks; milliseconds until each was in clickCount and all three reports: "
        f"median {statistics.median(times):.0f}, max {max(times):.0f}"
    )
    record(
        "clicks-visible",
        f"{statistics.median(times):.0f} ms, at most {max(times):.0f} ms ({len(times)} clicks)",
    )


def _times(port: int, key: str, link: Link, clicks: int) -> list[float]:
    def get(path: str, **headers: str) -> tuple[int, bytes]:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        client.request("GET", path, headers={"User-Agent": AGENT, **headers})
        response = client.getresponse()
        return response.status, response.read()

    def data(path: str) -> Any:
        return json.loads(get(path, **{"X-API-Key": key})[1])["data"]

    def total(items: list[dict[str, int]]) -> int:
        return sum(item["clicks"] for item in items)

    report = f"/api/analytics/{link.public_id}"
    counts: list[Callable[[], int]] = [
        lambda: data(f"/api/urls/{link.public_id}")["url"]["clickCount"],
        lambda: data(report)["totalClicks"],
        lambda: total(data(f"{report}/devices")["devices"]),
        lambda: total(data(f"{report}/geographic")["countries"]),
    ]
    expected = [count() for count in counts]
    times = []
    for _ in range(clicks):
        assert get(f"/{link.short_code}")[0] == 302
        started = time.perf_counter()
        expected = [number + 1 for number in expected]
        while [count() for count in counts] != expected:
            assert time.perf_counter() - started < 10
        times.append((time.perf_counter() - started) * 1000)
    return times
