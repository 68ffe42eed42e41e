"""The latency of the requests that the dashboard sends, over one connection to the whole service."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing

from testing.service.connection import Connection

WARM_UP = 5
LIMIT_MS = 100


def slowest_p99(port: int, token: str, requests: Mapping[str, str], rounds: int) -> float:
    """Send each request ``rounds`` times and print its figures. Returns the highest p99 in milliseconds."""
    highest = 0.0
    for path, view in requests.items():
        times = sorted(_times(port, token, path, rounds))
        median, p99 = times[len(times) // 2], times[int(0.99 * len(times))]
        over = "  OVER" if p99 >= LIMIT_MS else ""
        print(f"{median:8.1f} {p99:8.1f}{over}  /dashboard/{view}  {path}", flush=True)
        highest = max(highest, p99)
    return highest


def _times(port: int, token: str, path: str, rounds: int) -> list[float]:
    times = []
    with closing(Connection(port)) as connection:
        for _ in range(WARM_UP + rounds):
            started = time.perf_counter()
            response = connection.call("GET", path, Authorization=f"Bearer {token}")
            times.append((time.perf_counter() - started) * 1000)
            # 400: the overview of more links than can be added up.
            if response.status not in (200, 400):
                raise SystemExit(f"{path}: {response.status}")
    return times[WARM_UP:]
