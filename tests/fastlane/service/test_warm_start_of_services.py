"""A restarted service has the links in memory that visitors followed before."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, eventually

pytestmark = pytest.mark.slow

LINKS, WORKERS, ATTEMPTS = 20, 2, 5
LOADED = f"Worker has {LINKS} links in memory from the start."
ENDED = " links in memory from the start."
_MISSES = re.compile(r'^shortener_destination_lookups_total\{result="miss"\} (\S+)$', re.MULTILINE)


def misses(service: Service) -> float:
    match = _MISSES.search(service.call_internal("/metrics").body.decode())
    return float(match[1]) if match else 0.0


def test_a_restarted_service_looks_up_no_link_that_was_followed_before(
    make_service: Callable[..., Service],
) -> None:
    service = make_service(WEB_CONCURRENCY=str(WORKERS), LOG_LEVEL="INFO", **LONG_TIMEOUTS)
    service.start()
    key = service.owner.api_key
    codes = [service.create_link(key)["shortCode"] for _ in range(LINKS)]
    for code in codes:
        assert service.call("GET", f"/{code}").status == 302
    eventually(lambda: service.call("GET", "/api/urls/stats", X_API_Key=key).json()["totalClicks"] == LINKS)

    assert (WORKERS, 0) in (restart(service, codes) for _ in range(ATTEMPTS))


def restart(service: Service, codes: list[str]) -> tuple[int, float]:
    """Return how many workers have loaded all links, and how many lookups these codes need.

    The loader gives up and caches expire if the machine stops a process for five seconds.
    """
    service.stop()
    # Its output replaces that of the previous start.
    service.start()
    eventually(lambda: service.stderr.count(ENDED) == WORKERS)
    loaded, before = service.stderr.count(LOADED), misses(service)
    assert [service.call("GET", f"/{code}").status for code in codes] == [302] * LINKS
    return loaded, misses(service) - before
