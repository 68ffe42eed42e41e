from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from tests.service import processes
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
    service = Service(make_folder())
    try:
        service.start()
        yield Installation(service, service.owner, service.stdout)
    finally:
        service.end()


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


def program(name: str) -> str:
    """Where it is. CI has it, and skips nothing."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        assert not os.environ.get("CI"), f"CI tests everything, and {name} is not installed."
        pytest.skip(f"NOT TESTED: {name} is not installed.")
    return found


def make_folder() -> Path:
    # Not tmp_path: its parents are closed to the account that root's database server runs as.
    folder = Path(tempfile.mkdtemp(prefix="shortener-service-"))
    folder.chmod(0o755)
    return folder
