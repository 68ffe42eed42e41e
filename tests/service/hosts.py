"""Services for as long as a block lasts, one or several, and who of their workers answers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from tests.service.running import Connection, Service, eventually

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


def one_to_each_worker(service: Service, workers: int, opened: ExitStack) -> list[Connection]:
    """A connection that is kept alive; of those that redirect."""
    found: dict[int, Connection] = {}

    def all_found() -> bool:
        # At once, or the worker that is awake would take them all.
        asked = [opened.enter_context(closing(Connection(service.port))) for _ in range(4 * workers)]
        for connection in asked:
            connection.say("GET", "/nothing")
        for connection in asked:
            assert connection.hear().status == 404
            # The system's list of connections may miss one while others come and go.
            if (worker := service.worker_of(connection)) is not None:
                found[worker] = connection
        return len(found) == workers

    eventually(all_found)
    return list(found.values())
