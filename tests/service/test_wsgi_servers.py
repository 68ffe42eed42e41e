"""The service in other WSGI servers than its own: each serves the internal paths on its internal listener alone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from testing.service.connection import Connection
from testing.service.hosts import SECRET_KEY
from testing.service.limits import LIMITS_OFF
from testing.service.running import REPOSITORY, Service, clicks_of, eventually, free_port

pytestmark = pytest.mark.slow

GUNICORN = (sys.executable, "-m", "gunicorn", "--config", "shortener_project/gunicorn_conf.py")
RUNSERVER = (sys.executable, "manage.py", "runserver", "--noreload", "--skip-checks")


class Server(NamedTuple):
    port: int
    internal_port: int


@contextmanager
def running(environment: dict[str, str], *commands: Sequence[str], ports: Sequence[int]) -> Iterator[None]:
    with ExitStack() as stack:
        processes = []
        for command in commands:
            process = stack.enter_context(
                subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL)
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            processes.append(process)
        for port in ports:
            eventually(lambda port=port: is_healthy(port) or any(process.poll() for process in processes))
        yield


def is_healthy(port: int) -> bool:
    with suppress(OSError):
        return status(port, "/healthz") == 200
    return False


def status(port: int, path: str, **headers: str) -> int:
    with closing(Connection(port)) as connection:
        return connection.call("GET", path, **headers).status


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


def environment_of(database: str, folder: str, port: int, **changed: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": database,
        "SECRET_KEY": SECRET_KEY,
        "VAR_DIR": folder,
        "PORT": str(port),
        "WEB_CONCURRENCY": "1",
        "API_CONCURRENCY": "0",
        "BASE_URL": "https://sho.rt",
        "FAST_LANE": "no",
        **LIMITS_OFF,
        **changed,
    }


@pytest.fixture(scope="module", params=["gthread", "sync", "runserver"])
def server(request: pytest.FixtureRequest, database: str) -> Iterator[Server]:
    ports = Server(free_port(), free_port())
    if request.param == "runserver":
        commands = [[*RUNSERVER, str(port)] for port in ports]
    else:
        commands = [[*GUNICORN, "--worker-class", request.param, "shortener_project.wsgi"]]
    with TemporaryDirectory() as folder:
        environment = environment_of(
            database, folder, ports.port, INTERNAL_LISTEN=f"127.0.0.1:{ports.internal_port}"
        )
        with running(environment, *commands, ports=ports):
            yield ports


def test_the_internal_listener_serves_metrics_and_the_permission_for_certificates(server: Server) -> None:
    paths = ("/metrics", "/internal/tls-allowed?domain=sho.rt", "/healthz", "/abc")

    assert [status(server.internal_port, path) for path in paths] == [200, 200, 200, 404]


@pytest.mark.parametrize("path", ["/metrics", "/internal/tls-allowed?domain=sho.rt"])
def test_no_header_opens_the_internal_paths_of_the_public_listener(server: Server, path: str) -> None:
    inside = f"127.0.0.1:{server.internal_port}"
    answers = {
        name: status(server.port, path, **{name: value})
        for name, value in {
            "Host": inside,
            "X-Forwarded-Host": inside,
            "X-Forwarded-Port": str(server.internal_port),
            "Server-Port": str(server.internal_port),
            "Shortener.internal": "True",
        }.items()
    }

    assert answers == dict.fromkeys(answers, 404)


def test_host_does_not_name_the_listener_of_a_client_of_a_unix_socket(database: str) -> None:
    """gunicorn takes SERVER_PORT from Host there."""
    internal_port = free_port()
    with TemporaryDirectory() as folder:
        path = Path(folder, "public.sock")
        environment = environment_of(
            database,
            folder,
            free_port(),
            HOST=str(path),
            INTERNAL_LISTEN=f"127.0.0.1:{internal_port}",
        )
        with running(environment, [*GUNICORN, "shortener_project.wsgi"], ports=[internal_port]):
            answers = [ask(path, f"127.0.0.1:{internal_port}", name) for name in ("/healthz", "/metrics")]

    assert answers == [b"200", b"404"]


def test_the_service_follows_and_counts_links_without_the_fast_lane(
    make_service: Callable[..., Service], make_database: Callable[[], str]
) -> None:
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY, FAST_LANE="no")
    service.start()
    link = service.create_link(service.owner.api_key, originalUrl="https://example.com/")

    assert service.call("GET", f"/{link['shortCode']}").status == 302
    eventually(lambda: clicks_of(service, service.owner.api_key, link) == 1)


def ask(path: Path, host: str, target: str) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return client.recv(65_536).split(b" ")[1]
