"""Cached links are never stale, on one host or several, and remain available during a database outage."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from testing.service.clients.memory import CHANGES, UNCHANGED, expected, status_and_location, without
from testing.service.clients.visitors import MovingVisitors, Visitors
from testing.service.hosts import WorkerConnection, one_to_each_worker, two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Response, Service, eventually

pytestmark = pytest.mark.slow

WORKERS = 2
ROUNDS = 60
DESTINATION = "https://example.com/page"


@pytest.fixture(scope="module")
def hosts(database: str) -> Iterator[list[Service]]:
    options = {"WEB_CONCURRENCY": str(WORKERS), "API_CONCURRENCY": "1", **LONG_TIMEOUTS}
    with two_hosts(database, **options) as services:
        yield services


@pytest.fixture(scope="module")
def api(hosts: list[Service]) -> Callable[..., Response]:
    key = hosts[0].owner.api_key

    def call(method: str, path: str, body: Any = None) -> Response:
        response = hosts[0].call(method, path, body, X_API_Key=key)
        assert response.status in (200, 201), response
        return response

    return call


@pytest.fixture
def connections(hosts: list[Service]) -> Iterator[list[list[WorkerConnection]]]:
    """Connect for each host to each redirect worker."""
    with ExitStack() as opened:
        yield [one_to_each_worker(service, opened) for service in hosts]


def return_to_workers(connections: list[WorkerConnection]) -> None:
    """Call it before a change, so that the next requests are not delayed."""
    for connection in connections:
        connection.return_to_worker()


def test_no_worker_serves_a_stale_link_after_the_change_response(
    api: Callable[..., Response], connections: list[list[WorkerConnection]]
) -> None:
    here, there = connections
    link = api("POST", "/api/urls", {"originalUrl": DESTINATION, "customCode": "changing"}).json()["data"][
        "url"
    ]
    stale = []
    fields = dict(UNCHANGED)
    draw = random.Random(20261121)
    for number in range(ROUNDS):
        change = draw.choice(CHANGES)
        fields |= change
        return_to_workers(here)
        api("PUT", f"/api/urls/{link['_id']}", change)
        response = expected(fields, DESTINATION)
        for code in (link["shortCode"], "changing"):
            return_to_workers(here)
            stale += [
                (number, change, status_and_location(connection, code))
                for connection in here
                if status_and_location(connection, code) != response
            ]
            for connection in there:
                eventually(
                    lambda connection=connection, code=code, response=response: (
                        status_and_location(connection, code) == response
                    )
                )
    assert stale == []


def test_no_visitor_is_led_to_a_former_target_after_the_change_response(
    hosts: list[Service], api: Callable[..., Response]
) -> None:
    """Under load. Another host learns of the change a little later, and never goes back to a former target."""
    link = api("POST", "/api/urls", {"originalUrl": f"{DESTINATION}/0"}).json()["data"]["url"]
    here, there = (MovingVisitors(host.port, link["shortCode"]) for host in hosts)
    responded = [time.monotonic()]
    with here.running(), there.running():
        for number in range(1, ROUNDS):
            api("PUT", f"/api/urls/{link['_id']}", {"targetUrl": f"{DESTINATION}/{number}"})
            responded.append(time.monotonic())
        for host in (here, there):
            eventually(lambda host=host: host.are_at(ROUNDS - 1))
    for visits in here.visits:
        former = [
            (sent, number)
            for sent, number in visits
            if number < sum(moment <= sent for moment in responded) - 1
        ]
        assert former == []
    for visits in there.visits:
        numbers = [number for _, number in visits]
        assert numbers == sorted(numbers)


def test_creation_and_deletion_take_effect_on_every_worker_with_the_response(
    api: Callable[..., Response], connections: list[list[WorkerConnection]]
) -> None:
    here, there = connections
    for number in range(ROUNDS // 3):
        code = f"brief{number}"
        assert [status_and_location(connection, code)[0] for connection in here] == [404] * WORKERS
        return_to_workers(here)
        link = api("POST", "/api/urls", {"originalUrl": DESTINATION, "customCode": code}).json()["data"][
            "url"
        ]
        assert [status_and_location(connection, code) for connection in here] == [
            (302, DESTINATION)
        ] * WORKERS
        for connection in there:
            eventually(
                lambda connection=connection, code=code: status_and_location(connection, code)[0] == 302
            )
        return_to_workers(here)
        api("DELETE", f"/api/urls/{link['_id']}")
        assert [status_and_location(connection, code)[0] for connection in here] == [404] * WORKERS
        for connection in there:
            eventually(
                lambda connection=connection, code=code: status_and_location(connection, code)[0] == 404
            )


def test_cached_links_work_without_the_database_and_changes_apply_after_it(
    database: str,
    hosts: list[Service],
    api: Callable[..., Response],
    connections: list[list[WorkerConnection]],
) -> None:
    links = [api("POST", "/api/urls", {"originalUrl": DESTINATION}).json()["data"]["url"] for _ in range(20)]
    unseen = api("POST", "/api/urls", {"originalUrl": DESTINATION}).json()["data"]["url"]
    here, _ = connections
    for link in links:
        assert [status_and_location(connection, link["shortCode"])[0] for connection in here] == [
            302
        ] * WORKERS
    codes = [link["shortCode"] for link in links]

    with Visitors(hosts[0].port, codes, DESTINATION).running() as visitors:
        with without(database):
            visitors.follow_more()
            assert {status_and_location(connection, unseen["shortCode"])[0] for connection in here} == {503}
            assert {status_and_location(connection, "neverseen")[0] for connection in here} == {503}
            visitors.follow_more()
        eventually(lambda: status_and_location(here[0], unseen["shortCode"])[0] == 302)
        assert visitors.failures == []
    api("PUT", f"/api/urls/{links[0]['_id']}", {"isActive": False})
    assert [status_and_location(connection, codes[0])[0] for connection in here] == [410] * WORKERS
    assert {status_and_location(connection, "neverseen")[0] for connection in here} == {404}
    for connection in connections[1]:
        eventually(lambda connection=connection: status_and_location(connection, codes[0])[0] == 410)
