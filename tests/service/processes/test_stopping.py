from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from local_postgres import EmbeddedPostgres
from testing.programs import program
from testing.service import processes
from testing.service.hosts import SECRET_KEY
from testing.service.postgresql.preparation import preparation_held
from testing.service.running import Connection, Service, eventually

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "send_stop",
    [
        pytest.param(lambda service: service.signal(signal.SIGTERM), id="SIGTERM"),
        pytest.param(lambda service: service.signal_group(signal.SIGTERM), id="SIGTERM-to-the-group"),
        pytest.param(lambda service: service.signal_group(signal.SIGINT), id="Ctrl-C"),
    ],
)
def test_stopping_finishes_the_requests_under_way_and_leaves_nothing_running(
    service: Service, api_key: str, send_stop: Callable[[Service], None]
) -> None:
    code = service.create_link(api_key)["shortCode"]
    logged_before = len(service.stderr)
    database = psycopg.connect(EmbeddedPostgres(service.var_dir).url, autocommit=True)
    with database, closing(Connection(service.port)) as upload, closing(Connection(service.port)) as visit:
        body = b'{"originalUrl": "https://example.com/slow"}'
        upload.putrequest("POST", "/api/urls")
        for name, value in {"X-API-Key": api_key, "Content-Type": "application/json"}.items():
            upload.putheader(name, value)
        upload.putheader("Content-Length", str(len(body)))
        upload.endheaders(body[:10])
        eventually(lambda: service.worker_of(upload))
        with database.transaction():
            database.execute("LOCK TABLE links_clickcounter")
            visit.send_request("GET", f"/{code}")
            # A reader: the visit. The drainer may also wait, to write earlier clicks.
            waiting = "SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessShareLock'"
            eventually(lambda: database.execute(waiting).fetchone() is not None)
            send_stop(service)
            eventually(lambda: "Handling signal: term" in service.stderr)
            assert service.process.poll() is None
        upload.send(body[10:])
        followed, created = visit.receive(), upload.receive()
    assert (followed.status, followed.headers["Location"]) == (302, "https://example.com/page")
    assert (created.status, created.json()["success"]) == (201, True)
    assert service.exit_code() == 0
    assert service.processes() == []
    assert "ERROR" not in service.stderr[logged_before:]


def test_second_stop_signal_changes_nothing(service: Service) -> None:
    service.signal(signal.SIGTERM)
    eventually(lambda: "Handling signal: term" in service.stderr)
    service.signal(signal.SIGTERM)
    service.signal(signal.SIGINT)
    assert service.exit_code() == 0
    assert service.processes() == []


def test_it_stops_while_the_web_server_is_only_starting(service: Service) -> None:
    service.stop()
    service.launch()
    eventually(lambda: processes.children(service.process.pid, "gunicorn"))
    assert service.stop() == 0
    assert service.processes() == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_it_stops_while_it_waits_for_its_turn_to_prepare_the_database(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str], number: int, status: int
) -> None:
    url = make_empty_database()
    service = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    with preparation_held(url) as wait_for_blocked:
        service.launch()
        wait_for_blocked(1)
        service.signal_group(number)
        assert service.exit_code() == status
        wait_for_blocked(0)
    assert (service.stdout, service.stderr) == ("", "")
    assert service.processes() == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_it_stops_during_a_migration(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str], number: int, status: int
) -> None:
    url = make_empty_database()
    service = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(url) as holder, psycopg.connect(url, autocommit=True) as observer:
        # The migration that creates this table waits for the end of the transaction.
        holder.execute("CREATE TABLE django_content_type ()")
        service.launch()
        waiting = f"SELECT {others} AND wait_event_type = 'Lock'"
        eventually(lambda: observer.execute(waiting).fetchone() is not None)
        service.signal_group(number)
        assert service.exit_code() == status
        holder.rollback()
        # The server notices that the client has gone; only the holder's session stays.
        eventually(lambda: observer.execute(f"SELECT count(*) {others}").fetchone() == (1,))
        tables = "SELECT count(*) FROM pg_class WHERE relname = 'django_content_type'"
        assert observer.execute(tables).fetchone() == (0,)
    assert (service.stdout, service.stderr) == ("", "")
    assert service.processes() == []


def suspended_at(make_service: Callable[..., Service], pattern: str) -> Service:
    """A service in its first start, suspended while there is a file with this path, and before it serves."""
    for _ in range(10):
        service = make_service()

        def is_there(service: Service = service) -> bool:
            # A matching folder may be renamed at this moment.
            with suppress(FileNotFoundError):
                return any(service.var_dir.glob(pattern))
            return False

        service.launch()
        eventually(lambda is_there=is_there, service=service: is_there() or service.stdout, every=0.01)
        service.signal(signal.SIGSTOP)
        eventually(lambda service=service: processes.is_stopped(service.process.pid), every=0.01)
        if is_there() and not service.stdout:
            return service
        # This process was stopped meanwhile. Try again with another service.
        service.kill_everything()
    raise AssertionError(f"No service could be suspended at {pattern}.")


@pytest.mark.parametrize(
    "pattern",
    ["postgres/initdb-*/data/PG_VERSION", "postgres/data/postmaster.pid"],
    ids=["initdb", "postmaster.pid"],
)
def test_it_stops_while_the_embedded_database_is_being_made_and_the_next_start_works(
    make_service: Callable[..., Service], pattern: str
) -> None:
    service = suspended_at(make_service, pattern)
    service.signal_group(signal.SIGTERM)
    service.signal(signal.SIGCONT)
    assert service.exit_code() == 143
    assert (service.stdout, service.stderr) == ("", "")
    assert service.processes() == []
    service.start()
    assert service.create_link(service.owner.api_key)["isActive"] is True


def test_ctrl_c_stops_make_run_and_everything_it_has_started(service: Service) -> None:
    program("make")
    service.stop()
    # Skip the installation: this environment also runs the tests.
    environment = Path(sys.prefix)
    service.start("make", f"--old-file={environment}/.run", f"VENV={environment}", "run")
    assert service.serve() != service.process.pid
    service.signal_group(signal.SIGINT)
    # make's own exit status, which reports the interrupt.
    assert service.exit_code() != 0
    assert service.processes() == []
    assert f"Serving http://localhost:{service.port} (" in service.stdout
    assert "Traceback" not in service.stderr
