"""Limits and revocations on two hosts of several workers, which share nothing but the database. Over real sockets."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import psycopg
import pytest

from bench.rotations import WORKERS, rotations
from tests.service.hosts import one_to_each_worker, two_hosts
from tests.service.running import REPOSITORY, Connection, Owner, Service

# Calls with the key that was replaced after each of 200 rotations; `make prove-keys` makes a thousand after each.
CALLS = [1000 if number % 40 == 0 else 1 for number in range(200)]
PER_MINUTE = 250


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def hosts(database: str) -> Iterator[list[Service]]:
    limits = {"RATE_LIMIT_ENTERPRISE": "0", "RATE_LIMIT_FREE": str(PER_MINUTE), "RATE_LIMIT_ANONYMOUS": "0"}
    with two_hosts(database, WEB_CONCURRENCY=str(WORKERS), API_CONCURRENCY="0", **limits) as services:
        yield services


@pytest.fixture(scope="module")
def owner(hosts: list[Service]) -> Owner:
    return hosts[0].owner


@pytest.fixture(scope="module", autouse=True)
def token(hosts: list[Service], owner: Owner) -> str:
    """Before any test uses up the owner's attempts."""
    answer = hosts[0].ask("POST", "/api/auth/login", {"email": owner.email, "password": owner.password})
    found: str = answer.json()["token"]
    return found


@pytest.fixture
def everywhere(hosts: list[Service]) -> Iterator[list[Connection]]:
    """One open connection to each worker of each host."""
    with ExitStack() as opened:
        yield [door for host in hosts for door in one_to_each_worker(host, opened)]


def test_after_each_of_two_hundred_rotations_the_old_key_is_dead_everywhere(
    everywhere: list[Connection], token: str
) -> None:
    asked = rotations(everywhere, token, CALLS)

    assert asked == ({401: 5 * 1000 + 195 * len(everywhere)}, {200: 200 * len(everywhere)})


def crowd(hosts: list[Service], count: int, ask: Callable[[Connection], None]) -> Counter[int]:
    """The statuses of so many requests that are under way together, one connection each, on both hosts."""
    with ExitStack() as opened:
        clients = [
            opened.enter_context(closing(Connection(hosts[number % 2].port))) for number in range(count)
        ]
        for client in clients:
            client.connect()
        for client in clients:
            ask(client)
        return Counter(client.hear().status for client in clients)


def test_of_two_hundred_parallel_logins_exactly_the_limit_is_handled(hosts: list[Service]) -> None:
    for email, status in (("owner@localhost", 401), ("nobody@example.com", 401)):

        def log_in(client: Connection, email: str = email) -> None:
            client.say("POST", "/api/auth/login", {"email": email, "password": "wrong"})

        assert crowd(hosts, 200, log_in) == {status: 10, 429: 190}


def free_account(host: Service) -> str:
    """Its key."""
    command = [sys.executable, "manage.py", "create_account", "free@example.com"]
    done = subprocess.run(command, cwd=REPOSITORY, env=host.environment, capture_output=True, check=True)
    return done.stdout.decode().split()[-1]


def test_requests_of_an_account_are_limited_over_all_workers_and_hosts(
    hosts: list[Service], database: str
) -> None:
    key = free_account(hosts[0])

    def ask(client: Connection) -> None:
        client.say("GET", "/api/urls/domains/available", X_API_Key=key)

    assert crowd(hosts, 1, ask) == {200: 1}
    with psycopg.connect(database) as connection:
        # A minute that does not end, however busy this machine is.
        connection.execute("UPDATE accounts_requestcount SET started = started + interval '1 hour'")

    statuses = sum((crowd(hosts, 100, ask) for _ in range(4)), Counter())
    assert statuses == {200: PER_MINUTE - 1, 429: 400 - PER_MINUTE + 1}


def test_fifty_creations_with_one_key_are_one_link(hosts: list[Service], token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Idempotency_Key": "fifty"}
    body = {"originalUrl": "https://example.com/fifty", "password": "so that it takes a while"}

    def create(client: Connection) -> None:
        client.say("POST", "/api/urls", body, **headers)

    statuses = crowd(hosts, 50, create)
    assert set(statuses) <= {201, 409}

    again = [host.ask("POST", "/api/urls", body, **headers) for host in hosts]
    assert [(answer.status, answer.headers["Idempotent-Replayed"]) for answer in again] == [(201, "true")] * 2
    found: dict[str, Any] = (
        hosts[0].ask("GET", "/api/urls?search=fifty", Authorization=f"Bearer {token}").json()
    )
    assert found["data"]["pagination"]["total"] == 1
