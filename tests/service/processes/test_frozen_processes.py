"""Processes that freeze: in the middle of a transaction, for good, or with their whole host, as a paused VM does."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from testing.service.frozen import audit, follow, frozen_in_a_transaction, host_frozen_in_transactions
from testing.service.hosts import one_host, two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, clicks_of, eventually

pytestmark = pytest.mark.slow

ALL = [
    "drain_clicks",
    "housekeeping",
    "follow_changes",
    "recheck_domains",
    "check_destinations",
    "deliver_events",
]
# The database ends an idle transaction after 10 seconds; the machine may be busy. Without that limit, the delay would
# last until the process continues.
SECONDS = 120


@pytest.mark.parametrize("commands", [["drain_clicks"], ALL], ids=["the drainer", "all background processes"])
def test_a_frozen_transaction_delays_requests_for_seconds_and_loses_no_click(
    service: Service, api_key: str, commands: list[str]
) -> None:
    counted, deleted = service.create_link(api_key), service.create_link(api_key)
    capped = service.create_link(api_key, restrictions={"maxClicks": 100})
    for link in (counted, deleted):
        follow(service, link, 5)
        eventually(lambda link=link: clicks_of(service, api_key, link) == 5)

    with frozen_in_a_transaction(service, deleted, commands) as pids:
        started = time.monotonic()
        body = {"originalUrl": "https://example.com/made-meanwhile"}
        eventually(lambda: service.call("POST", "/api/urls", body, X_API_Key=api_key).status == 201)
        path = f"/api/urls/{counted['_id']}"
        eventually(lambda: service.call("PUT", path, {"isActive": False}, X_API_Key=api_key).status == 200)
        eventually(lambda: service.call("PUT", path, {"isActive": True}, X_API_Key=api_key).status == 200)
        eventually(
            lambda: service.call("DELETE", f"/api/urls/{deleted['_id']}", X_API_Key=api_key).status == 200
        )
        eventually(lambda: service.call("GET", f"/{capped['shortCode']}").status == 302)
        assert time.monotonic() - started < SECONDS
        follow(service, counted, 7)

    eventually(lambda: clicks_of(service, api_key, counted) == 12)
    assert clicks_of(service, api_key, capped) == 1
    assert [service.child(command) for command in commands] == pids
    assert audit(service) == "0 differences.\n"


def test_a_frozen_host_delays_the_others_for_seconds_and_loses_no_click(
    make_database: Callable[[], str],
) -> None:
    with two_hosts(make_database(), **LONG_TIMEOUTS) as (frozen, other):
        key = frozen.owner.api_key
        followed, edited, counted = (frozen.create_link(key) for _ in range(3))
        for host, link in ((frozen, followed), (other, counted)):
            follow(host, link, 5)
            eventually(lambda link=link: clicks_of(other, key, link) == 5)

        with host_frozen_in_transactions(frozen, key, followed, edited) as follows:
            started = time.monotonic()
            body = {"originalUrl": "https://example.com/made-meanwhile"}
            eventually(lambda: other.call("POST", "/api/urls", body, X_API_Key=key).status == 201)
            path = f"/api/urls/{edited['_id']}"
            eventually(lambda: other.call("PUT", path, {"isActive": False}, X_API_Key=key).status == 200)
            assert other.call("GET", f"/{edited['shortCode']}").status == 410
            follow(other, counted, 7)
            eventually(lambda: clicks_of(other, key, counted) == 12)
            assert time.monotonic() - started < SECONDS

        eventually(lambda: clicks_of(other, key, followed) == 5 + follows)
        eventually(frozen.is_healthy)
        follow(frozen, counted, 1)
        eventually(lambda: clicks_of(other, key, counted) == 13)
        assert audit(other) == "0 differences.\n"


@pytest.fixture
def watchful(make_database: Callable[[], str]) -> Iterator[Service]:
    """A host whose processes may be silent for 15 seconds, five of them in a statement."""
    with one_host(
        make_database(),
        **LONG_TIMEOUTS | {"SILENCE_SECONDS": "10", "STATEMENT_TIMEOUT_MS": "5000", "API_CONCURRENCY": "1"},
    ) as service:
        yield service


def test_frozen_processes_are_replaced_and_counted(watchful: Service) -> None:
    key = watchful.owner.api_key
    link = watchful.create_link(key)
    frozen = {command: watchful.child(command) for command in [*ALL, "gunicorn"]}
    for pid in frozen.values():
        os.kill(pid, signal.SIGSTOP)
    follow(watchful, link, 5)

    eventually(lambda: all(watchful.child(command) != pid for command, pid in frozen.items()))
    eventually(watchful.is_healthy)
    follow(watchful, link, 2)
    eventually(lambda: clicks_of(watchful, key, link) == 7)
    samples = watchful.call_internal("/metrics").body.decode()
    others = ("re-check of domains", "check of destinations", "delivery of events")
    for process in ("web server", "listener", "click drainer", "housekeeping", *others):
        silent = f'shortener_process_restarts_total{{process="{process}",reason="silent"}} 1.0'
        assert silent in samples
        assert f'shortener_process_silent_seconds{{process="{process}"}}' in samples
        assert f"The {process} has shown no sign of life for " in watchful.stderr
    assert audit(watchful) == "0 differences.\n"


def test_processes_that_wait_or_work_are_not_replaced(watchful: Service) -> None:
    """The periods of housekeeping and the re-check are longer than they may be silent."""
    pids = [watchful.child(command) for command in [*ALL, "gunicorn"]]
    started = time.monotonic()
    eventually(lambda: time.monotonic() > started + 18)

    assert [watchful.child(command) for command in [*ALL, "gunicorn"]] == pids
    assert "sign of life" not in watchful.stderr


def test_a_host_that_stood_still_replaces_no_process(watchful: Service) -> None:
    pids = [watchful.child(command) for command in [*ALL, "gunicorn"]]
    supervisor = watchful.serve()
    others = [pid for pid in watchful.processes() if pid != supervisor]
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    # The supervisor stands still a little later, when it has seen the others' last signs of life.
    eventually(lambda: time.monotonic() > started + 2)
    os.kill(supervisor, signal.SIGSTOP)
    eventually(lambda: time.monotonic() > started + 20)
    for pid in [supervisor, *others]:
        os.kill(pid, signal.SIGCONT)

    link = eventually(lambda: watchful.is_healthy() and watchful.create_link(watchful.owner.api_key))
    follow(watchful, link, 3)
    eventually(lambda: clicks_of(watchful, watchful.owner.api_key, link) == 3)
    assert [watchful.child(command) for command in [*ALL, "gunicorn"]] == pids
    assert "sign of life" not in watchful.stderr


def test_a_drainer_that_dies_in_a_loop_makes_the_host_unready_until_it_runs_again(watchful: Service) -> None:
    key = watchful.owner.api_key
    link = watchful.create_link(key)
    with psycopg.connect(watchful.environment["DATABASE_URL"], autocommit=True) as database:
        database.execute("ALTER TABLE analytics_rawclick RENAME TO gone")
        follow(watchful, link, 3)
        eventually(lambda: watchful.call("GET", "/readyz").status == 503)
        assert watchful.call_internal("/readyz").json()["clicks"] == "the click drainer keeps dying"
        assert watchful.call("GET", f"/{link['shortCode']}").status == 302
        database.execute("ALTER TABLE gone RENAME TO analytics_rawclick")
    eventually(lambda: watchful.call("GET", "/readyz").status == 200)
    assert clicks_of(watchful, key, link) == 4
