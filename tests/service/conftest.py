from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from testing.limits import LONG_TIMEOUTS
from testing.programs import program
from testing.service import processes
from testing.service.databases import create_database, drop_database
from testing.service.hosts import make_folder, started
from testing.service.running import Owner, Service, eventually

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not (processes.PROC / "self/stat").exists():
        skip = pytest.mark.skip(reason="NOT TESTED: these tests find processes in /proc, which is not there.")
        for item in items:
            if item.path.is_relative_to(HERE):
                item.add_marker(skip)


class Installation(NamedTuple):
    """An installation with the embedded database, after its first start."""

    service: Service
    owner: Owner
    first_output: str


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    with started(**LONG_TIMEOUTS) as service:
        yield Installation(service, service.owner, service.stdout)


@pytest.fixture
def service(installation: Installation) -> Service:
    """That installation, serving with all its workers; tests may leave it running, stopped or broken."""
    service = installation.service
    if not service.is_ready():
        service.kill_everything()
        service.start()
    # The previous test may have killed workers that are still being replaced.
    eventually(service.has_all_workers)
    return service


@pytest.fixture
def api_key(installation: Installation) -> str:
    return installation.owner.api_key


@pytest.fixture
def make_service() -> Iterator[Callable[..., Service]]:
    """Factory of installations that have never been started."""
    services: list[Service] = []

    def make(**options: str) -> Service:
        services.append(Service(make_folder(), **options))
        return services[-1]

    yield make
    for service in services:
        service.end()


@pytest.fixture(scope="module")
def make_database() -> Iterator[Callable[[], str]]:
    """Factory of migrated databases without an account on the tests' server. Returns their URL."""
    yield from databases(migrated=True)


@pytest.fixture(scope="module")
def make_empty_database() -> Iterator[Callable[[], str]]:
    """Factory of databases without tables on the tests' server. Returns their URL."""
    yield from databases(migrated=False)


@pytest.fixture(scope="module")
def make_unfinished_database(make_database: Callable[[], str]) -> Callable[[], str]:
    """Factory of databases that lack what Django adds after the last migration, as after an interrupted start."""

    def make() -> str:
        url = make_database()
        with psycopg.connect(url) as database:
            database.execute("DELETE FROM auth_permission WHERE codename = ANY ('{add_domain,view_domain}')")
        return url

    return make


def databases(*, migrated: bool) -> Iterator[Callable[[], str]]:
    server = os.environ["DATABASE_URL"]
    names: list[str] = []

    def make() -> str:
        names.append(create_database(server, migrated=migrated))
        return names[-1]

    yield make
    for url in names:
        drop_database(server, url)


@pytest.fixture(scope="session")
def haproxy() -> str:
    return program("haproxy")


@pytest.fixture(scope="session")
def varnishd() -> str:
    return program("varnishd")


@pytest.fixture(scope="session")
def caddy() -> str:
    return program("caddy")
