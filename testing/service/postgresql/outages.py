"""A database server that can be stopped and started again, and the state of services that use it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from local_postgres import EmbeddedPostgres
from testing.service.hosts import make_folder
from testing.service.running import Service, eventually


class Server:
    """A separate PostgreSQL server."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self._server = server
        self.url = server.url

    def stop(self) -> None:
        """Close all connections and stop listening."""
        pid = self._server.pid
        assert pid is not None
        os.kill(pid, signal.SIGINT)
        eventually(lambda: self._server.pid is None)

    def start(self) -> None:
        self._server.ensure_running()

    @contextmanager
    def away(self) -> Iterator[None]:
        self.stop()
        try:
            yield
        finally:
            self.start()


@contextmanager
def database_server() -> Iterator[Server]:
    folder = make_folder()
    server = EmbeddedPostgres(folder, options={"fsync": "off"})
    try:
        with server.acquire():
            yield Server(server)
    finally:
        shutil.rmtree(folder)


def metric(service: Service, name: str) -> float:
    """A metric of the host without labels."""
    response = service.call_internal("/metrics")
    assert response.status == 200, response
    values = [line.split()[1] for line in response.body.decode().splitlines() if line.startswith(f"{name} ")]
    assert values, response.body.decode()
    return float(values[0])


def unheard_seconds(service: Service) -> float:
    """The time since this host last heard of changes, according to its metrics."""
    return metric(service, "shortener_changes_unheard_seconds")


def wait_until_silent(service: Service, seconds: float = 6) -> None:
    """Wait until the workers no longer treat their caches as confirmed."""
    eventually(lambda: unheard_seconds(service) > seconds)


def wait_until_hearing(service: Service) -> None:
    eventually(lambda: unheard_seconds(service) < 3)
