"""Services for as long as a block lasts, one or several, and who of their workers answers."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
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


@contextmanager
def stopped(workers: list[int]) -> Iterator[None]:
    """Inside, none of these accepts or answers anything: for less than the timeout after which they are replaced."""
    try:
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        eventually(lambda: all(map(processes.is_stopped, workers)), every=0.001)
        yield
    finally:
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGCONT)


class Door(Connection):
    """A connection that is kept alive, to one of the workers that accept them.

    ``answered_at`` in seconds of the monotonic clock.
    """

    def __init__(self, service: Service, worker: int, others: list[int]) -> None:
        super().__init__(service.port)
        self._worker = worker
        self._others = others
        # What another process has answered may come back to any of them.
        self._strays = service.environment["API_CONCURRENCY"] != "0"
        self._enter()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        self.go_home()
        answer = super().ask(method, path, body, **headers)
        self.answered_at = time.monotonic()
        return answer

    def go_home(self) -> None:
        """Done ahead, it takes no time from a question that is to be asked at once."""
        if self._strays and not self._is_home():
            self._enter()

    def _enter(self) -> None:
        self.close()
        with stopped(self._others):
            self.connect()
            eventually(self._is_home, every=0.001)

    def _is_home(self) -> bool:
        own_port = self.sock.getsockname()[1]
        return processes.holder_of_connection([self._worker], self.port, own_port) is not None


def one_to_each_worker(service: Service, opened: ExitStack) -> list[Door]:
    """Of those that accept connections."""
    expected = int(service.environment["WEB_CONCURRENCY"])
    workers = eventually(lambda: found if len(found := service.accepting()) == expected else None)
    doors = [Door(service, worker, [each for each in workers if each != worker]) for worker in workers]
    return [opened.enter_context(closing(door)) for door in doors]
