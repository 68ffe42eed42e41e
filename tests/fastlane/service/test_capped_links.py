"""Redirect workers claim the clicks of links with ``maxClicks`` in groups, and each is exact."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from testing.service.hosts import two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Connection, Response, Service, clicks_of, eventually
from testing.visitors.agents import FIREFOX

pytestmark = pytest.mark.slow

DESTINATION = "https://example.com/capped"
THREADS, VISITS = 8, 60
CAPS = (1, 37, 10_000)


@pytest.fixture(scope="module")
def hosts(make_database: Callable[[], str]) -> Iterator[list[Service]]:
    with two_hosts(make_database(), WEB_CONCURRENCY="2", API_CONCURRENCY="1", **LONG_TIMEOUTS) as services:
        yield services


@pytest.fixture(scope="module")
def api_key(hosts: list[Service]) -> str:
    return hosts[0].owner.api_key


def make_link(service: Service, api_key: str, **restrictions: Any) -> dict[str, Any]:
    return service.create_link(api_key, originalUrl=DESTINATION, restrictions=restrictions)


def get(connection: Connection, link: dict[str, Any], **headers: str) -> Response:
    return connection.call("GET", f"/{link['shortCode']}", **{"User_Agent": FIREFOX, **headers})


def test_concurrent_visitors_of_two_hosts_get_exactly_the_clicks_of_each_link(
    hosts: list[Service], api_key: str
) -> None:
    links = [make_link(hosts[0], api_key, maxClicks=cap) for cap in CAPS]
    barrier = threading.Barrier(THREADS)

    def follow(thread: int) -> list[tuple[int, int]]:
        with closing(Connection(hosts[thread % 2].port)) as connection:
            barrier.wait()
            return [
                (number, get(connection, links[number]).status)
                for visit in range(VISITS)
                for number in [(visit + thread) % len(links)]
            ]

    with ThreadPoolExecutor(THREADS) as pool:
        statuses = Counter(result for results in pool.map(follow, range(THREADS)) for result in results)

    visits = THREADS * VISITS // len(CAPS)
    expected = {(number, 302): min(cap, visits) for number, cap in enumerate(CAPS)}
    expected |= {(number, 410): visits - cap for number, cap in enumerate(CAPS) if cap < visits}
    assert statuses == expected
    for cap, link in zip(CAPS, links, strict=True):
        assert clicks_of(hosts[0], api_key, link) == min(cap, visits)
    eventually(lambda: clicks_reported(hosts[0], api_key, links) == [min(cap, visits) for cap in CAPS])


def clicks_reported(service: Service, api_key: str, links: list[dict[str, Any]]) -> list[int]:
    return [
        service.call("GET", f"/api/analytics/{link['_id']}", X_API_Key=api_key).json()["data"]["totalClicks"]
        for link in links
    ]


def test_the_limit_takes_effect_with_the_response_that_changes_it(hosts: list[Service], api_key: str) -> None:
    link = make_link(hosts[0], api_key, maxClicks=2)
    path = f"/api/urls/{link['_id']}"

    def statuses_after(change: dict[str, Any]) -> list[int]:
        assert hosts[0].call("PUT", path, change, X_API_Key=api_key).status == 200
        with closing(Connection(hosts[0].port)) as connection:
            return [get(connection, link).status for _ in range(3)]

    assert statuses_after({}) == [302, 302, 410]
    assert statuses_after({"restrictions": {"maxClicks": 4}}) == [302, 302, 410]
    assert statuses_after({"restrictions": {"maxClicks": 9}, "isActive": False}) == [410, 410, 410]
    assert statuses_after({"isActive": True}) == [302, 302, 302]
    assert statuses_after({"restrictions": {"maxClicks": 8, "maxClicksPerVisitor": 1}}) == [302, 410, 410]


def test_only_clicks_are_claimed_and_learn_the_destination(hosts: list[Service], api_key: str) -> None:
    link = make_link(hosts[0], api_key, maxClicks=1)
    with closing(Connection(hosts[0].port)) as connection:
        # The first one brings the link into memory.
        for _ in range(2):
            response = get(connection, link, Sec_Purpose="prefetch")
            assert (response.status, response.headers["Location"]) == (200, None)
        assert clicks_of(hosts[0], api_key, link) == 0
        response = get(connection, link)
        assert (response.status, response.headers["Location"]) == (302, DESTINATION)
        assert response.headers["Cache-Control"] == "no-store"
        assert get(connection, link).status == 410


def test_links_that_also_restrict_their_visitors_refuse_without_a_claim(
    hosts: list[Service], api_key: str
) -> None:
    link = make_link(hosts[0], api_key, maxClicks=1, allowedDevices=["mobile"])
    with closing(Connection(hosts[0].port)) as connection:
        for _ in range(3):
            assert get(connection, link).status == 403
        assert clicks_of(hosts[0], api_key, link) == 0
        mobile = "Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0"
        assert [get(connection, link, User_Agent=mobile).status for _ in range(2)] == [302, 410]
