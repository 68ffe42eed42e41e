from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPException
from pathlib import Path

from tests.service import processes
from tests.service.running import Connection, Service, eventually


@contextmanager
def visitors(service: Service, path: str) -> Iterator[list[object]]:
    """Some who keep their connection and some who open one for each request, all the while; gives what they got."""
    results: list[object] = []
    enough = threading.Event()

    def visit(keep: bool) -> None:
        with closing(Connection(service.port)) as connection:
            while not enough.is_set():
                try:
                    results.append(connection.ask("GET", path).status)
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


def test_a_killed_master_is_replaced_and_no_visitor_notices(service: Service, api_key: str) -> None:
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


def test_visitors_who_come_while_there_is_no_web_server_are_answered_by_the_next_one(
    service: Service,
) -> None:
    master = service.gunicorn()
    os.killpg(master, signal.SIGKILL)
    eventually(lambda: not processes.is_alive(master))
    connections = [Connection(service.port) for _ in range(20)]
    try:
        for connection in connections:
            connection.say("GET", "/healthz")
        assert [connection.hear().status for connection in connections] == [200] * 20
    finally:
        for connection in connections:
            connection.close()
    assert service.gunicorn() != master


def test_a_killed_worker_is_replaced(service: Service) -> None:
    master, before = service.gunicorn(), service.workers()
    os.kill(before[0], signal.SIGKILL)
    eventually(lambda: before[0] not in service.workers() and len(service.workers()) == 2)
    assert service.gunicorn() == master
    assert service.ask("GET", "/healthz").status == 200


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
        assert service.ask("GET", f"/{link['shortCode']}").status == 302
    eventually(lambda: service.child("drain_clicks") != before)

    def clicks() -> int:
        answer = service.ask("GET", f"/api/analytics/{link['_id']}", X_API_Key=api_key)
        return answer.json()["data"]["totalClicks"]

    eventually(lambda: clicks() >= 20)
    assert clicks() == 20
    assert "The click drainer died: killed by SIGKILL. Starting it again in " in service.stderr


def test_a_killed_database_server_comes_back_with_its_data(service: Service, api_key: str) -> None:
    code = service.create_link(api_key)["shortCode"]
    before = service.postmaster()
    assert before is not None
    os.kill(before, signal.SIGKILL)
    eventually(lambda: service.postmaster() not in (before, None))
    eventually(lambda: service.ask("GET", "/readyz").status == 200)
    # Every thread of every worker finds its old connection dead, and nobody is the wiser.
    assert [service.ask("GET", f"/{code}").status for _ in range(40)] == [302] * 40
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


def test_nothing_outlives_a_killed_supervisor_and_the_next_start_works(
    service: Service, api_key: str
) -> None:
    code = service.create_link(api_key)["shortCode"]
    service.signal(signal.SIGKILL)
    assert service.exit_code() == -signal.SIGKILL
    eventually(lambda: service.processes() == [])
    service.start()
    assert service.ask("GET", f"/{code}").status == 302


def test_the_database_stops_even_if_the_supervisor_is_killed_while_a_child_is_to_be_started_again(
    service: Service,
) -> None:
    # Stopped, it cannot start the housekeeping again, which would have stopped the database.
    service.signal(signal.SIGSTOP)
    os.kill(service.child("housekeeping"), signal.SIGKILL)
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
                    answer = connection.ask("POST", "/api/urls", body, X_API_Key=api_key)
                except (OSError, HTTPException):
                    return
                if answer.status == 201:
                    acknowledged.append(answer.json()["data"]["url"]["shortCode"])

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(acknowledged) > 100)
    service.kill_everything()
    for thread in threads:
        thread.join()
    service.start()
    with closing(Connection(service.port)) as connection:
        assert {connection.ask("HEAD", f"/{code}").status for code in acknowledged} == {302}


def test_a_web_server_that_cannot_start_ends_the_service_with_a_reason(
    make_service: Callable[..., Service], tmp_path: Path
) -> None:
    (tmp_path / "gunicorn").mkdir()
    (tmp_path / "gunicorn" / "__init__.py").write_text("")
    (tmp_path / "gunicorn" / "__main__.py").write_text("raise SystemExit('This installation is broken.')")
    service = make_service(PYTHONPATH=str(tmp_path))
    service.launch()
    assert service.exit_code() == 1
    assert service.stderr.splitlines()[-1] == "CommandError: the web server keeps dying: exit status 1"
    assert "Traceback" not in service.stderr
    assert service.processes() == []
