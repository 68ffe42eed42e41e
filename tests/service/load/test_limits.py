"""Limits and revocations on two hosts of several workers, which share nothing but the database. Over real sockets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import psycopg
import pytest

from testing.service.clients.rotations import WORKERS, rotations
from testing.service.hosts import one_to_each_worker, two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Connection, Owner, Service

pytestmark = pytest.mark.slow

# Calls with the key that was replaced after each of 200 rotations; `make prove-keys` makes a thousand after each.
CALLS = [1000, *[1] * 199]
PER_MINUTE = 250


@pytest.fixture(scope="module")
def hosts(database: str) -> Iterator[list[Service]]:
    limits = {"RATE_LIMIT_ENTERPRISE": "0", "RATE_LIMIT_FREE": str(PER_MINUTE), "RATE_LIMIT_ANONYMOUS": "0"}
    with two_hosts(
        database, WEB_CONCURRENCY=str(WORKERS), API_CONCURRENCY="0", **limits, **LONG_TIMEOUTS
    ) as services:
        yield services


@pytest.fixture(scope="module")
def owner(hosts: list[Service]) -> Owner:
    return hosts[0].owner


@pytest.fixture(scope="module", autouse=True)
def token(hosts: list[Service], owner: Owner) -> str:
    """A token from a login before any test uses up the owner's attempts."""
    response = hosts[0].call("POST", "/api/auth/login", {"email": owner.email, "password": owner.password})
    token: str = response.json()["token"]
    return token


@pytest.fixture
def connections(hosts: list[Service]) -> Iterator[list[Connection]]:
    """One open connection to each worker of each host."""
    with ExitStack() as opened:
        yield [connection for host in hosts for connection in one_to_each_worker(host, opened)]


def test_each_of_two_hundred_rotations_invalidates_the_old_key_on_every_worker(
    connections: list[Connection], token: str
) -> None:
    statuses = rotations(connections, token, CALLS)

    assert statuses == ({401: 1000 + 199 * len(connections)}, {200: 200 * len(connections)})


def concurrent_statuses(
    hosts: list[Service], count: int, request: Callable[[Connection], None]
) -> Counter[int]:
    """The statuses of ``count`` concurrent requests, one connection each, on both hosts."""
    with ExitStack() as opened:
        clients = [
            opened.enter_context(closing(Connection(hosts[number % 2].port))) for number in range(count)
        ]
        for client in clients:
            client.connect_for_later()
        for client in clients:
            request(client)
        return Counter(client.receive().status for client in clients)


def _status_of(client: Connection, request: Callable[[Connection], None]) -> int:
    request(client)
    return client.receive().status


def test_of_two_hundred_parallel_logins_exactly_the_limit_is_handled(hosts: list[Service]) -> None:
    for email, status in (("owner@localhost", 401), ("nobody@example.com", 401)):

        def log_in(client: Connection, email: str = email) -> None:
            client.send_request("POST", "/api/auth/login", {"email": email, "password": "wrong"})

        statuses = concurrent_statuses(hosts, 200, log_in)
        assert statuses.keys() <= {status, 429}
        # Logins above the hashing limit are refused, too, and use no attempt.
        with closing(Connection(hosts[0].port)) as client:
            later = [_status_of(client, log_in) for _ in range(12)]
        assert statuses[status] + later.count(status) == 10
        assert later[-1] == 429


def free_account(host: Service) -> str:
    """The key of an account of the free plan."""
    return host.manage("create_account", "free@example.com").stdout.split()[-1]


def test_requests_of_an_account_are_limited_over_all_workers_and_hosts(
    hosts: list[Service], database: str
) -> None:
    key = free_account(hosts[0])

    def request(client: Connection) -> None:
        client.send_request("GET", "/api/urls/domains/available", X_API_Key=key)

    assert concurrent_statuses(hosts, 1, request) == {200: 1}
    with psycopg.connect(database) as connection:
        # The minute must not end during the test, however busy this machine is.
        connection.execute("UPDATE limits_requestcount SET started = started + interval '1 hour'")

    statuses = sum((concurrent_statuses(hosts, 100, request) for _ in range(4)), Counter())
    assert statuses == {200: PER_MINUTE - 1, 429: 400 - PER_MINUTE + 1}


def test_fifty_creations_with_one_key_are_one_link(hosts: list[Service], token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Idempotency_Key": "fifty"}
    body = {"originalUrl": "https://example.com/fifty", "password": "so that it takes a while"}

    def create(client: Connection) -> None:
        client.send_request("POST", "/api/urls", body, **headers)

    statuses = concurrent_statuses(hosts, 50, create)
    assert set(statuses) <= {201, 409}

    again = [host.call("POST", "/api/urls", body, **headers) for host in hosts]
    assert [(response.status, response.headers["Idempotent-Replayed"]) for response in again] == [
        (201, "true")
    ] * 2
    page: dict[str, Any] = (
        hosts[0].call("GET", "/api/urls?search=fifty", Authorization=f"Bearer {token}").json()
    )
    assert page["data"]["pagination"]["total"] == 1
