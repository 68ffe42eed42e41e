from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clients.generate.description import Operation, read
from testing.clients.building import CLIENTS, compile_typescript, install, make, samples
from testing.clients.command_line import Shorten
from testing.clients.drivers import SORTS, Driver, driver
from testing.service.hosts import started
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service

DRIVERS = Path(__file__).parent / "drivers"
_numbers = count(1)


class Account(NamedTuple):
    email: str
    password: str
    api_key: str


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A service that cannot look up names."""
    with started(**LONG_TIMEOUTS, DNS_RESOLVERS="127.0.0.1:9") as service:
        yield service


@pytest.fixture
def account(service: Service) -> Account:
    """A new account."""
    email, password = f"somebody-{next(_numbers)}@example.com", "correct horse battery"
    created = service.manage("create_account", email, "--plan", "pro", "--password", password)
    assert created.returncode == 0, created.stderr
    return Account(email, password, created.stdout.split()[-1])


@pytest.fixture(scope="session")
def described(service: Service) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(service.call("GET", "/api/schema").body)
    return described


@pytest.fixture(scope="session")
def operations(described: dict[str, Any]) -> dict[str, Operation]:
    """By the names of their methods."""
    operations = read(described).operations
    iterations = [operation.iteration for operation in operations if operation.rows]
    return {operation.name: operation for operation in [*operations, *iterations]}


@pytest.fixture(scope="session")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder ``clients`` after `make clients`, which all workers share."""
    folder = tmp_path_factory.getbasetemp()
    return make((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "made")


@pytest.fixture(scope="session")
def typescript(clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled drivers and sample.js of the README, which can import the compiled client."""
    folder = tmp_path_factory.mktemp("typescript")
    sample = tmp_path_factory.mktemp("sample") / "sample.ts"
    [text] = samples("typescript", "ts")
    sample.write_text(text)
    compile_typescript(clients, folder, *sorted(DRIVERS.glob("*.ts")), sample)
    return folder


@pytest.fixture(params=SORTS)
def sort(request: pytest.FixtureRequest) -> str:
    """Of the client: each test runs with all three."""
    sort: str = request.param
    return sort


@pytest.fixture
def drive(
    sort: str, clients: Path, operations: dict[str, Operation], request: pytest.FixtureRequest
) -> Driver:
    """Runs steps with the client."""
    programs = request.getfixturevalue("typescript") if sort == "typescript" else DRIVERS
    return driver(sort, clients, programs, operations)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed program ``shorten``."""
    return install("cli", CLIENTS, tmp_path_factory.mktemp("cli")) / "shorten"


@pytest.fixture
def stranger(program: Path, tmp_path: Path) -> Shorten:
    """The program of somebody who has not logged in."""
    return Shorten(program, tmp_path)


@pytest.fixture
def shorten(stranger: Shorten, service: Service, account: Account) -> Shorten:
    """The program of somebody whose environment names the service and the key."""
    stranger.environment |= {"SHORTENER_URL": service.url, "SHORTENER_API_KEY": account.api_key}
    return stranger
