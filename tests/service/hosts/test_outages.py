"""Cached links keep working during database outages, process crashes and restarts."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from testing.service import processes
from testing.service.clients.memory import status_and_location
from testing.service.clients.visitors import Visitors
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.postgresql.cut_off import dropping_proxy
from testing.service.postgresql.outages import (
    Server,
    database_server,
    unheard_seconds,
    wait_until_hearing,
    wait_until_silent,
)
from testing.service.running import Connection, Service, eventually, listens

pytestmark = pytest.mark.slow

DESTINATION = "https://example.com/page"

# Services start several times, possibly on a busy machine.


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with database_server() as server:
        yield server


@pytest.fixture(scope="module")
def host(server: Server) -> Iterator[Service]:
    with one_host(server.url, WEB_CONCURRENCY="2", **LONG_TIMEOUTS) as service:
        yield service


@pytest.fixture(scope="module")
def owner_key(host: Service) -> str:
    """The API key from the first start, which alone creates the account."""
    return host.owner.api_key


@pytest.fixture
def key(host: Service, owner_key: str) -> str:
    """The API key, once the host has recovered from the previous test."""
    eventually(host.is_healthy)
    return owner_key


def follow(service: Service, code: str) -> tuple[int, str | None]:
    with closing(Connection(service.port)) as connection:
        return status_and_location(connection, code)


def known_links(service: Service, key: str, number: int = 10, **fields: Any) -> list[str]:
    """The codes of new links that the host has followed."""
    codes = [service.create_link(key, **fields)["shortCode"] for _ in range(number)]
    for code in codes:
        assert follow(service, code)[0] in (302, 401, 403)
    return codes


def is_unready_without_changes(service: Service) -> bool:
    response = service.call_internal("/readyz")
    return response.status == 503 and response.json()["changes"].startswith("none heard for ")


def test_flapping_database_does_not_affect_cached_links(server: Server, host: Service, key: str) -> None:
    codes = known_links(host, key)
    unseen = host.create_link(key)["shortCode"]
    with Visitors(host.port, codes, DESTINATION).running() as visitors:
        for _ in range(2):
            with server.away():
                wait_until_silent(host)
                visitors.follow_more()
                assert {follow(host, code)[0] for code in (unseen, "neverSeen")} == {503}
                assert host.call("GET", "/readyz").status == 503
            # Stop the database again as soon as the host has had contact with it.
            wait_until_hearing(host)
    assert visitors.failures == []


def test_cached_links_survive_killed_and_reloaded_workers(server: Server, host: Service, key: str) -> None:
    codes = known_links(host, key)
    with server.away():
        before = host.workers()
        for worker in before:
            os.kill(worker, signal.SIGKILL)
        eventually(lambda: len(host.accepting()) == 2 and not set(before) & set(host.workers()))
        assert [follow(host, code) for code in codes] == [(302, DESTINATION)] * len(codes)

        before = host.workers()
        host.signal(signal.SIGHUP)
        eventually(lambda: not any(map(processes.is_alive, before)) and len(host.accepting()) == 2)
        assert [follow(host, code) for code in codes] == [(302, DESTINATION)] * len(codes)
        assert follow(host, "neverSeen")[0] == 503


def test_service_started_without_database_serves_cached_links(
    server: Server, host: Service, key: str
) -> None:
    plain = known_links(host, key)
    (locked,) = known_links(host, key, 1, password="secret")
    (elsewhere,) = known_links(host, key, 1, restrictions={"allowedCountries": ["NZ"]})
    (capped,) = known_links(host, key, 1, restrictions={"maxClicks": 5})
    deleted = host.create_link(key)
    assert follow(host, deleted["shortCode"])[0] == 302
    assert host.call("DELETE", f"/api/urls/{deleted['_id']}", X_API_Key=key).status == 200
    with server.away():
        assert host.stop() == 0
        host.launch()
        eventually(lambda: listens(host.port))
        eventually(lambda: follow(host, plain[0]) == (302, DESTINATION))
        assert [follow(host, code) for code in plain] == [(302, DESTINATION)] * len(plain)
        assert [follow(host, code)[0] for code in (locked, elsewhere, capped)] == [401, 403, 503]
        assert [follow(host, code)[0] for code in (deleted["shortCode"], "neverSeen")] == [503, 503]
        assert host.call("GET", "/healthz").status == 200
        assert host.call("GET", "/readyz").status == 503
        assert host.call("GET", "/api/urls", X_API_Key=key).status == 503
        assert "Waiting for the database: " in host.stderr
    eventually(host.is_healthy)
    # The process that has prepared the database writes this when it ends, after the first requests.
    eventually(lambda: f"Serving http://localhost:{host.port}" in host.stdout)
    assert follow(host, deleted["shortCode"])[0] == 404
    assert host.create_link(key)["isActive"] is True
    eventually(lambda: processes.children(host.serve(), "drain_clicks"))


def test_changes_that_have_reached_a_host_hold_without_the_database(
    server: Server, host: Service, key: str
) -> None:
    kept, edited, deleted = (host.create_link(key) for _ in range(3))
    codes = [link["shortCode"] for link in (kept, edited, deleted)]
    with one_host(server.url, **LONG_TIMEOUTS) as other:
        assert [follow(other, code)[0] for code in codes] == [302] * 3
        disabled = host.call("PUT", f"/api/urls/{edited['_id']}", {"isActive": False}, X_API_Key=key)
        assert disabled.status == 200
        assert host.call("DELETE", f"/api/urls/{deleted['_id']}", X_API_Key=key).status == 200
        eventually(lambda: [follow(other, code)[0] for code in codes] == [302, 410, 404])
        with server.away():
            wait_until_silent(other)
            assert [follow(other, code)[0] for code in codes] == [302, 410, 503]
            assert other.stop() == 0
            other.launch()
            eventually(lambda: listens(other.port))
            eventually(lambda: [follow(other, code)[0] for code in codes] == [302, 410, 503])


def test_cached_links_expire_after_stale_seconds(server: Server, key: str, host: Service) -> None:
    code = host.create_link(key)["shortCode"]
    with one_host(server.url, STALE_SECONDS="12", **LONG_TIMEOUTS) as service:
        assert follow(service, code) == (302, DESTINATION)
        with server.away():
            wait_until_silent(service, 6)
            responses = [follow(service, code)[0]]
            if unheard_seconds(service) < 11:
                assert responses == [302]
            eventually(lambda: follow(service, code)[0] == 503)
            assert unheard_seconds(service) > 12


def test_disconnected_host_is_unready_and_catches_up_after_reconnecting(
    server: Server, host: Service, key: str
) -> None:
    link = host.create_link(key)
    code = link["shortCode"]
    with dropping_proxy(server.url) as proxy, one_host(proxy.url) as cut_off:
        # With its usual time limits, a busy machine may respond with 503 at first.
        eventually(lambda: follow(cut_off, code) == (302, DESTINATION))
        eventually(cut_off.is_healthy)
        with proxy.silent():
            changed = host.call("PUT", f"/api/urls/{link['_id']}", {"isActive": False}, X_API_Key=key)
            assert changed.status == 200
            wait_until_silent(cut_off, 5)
            assert cut_off.call("GET", "/readyz").status == 503
            assert cut_off.call("GET", "/healthz").status == 200
            # The host cannot know of the change and must keep serving the link.
            assert follow(cut_off, code) == (302, DESTINATION)
            assert follow(cut_off, "neverSeen")[0] == 503
        eventually(lambda: follow(cut_off, code)[0] == 410)
        eventually(cut_off.is_healthy)


def test_host_with_frozen_listener_is_unready_and_reads_the_database(
    server: Server, host: Service, key: str
) -> None:
    link = host.create_link(key)
    code = link["shortCode"]
    with one_host(server.url, **LONG_TIMEOUTS) as other:
        assert follow(other, code) == (302, DESTINATION)
        follower = other.child("follow_changes")
        os.kill(follower, signal.SIGSTOP)
        changed = host.call("PUT", f"/api/urls/{link['_id']}", {"isActive": False}, X_API_Key=key)
        assert changed.status == 200
        eventually(lambda: follow(other, code)[0] == 410)
        # On a busy machine, it may be unready for another reason, too.
        eventually(lambda: is_unready_without_changes(other))
        os.kill(follower, signal.SIGCONT)
        eventually(other.is_healthy)
