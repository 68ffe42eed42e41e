from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPException

import pytest

from testing.service import processes
from testing.service.connection import ReusedConnection
from testing.service.running import Connection, Service, eventually

pytestmark = pytest.mark.slow


@contextmanager
def visitors(service: Service, path: str) -> Iterator[list[object]]:
    """Visitors with keep-alive connections and with a connection per request. Yields their responses."""
    results: list[object] = []
    enough = threading.Event()

    def visit(keep: bool) -> None:
        with closing(ReusedConnection(service.port)) as connection:
            while not enough.is_set():
                try:
                    results.append(connection.follow(path).status)
                except (OSError, HTTPException) as error:
                    results.append(error)
                    connection.close()
                if not keep:
                    connection.close()

    threads = [threading.Thread(target=visit, args=(keep,)) for keep in (True, True, False, False)]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: len(results) > 20)
        yield results
    finally:
        enough.set()
        for thread in threads:
            thread.join()


def test_killed_gunicorn_master_is_replaced_without_failed_requests(service: Service, api_key: str) -> None:
    code = service.create_link(api_key)["shortCode"]
    master, workers = service.gunicorn(), service.workers()
    with visitors(service, f"/{code}") as results:
        os.kill(master, signal.SIGKILL)
        eventually(lambda: service.gunicorn() != master and len(service.workers()) == 2)
        eventually(lambda: not any(map(processes.is_alive, workers)))
        served = len(results)
        eventually(lambda: len(results) > served + 50)
    assert set(results) == {302}
    assert "The web server died: killed by SIGKILL. Starting it again in " in service.stderr


def test_connections_during_a_web_server_restart_are_served(
    service: Service,
) -> None:
    master = service.gunicorn()
    # These die with the group. An API worker is in another one, and ends later.
    killed = [master, *service.accepting()]
    os.killpg(master, signal.SIGKILL)
    eventually(lambda: not any(map(processes.is_alive, killed)))
    connections = [Connection(service.port) for _ in range(20)]
    try:
        for connection in connections:
            connection.send_request("GET", "/healthz")
        assert [connection.receive().status for connection in connections] == [200] * 20
    finally:
        for connection in connections:
            connection.close()
    assert service.gunicorn() != master


def test_a_killed_worker_is_replaced(service: Service) -> None:
    master, before = service.gunicorn(), service.workers()
    os.kill(before[0], signal.SIGKILL)
    eventually(lambda: before[0] not in service.workers() and len(service.workers()) == 2)
    assert service.gunicorn() == master
    assert service.call("GET", "/healthz").status == 200


def test_killed_housekeeping_is_replaced(service: Service) -> None:
    master, before = service.gunicorn(), service.child("housekeeping")
    os.kill(before, signal.SIGKILL)
    eventually(lambda: service.child("housekeeping") != before)
    assert service.gunicorn() == master
    assert "The housekeeping died: killed by SIGKILL. Starting it again in " in service.stderr


def test_a_killed_click_drainer_is_replaced_and_every_click_counted_once(
    service: Service, api_key: str
) -> None:
    link = service.create_link(api_key)
    before = service.child("drain_clicks")
    os.kill(before, signal.SIGKILL)
    for _ in range(20):
        assert service.call("GET", f"/{link['shortCode']}").status == 302
    eventually(lambda: service.child("drain_clicks") != before)

    def clicks() -> int:
        response = service.call("GET", f"/api/analytics/{link['_id']}", X_API_Key=api_key)
        return response.json()["data"]["totalClicks"]

    eventually(lambda: clicks() >= 20)
    assert clicks() == 20
    assert "The click drainer died: killed by SIGKILL. Starting it again in " in service.stderr


def test_a_killed_database_server_is_restarted_with_its_data(service: Service, api_key: str) -> None:
    code = service.create_link(api_key)["shortCode"]
    before = service.postmaster()
    assert before is not None
    os.kill(before, signal.SIGKILL)
    eventually(lambda: service.postmaster() not in (before, None))
    eventually(lambda: service.call("GET", "/readyz").status == 200)
    # Every thread finds its connection broken and reconnects without a failed request.
    assert [service.call("GET", f"/{code}").status for _ in range(40)] == [302] * 40
    assert service.create_link(api_key)["isActive"] is True


def test_a_reload_replaces_every_worker_and_fails_no_request(service: Service, api_key: str) -> None:
    code = service.create_link(api_key)["shortCode"]
    master, before = service.gunicorn(), service.workers()
    with visitors(service, f"/{code}") as results:
        service.signal(signal.SIGHUP)
        eventually(lambda: len(service.workers()) == 2 and not set(before) & set(service.workers()))
        eventually(lambda: not any(map(processes.is_alive, before)))
        served = len(results)
        eventually(lambda: len(results) > served + 50)
    assert set(results) == {302}
    assert service.gunicorn() == master


def test_all_processes_end_with_a_killed_supervisor_and_the_next_start_works(
    service: Service, api_key: str
) -> None:
    code = service.create_link(api_key)["shortCode"]
    service.signal(signal.SIGKILL)
    assert service.exit_code() == -signal.SIGKILL
    eventually(lambda: service.processes() == [])
    service.start()
    assert service.call("GET", f"/{code}").status == 302


def test_the_database_stops_even_if_the_supervisor_is_killed_while_a_child_is_to_be_started_again(
    service: Service,
) -> None:
    # The supervisor may not have started it yet.
    housekeeping = service.child("housekeeping")
    # A stopped supervisor cannot restart housekeeping, which would have stopped the database.
    service.signal(signal.SIGSTOP)
    os.kill(housekeeping, signal.SIGKILL)
    service.signal(signal.SIGKILL)
    eventually(lambda: service.processes() == [])


def test_after_everything_is_killed_the_next_start_has_every_link_that_was_acknowledged(
    service: Service, api_key: str
) -> None:
    acknowledged: list[str] = []

    def create() -> None:
        with closing(Connection(service.port)) as connection:
            while True:
                body = {"originalUrl": "https://example.com/kept"}
                try:
                    response = connection.call("POST", "/api/urls", body, X_API_Key=api_key)
                except (OSError, HTTPException):
                    return
                if response.status == 201:
                    acknowledged.append(response.json()["data"]["url"]["shortCode"])

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(acknowledged) > 100)
    service.kill_everything()
    for thread in threads:
        thread.join()
    service.start()
    with closing(Connection(service.port)) as connection:
        assert {connection.call("HEAD", f"/{code}").status for code in acknowledged} == {302}


def test_a_web_server_that_cannot_start_ends_the_service_with_a_reason(
    make_service: Callable[..., Service],
) -> None:
    service = make_service(GUNICORN_CMD_ARGS="--chdir=/nonexistent")
    service.launch()
    assert service.exit_code() == 1
    assert service.stderr.splitlines()[-1] == "CommandError: the web server keeps dying: exit status 1"
    assert "Traceback" not in service.stderr
    assert service.processes() == []
