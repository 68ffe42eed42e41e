"""Services for as long as a block lasts, one or several, and who of their workers answers."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from tests.service import processes
from tests.service.running import Answer, Connection, Service, eventually

SECRET_KEY = "s" * 50


def make_folder() -> Path:
    # Not tmp_path: its parents are closed to the account that root's database server runs as.
    folder = Path(tempfile.mkdtemp(prefix="shortener-service-"))
    folder.chmod(0o755)
    return folder


@contextmanager
def started(**environment: str) -> Iterator[Service]:
    """An installation of its own; nothing of it is left."""
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
    """Of one service, as far as processes can be hosts: they share nothing but the database."""
    with one_host(database, **environment) as here, one_host(database, **environment) as there:
        yield [here, there]


class Door(Connection):
    """A connection that is kept alive, to one of the workers that accept them."""

    def __init__(self, service: Service, worker: int) -> None:
        super().__init__(service.port)
        self._service = service
        self._worker = worker
        # What another process has answered may come back to any of them.
        self._strays = service.environment["API_CONCURRENCY"] != "0"
        self._enter()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        answer = super().ask(method, path, body, **headers)
        if self._strays and not self._is_home():
            self._enter()
        return answer

    def _enter(self) -> None:
        self.close()
        others = [worker for worker in self._service.accepting() if worker != self._worker]
        try:
            for other in others:
                os.kill(other, signal.SIGSTOP)
            eventually(lambda: all(map(processes.is_stopped, others)))
            self.connect()
            eventually(self._is_home)
        finally:
            for other in others:
                os.kill(other, signal.SIGCONT)

    def _is_home(self) -> bool:
        return self._service.worker_of(self) == self._worker


def one_to_each_worker(service: Service, opened: ExitStack) -> list[Connection]:
    """Of those that accept connections."""
    expected = int(service.environment["WEB_CONCURRENCY"])
    eventually(lambda: len(service.accepting()) == expected)
    return [opened.enter_context(closing(Door(service, worker))) for worker in service.accepting()]
