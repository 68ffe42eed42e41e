"""Upgrades across a change of the schema, and back, while visitors and clients go on.

The former version is the last release; before the first one, this code. The next version has a migration more.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from testing import releases
from testing.background import running
from testing.service.hosts import SECRET_KEY, make_folder
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import DEADLINE, REPOSITORY, Response, Service, clicks_of, eventually

pytestmark = pytest.mark.slow

COLUMN = "SELECT count(*) FROM information_schema.columns WHERE column_name = 'upgrade_test'"


class Versions(NamedTuple):
    """The folders of the code."""

    former: Path
    following: Path


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    folder, tag = tmp_path_factory.mktemp("versions"), releases.last_tag()
    return Versions(
        REPOSITORY if tag is None else releases.code_of(tag, folder / "former"),
        releases.code_of_next_version(folder / "following"),
    )


class Load:
    """A visitor and a client of the API, which turn to another host, or wait, while one refuses connections."""

    def __init__(self, hosts: list[Service], api_key: str, code: str) -> None:
        self.statuses: Counter[int] = Counter()
        self.created: list[dict[str, Any]] = []
        self.refused: list[Response] = []
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._follow), threading.Thread(target=self._create)]
        self._hosts, self._api_key, self._code = hosts, api_key, code

    def wait_for_more(self) -> None:
        visits, links = self.statuses.total(), len(self.created)
        eventually(lambda: self.statuses.total() > visits + 20 and len(self.created) > links + 3)

    def _follow(self) -> None:
        while not self.stop.wait(0.02):
            self.statuses[self._call("GET", f"/{self._code}").status] += 1

    def _create(self) -> None:
        while not self.stop.wait(0.1):
            body = {"originalUrl": f"https://example.com/{len(self.created)}"}
            response = self._call("POST", "/api/urls", body, X_API_Key=self._api_key)
            if response.status == 201:
                self.created.append(response.json()["data"]["url"])
            else:
                self.refused.append(response)

    def _call(self, *request: Any, **headers: str) -> Response:
        """A stopping host answers what it has accepted, and refuses everything else."""
        for _ in range(100 * DEADLINE):
            for host in self._hosts:
                try:
                    return host.call(*request, **headers)
                except (OSError, HTTPException):
                    self.stop.wait(0.01)
        raise AssertionError("No host accepts connections.")


@contextmanager
def load_on(hosts: list[Service], owner_key: str) -> Iterator[Load]:
    """Checks at the end that every link exists on each host, and that every click was counted once."""
    link = hosts[0].create_link(owner_key, customCode="upgraded")
    load = Load(hosts, owner_key, "upgraded")
    with running(load.threads, load.stop):
        load.wait_for_more()
        yield load
        load.wait_for_more()
    assert (load.refused, set(load.statuses)) == ([], {302})
    for host in hosts:
        eventually(lambda host=host: clicks_of(host, owner_key, link) == load.statuses[302])
        for created in load.created:
            response = host.call("GET", f"/{created['shortCode']}")
            assert (response.status, response.headers["Location"]) == (302, created["originalUrl"])
        assert host.manage("audit_counters").stdout == "0 differences.\n"


def restart(host: Service, code: Path) -> None:
    assert host.stop() == 0
    host.code = code
    host.start()
    eventually(host.is_ready)


def has_column(url: str) -> bool:
    with psycopg.connect(url) as database:
        return database.execute(COLUMN).fetchone() == (1,)


@pytest.fixture
def make_hosts(make_empty_database: Callable[[], str]) -> Iterator[Callable[[int, Path], list[Service]]]:
    with ExitStack() as stack:

        def make(number: int, code: Path) -> list[Service]:
            environment = {"DATABASE_URL": make_empty_database(), "SECRET_KEY": SECRET_KEY, **LONG_TIMEOUTS}
            hosts = [Service(make_folder(), code=code, **environment) for _ in range(number)]
            for host in hosts:
                stack.callback(host.end)
                host.start()
                eventually(host.is_ready)
            return hosts

        yield make


@pytest.mark.parametrize("number", [1, 2], ids=["one host", "two hosts"])
def test_an_upgrade_and_the_way_back_lose_no_link_and_no_click(
    number: int, versions: Versions, make_hosts: Callable[[int, Path], list[Service]]
) -> None:
    hosts = make_hosts(number, versions.former)
    url = hosts[0].environment["DATABASE_URL"]
    with load_on(hosts, hosts[0].owner.api_key) as load:
        assert not has_column(url)
        for code in versions.following, versions.former:
            for host in hosts:
                restart(host, code)
                assert has_column(url)
                # The other hosts run the other version, on the schema of the next one.
                assert [other.call("GET", "/readyz").status for other in hosts] == [200] * number
                load.wait_for_more()
