from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from testing.programs import program
from testing.service import processes
from testing.service.fixtures import caddy as caddy
from testing.service.fixtures import make_database as make_database
from testing.service.fixtures import make_empty_database as make_empty_database
from testing.service.fixtures import make_service as make_service
from testing.service.hosts import started
from testing.service.limits import LONG_TIMEOUTS
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


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    """The URL of a migrated database of the module."""
    return make_database()


@pytest.fixture(scope="module")
def make_unfinished_database(make_database: Callable[[], str]) -> Callable[[], str]:
    """Factory of databases that lack what Django adds after the last migration, as after an interrupted start."""

    def make() -> str:
        url = make_database()
        with psycopg.connect(url) as database:
            database.execute("DELETE FROM auth_permission WHERE codename = ANY ('{add_domain,view_domain}')")
        return url

    return make


@pytest.fixture(scope="session")
def haproxy() -> str:
    return program("haproxy")


@pytest.fixture(scope="session")
def varnishd() -> str:
    return program("varnishd")
