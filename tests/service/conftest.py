from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from tests.programs import program
from tests.service import processes
from tests.service.hosts import make_folder, started
from tests.service.running import Owner, Service

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
    with started() as service:
        yield Installation(service, service.owner, service.stdout)


@pytest.fixture
def service(installation: Installation) -> Service:
    """That installation, serving; tests may leave it running, stopped or broken."""
    if not installation.service.is_well():
        installation.service.kill_everything()
        installation.service.start()
    return installation.service


@pytest.fixture
def api_key(installation: Installation) -> str:
    return installation.owner.api_key


@pytest.fixture
def make_service() -> Iterator[Callable[..., Service]]:
    """Factory of installations that have never been started."""
    made: list[Service] = []

    def make(**options: str) -> Service:
        made.append(Service(make_folder(), **options))
        return made[-1]

    yield make
    for service in made:
        service.end()


@pytest.fixture(scope="module")
def make_database() -> Iterator[Callable[[], str]]:
    """Factory of empty databases on the server of the tests; gives their address."""
    server = os.environ["DATABASE_URL"]
    made: list[sql.Identifier] = []

    def make() -> str:
        name = f"service_{secrets.token_hex(6)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        made.append(sql.Identifier(name))
        return urlsplit(server)._replace(path=f"/{name}").geturl()

    yield make
    with psycopg.connect(server, autocommit=True) as connection:
        for name in made:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@pytest.fixture(scope="session")
def haproxy() -> str:
    return program("haproxy")


@pytest.fixture(scope="session")
def varnishd() -> str:
    return program("varnishd")


@pytest.fixture(scope="session")
def caddy() -> str:
    return program("caddy")
