"""Context managers for one or several services, and connections to a chosen worker."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

from testing.service import processes
from testing.service.running import Connection, Response, Service, eventually

SECRET_KEY = "shortener-" + "s" * 50


def make_folder() -> Path:
    # Not tmp_path: the database account that root's server uses cannot enter its parents.
    folder = Path(tempfile.mkdtemp(prefix="shortener-service-"))
    folder.chmod(0o755)
    return folder


@contextmanager
def started(**environment: str) -> Iterator[Service]:
    """A separate installation, removed at the end."""
    service = Service(make_folder(), **environment)
    try:
        service.start()
        yield service
    finally:
        service.end()


@contextmanager
def one_host(database: str, **environment: str) -> Iterator[Service]:
    with started(DATABASE_URL=database, SECRET_KEY=SECRET_KEY, **environment) as service:
        yield service


@contextmanager
def two_hosts(database: str, **environment: str) -> Iterator[list[Service]]:
    """Two hosts of one service, simulated by processes that share only the database."""
    with one_host(database, **environment) as here, one_host(database, **environment) as there:
        yield [here, there]


@contextmanager
def stopped(workers: list[int]) -> Iterator[None]:
    """Suspends these workers. Leave the block before gunicorn's timeout, which would replace them."""
    try:
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        eventually(lambda: all(map(processes.is_stopped, workers)), every=0.001)
        yield
    finally:
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGCONT)


class WorkerConnection(Connection):
    """A keep-alive connection to a chosen worker that accepts connections.

    ``responded_at``: time of the last response in seconds of the monotonic clock.
    """

    def __init__(self, service: Service, worker: int, others: list[int]) -> None:
        super().__init__(service.port)
        self._worker = worker
        self._others = others
        # Of the server's end. Finding it reads every connection of this machine, so keep it.
        self._inode: str | None = None
        # After a handoff to an API worker, the connection may return to any accepting worker.
        self._can_move = service.environment["API_CONCURRENCY"] != "0"
        self._connect_to_worker()

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        self.return_to_worker()
        response = super().call(method, path, body, **headers)
        self.responded_at = time.monotonic()
        return response

    def return_to_worker(self) -> None:
        """Reconnect if the connection has moved. Call it in advance if the next request must not be delayed."""
        if self._can_move and not self._is_at_worker():
            self._connect_to_worker()

    def connect(self) -> None:
        self._inode = None
        super().connect()

    def _connect_to_worker(self) -> None:
        eventually(self._has_connected_to_worker)

    def _has_connected_to_worker(self) -> bool:
        """Connect and complete a request while no other worker runs.

        The worker closes a new connection without a first byte after 10 seconds, which a busy machine can exceed.
        Later requests have 75 seconds.
        """
        self.close()
        with stopped(self._others), suppress(OSError, HTTPException):
            super().call("GET", "/healthz")
            eventually(self._is_at_worker, every=0.001)
            return True
        return False

    def _is_at_worker(self) -> bool:
        if self._inode is None:
            self._inode = processes.accepted_socket(self.port, self.sock.getsockname()[1])
        return self._inode is not None and processes.holds_socket(self._worker, self._inode)


def one_to_each_worker(service: Service, stack: ExitStack) -> list[WorkerConnection]:
    """One connection to each worker that accepts connections."""
    expected = int(service.environment["WEB_CONCURRENCY"])
    workers = eventually(lambda: pids if len(pids := service.accepting()) == expected else None)
    connections = [
        WorkerConnection(service, worker, [other for other in workers if other != worker])
        for worker in workers
    ]
    return [stack.enter_context(closing(connection)) for connection in connections]
