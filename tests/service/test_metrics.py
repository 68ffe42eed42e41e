"""Metric totals over all processes survive the replacement of processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing

import pytest
from prometheus_client.parser import text_string_to_metric_families

from testing.service import processes
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import DEADLINE, REPOSITORY, Connection, Service, eventually

pytestmark = pytest.mark.slow

WORKERS = 3
# The drainer, the change listener, housekeeping and the domain re-check.
OTHER_PROCESSES = 4


def watched_host(database: str) -> AbstractContextManager[Service]:
    return one_host(database, WEB_CONCURRENCY=str(WORKERS - 1), API_CONCURRENCY="1", **LONG_TIMEOUTS)


@pytest.fixture(scope="module")
def monitored(make_database: Callable[[], str]) -> Iterator[Service]:
    with watched_host(make_database()) as service:
        yield service


@pytest.fixture
def fresh_service(make_database: Callable[[], str]) -> Iterator[Service]:
    """A service without earlier visits, which workers would report late, while a test counts its own."""
    with watched_host(make_database()) as service:
        yield service


def metric(service: Service, name: str, **labels: str) -> float:
    """The metric's sum over all other labels."""
    response = service.call_internal("/metrics")
    assert response.status == 200
    return sum(
        sample.value
        for family in text_string_to_metric_families(response.body.decode())
        for sample in family.samples
        if sample.name == f"shortener_{name}" and labels.items() <= sample.labels.items()
    )


def reach(service: Service, name: str, value: float) -> None:
    """Wait for the metric's value. Workers flush theirs once a second, and each response adds up many files."""
    eventually(lambda: metric(service, name) == value, every=0.2)


def files(service: Service) -> list[str]:
    return sorted(path.name for path in (service.var_dir / "metrics").iterdir())


def test_metrics_add_up_all_processes_and_survive_their_end(fresh_service: Service) -> None:
    key = fresh_service.owner.api_key
    calls = metric(fresh_service, "api_request_seconds_count")
    code = fresh_service.create_link(key)["shortCode"]
    redirects = 0

    def follow(times: int) -> None:
        nonlocal redirects
        connections = [Connection(fresh_service.port) for _ in range(times)]
        for connection in connections:
            connection.send_request("GET", f"/{code}")
        for connection in connections:
            assert connection.receive().status == 302
            connection.close()
        redirects += times

    def wait_until_drained() -> None:
        # The drainer counts a batch after the commit, which empties the backlog.
        reach(fresh_service, "click_records_drained_total", redirects)
        reach(fresh_service, "journal_backlog_bytes", 0)

    follow(30)
    reach(fresh_service, "redirects_total", redirects)
    wait_until_drained()
    before = files(fresh_service)
    for _ in range(10):
        worker = fresh_service.workers()[0]
        os.kill(worker, signal.SIGKILL)
        eventually(lambda pid=worker: not processes.is_alive(pid) and len(fresh_service.workers()) == WORKERS)
        follow(5)
        reach(fresh_service, "redirects_total", redirects)
    wait_until_drained()
    os.kill(fresh_service.child("drain_clicks"), signal.SIGKILL)
    follow(5)
    wait_until_drained()
    reach(fresh_service, "redirects_total", redirects)
    assert metric(fresh_service, "api_request_seconds_count") == calls + 1
    # The next process uses the three files of an ended one. Other processes may have written their first metrics.
    assert len(files(fresh_service)) <= len(before) + 3 * OTHER_PROCESSES


def test_reload_keeps_metric_totals(monitored: Service) -> None:
    eventually(lambda: len(monitored.workers()) == WORKERS)
    before = metric(monitored, "api_request_seconds_count")
    old = set(monitored.workers())
    for _ in range(12):
        assert monitored.call("GET", "/api/urls").status == 401
    monitored.signal(signal.SIGHUP)
    eventually(lambda: len(monitored.workers()) == WORKERS and not old & set(monitored.workers()))
    assert metric(monitored, "api_request_seconds_count") == before + 12


def test_concurrent_requests_for_an_uncached_link_share_one_lookup(monitored: Service) -> None:
    code = monitored.create_link(monitored.owner.api_key)["shortCode"]
    before = metric(monitored, "destination_lookups_total", result="miss")
    with ExitStack() as opened:
        connections = [opened.enter_context(closing(Connection(monitored.port))) for _ in range(100)]
        for connection in connections:
            connection.send_request("GET", f"/{code}")
        assert {connection.receive().status for connection in connections} == {302}
    assert 1 <= metric(monitored, "destination_lookups_total", result="miss") - before <= WORKERS - 1


def test_a_link_with_a_limit_is_looked_up_once_by_each_worker_and_for_each_refusal(
    monitored: Service,
) -> None:
    link = monitored.create_link(monitored.owner.api_key, restrictions={"maxClicks": 10})
    before = metric(monitored, "destination_lookups_total", result="miss")
    with closing(Connection(monitored.port)) as connection:
        statuses = [connection.call("GET", f"/{link['shortCode']}").status for _ in range(12)]
    assert statuses == [302] * 10 + [410] * 2
    # An API worker refuses, and the connection returns to either redirect worker.
    assert metric(monitored, "destination_lookups_total", result="miss") - before - 2 in range(1, WORKERS)


def test_local_proxy_does_not_expose_metrics(monitored: Service) -> None:
    assert monitored.call("GET", "/metrics", X_Forwarded_For="203.0.113.1").status == 404
    with closing(Connection(monitored.port)) as connection:
        assert connection.call("GET", "/metrics", Host="go.customer.example").status == 404


def count_and_die(service: Service, redirects: int) -> None:
    """Act like a process of the service that has counted and was killed."""
    program = f"from common.host import metrics; metrics.count_redirects('killed', '302', {redirects})"
    subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, env=service.environment, check=True, timeout=DEADLINE
    )


def test_a_second_service_that_is_refused_does_not_change_the_totals(monitored: Service) -> None:
    count_and_die(monitored, 1000)
    assert metric(monitored, "redirects_total", lane="killed") == 1000

    refused = monitored.manage("serve")

    assert (refused.returncode, "Cannot listen on" in refused.stderr) == (1, True)
    assert metric(monitored, "redirects_total", lane="killed") == 1000


def test_totals_start_at_zero_after_the_service_was_killed(fresh_service: Service) -> None:
    fresh_service.kill_everything()
    # The next supervisor continues in these files while it starts.
    count_and_die(fresh_service, 1000)
    fresh_service.start()
    assert metric(fresh_service, "redirects_total", lane="killed") == 0


def test_a_service_that_cannot_share_its_metrics_does_not_start(fresh_service: Service) -> None:
    assert fresh_service.stop() == 0
    folder = fresh_service.var_dir / "metrics"
    folder.mkdir()
    (folder / "counter_0.new").symlink_to(folder / "missing" / "file")

    refused = fresh_service.manage("serve")

    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith("error: Cannot create the metrics folder: ")
    assert not folder.exists()


def test_stopped_service_leaves_no_metric_files(make_database: Callable[[], str]) -> None:
    with one_host(make_database(), **LONG_TIMEOUTS) as service:
        assert metric(service, "database_up") == 1
        assert files(service) != []
        assert service.stop() == 0
        assert not (service.var_dir / "metrics").exists()
