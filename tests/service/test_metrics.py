"""The sums of all processes, however often they are replaced."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.service import processes
from tests.service.hosts import one_host
from tests.service.running import Connection, Service, eventually

WORKERS = 3


def watched_host(database: str) -> AbstractContextManager[Service]:
    return one_host(database, WEB_CONCURRENCY=str(WORKERS - 1), API_CONCURRENCY="1")


@pytest.fixture(scope="module")
def watched(make_database: Callable[[], str]) -> Iterator[Service]:
    with watched_host(make_database()) as service:
        yield service


@pytest.fixture
def untouched(make_database: Callable[[], str]) -> Iterator[Service]:
    """Nobody else has followed a link of it, whose visits would be told, and counted, some time afterwards."""
    with watched_host(make_database()) as service:
        yield service


def metric(service: Service, name: str, **labels: str) -> float:
    """Summed over its other labels."""
    answer = service.ask("GET", "/metrics")
    assert answer.status == 200
    return sum(
        sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
        if sample.name == f"shortener_{name}" and labels.items() <= sample.labels.items()
    )


def files(service: Service) -> list[str]:
    return sorted(path.name for path in (service.var_dir / "metrics").iterdir())


def test_what_every_process_does_is_in_one_sum_and_survives_it(untouched: Service) -> None:
    key = untouched.owner.api_key
    calls = metric(untouched, "api_request_seconds_count")
    code = untouched.create_link(key)["shortCode"]
    redirects = 0

    def follow(times: int) -> None:
        nonlocal redirects
        connections = [Connection(untouched.port) for _ in range(times)]
        for connection in connections:
            connection.say("GET", f"/{code}")
        for connection in connections:
            assert connection.hear().status == 302
            connection.close()
        redirects += times

    follow(30)
    eventually(lambda: metric(untouched, "redirects_total") == redirects)
    eventually(lambda: metric(untouched, "click_records_drained_total") == redirects)
    eventually(lambda: metric(untouched, "journal_backlog_bytes") == 0)
    before = files(untouched)
    for _ in range(10):
        victim = untouched.workers()[0]
        os.kill(victim, signal.SIGKILL)
        eventually(lambda gone=victim: not processes.is_alive(gone) and len(untouched.workers()) == WORKERS)
        follow(5)
        # The fast lane hands over its sums once a second.
        eventually(lambda: metric(untouched, "redirects_total") == redirects)
    os.kill(untouched.child("drain_clicks"), signal.SIGKILL)
    follow(5)
    eventually(lambda: metric(untouched, "click_records_drained_total") == redirects)
    eventually(lambda: metric(untouched, "redirects_total") == redirects)
    assert metric(untouched, "api_request_seconds_count") == calls + 1
    # No more than were there at once: while one is replaced, the next may be there already.
    assert len(files(untouched)) <= len(before) + 3


def test_graceful_renewal_of_all_workers_forgets_nothing(watched: Service) -> None:
    eventually(lambda: len(watched.workers()) == WORKERS)
    before = metric(watched, "api_request_seconds_count")
    old = set(watched.workers())
    for _ in range(12):
        assert watched.ask("GET", "/api/urls").status == 401
    watched.signal(signal.SIGHUP)
    eventually(lambda: len(watched.workers()) == WORKERS and not old & set(watched.workers()))
    assert metric(watched, "api_request_seconds_count") == before + 12


def test_a_burst_on_a_link_that_a_worker_does_not_know_is_one_look_up(watched: Service) -> None:
    code = watched.create_link(watched.owner.api_key)["shortCode"]
    before = metric(watched, "destination_lookups_total", result="miss")
    with ExitStack() as opened:
        connections = [opened.enter_context(closing(Connection(watched.port))) for _ in range(100)]
        for connection in connections:
            connection.say("GET", f"/{code}")
        assert {connection.hear().status for connection in connections} == {302}
    assert 1 <= metric(watched, "destination_lookups_total", result="miss") - before <= WORKERS - 1


def test_a_link_that_the_database_decides_about_is_looked_up_once_for_each_visit(watched: Service) -> None:
    link = watched.create_link(watched.owner.api_key, restrictions={"maxClicks": 10})
    before = metric(watched, "destination_lookups_total", result="miss")
    with closing(Connection(watched.port)) as connection:
        statuses = [connection.ask("GET", f"/{link['shortCode']}").status for _ in range(12)]
    assert statuses == [302] * 10 + [410] * 2
    # And once by the worker that learns to hand it on: the connection comes back to one or the other.
    assert metric(watched, "destination_lookups_total", result="miss") - before - 12 in range(1, WORKERS)


def test_a_proxy_on_this_machine_does_not_open_it_to_the_world(watched: Service) -> None:
    assert watched.ask("GET", "/metrics", X_Forwarded_For="203.0.113.1").status == 404
    with closing(Connection(watched.port)) as connection:
        assert connection.ask("GET", "/metrics", Host="go.customer.example").status == 404


def test_a_service_that_ends_leaves_nothing_behind(make_service: Callable[..., Service]) -> None:
    service = make_service()
    service.start()
    assert metric(service, "database_up") == 1
    assert files(service) != []
    assert service.stop() == 0
    assert not (service.var_dir / "metrics").exists()
