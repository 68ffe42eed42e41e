"""Upgrades across a change of the schema, and back, while visitors and clients go on.

The former version is the last release; before the first one, this code. The next version has a migration more. While
one host runs each, every format that both read and write crosses from one to the other, both ways: rows,
notifications, tokens, cookies, cursors, records of the journal, and the files that a host keeps.
"""

from __future__ import annotations

import re
import shutil
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
from testing.accounts.accounts import PASSWORD
from testing.background import running
from testing.service.clients.operator import Operator
from testing.service.hosts import SECRET_KEY, make_folder, stopped
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import DEADLINE, REPOSITORY, Response, Service, clicks_of, eventually

pytestmark = pytest.mark.slow

URL = "https://example.com/"
VISITS = 20
PROBLEM = re.compile(r" (ERROR|CRITICAL) |Traceback")
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


class Crossings:
    """What one host hands out, the other one understands."""

    EMAIL = "crossing@example.com"

    def __init__(self, hosts: list[Service]) -> None:
        # Operators log in on each host.
        shutil.copy(hosts[0].var_dir / "first_account.txt", hosts[1].var_dir)
        created = hosts[0].manage("create_account", self.EMAIL, "--password", PASSWORD)
        self._key = created.stdout.split()[-1]

    def cross(self, here: Service, there: Service) -> None:
        login = here.call("POST", "/api/auth/login", {"email": self.EMAIL, "password": PASSWORD}).json()
        self._links(here, there)
        self._pages(here, there)
        self._visits(here, there)
        self._sessions(login, there)

    def _links(self, here: Service, there: Service) -> None:
        link, path = self._create(here)
        retried = {"Idempotency-Key": link["shortCode"]}
        created = [
            self._call(host, "POST", "/api/urls", {"originalUrl": URL}, **retried) for host in (here, there)
        ]
        assert created[0].json()["data"]["url"]["_id"] == created[1].json()["data"]["url"]["_id"]
        # Each host has the link in memory when the other one changes it.
        for changing, fields, expected in (
            (here, {"title": "crossed", "targetUrl": f"{URL}here"}, (302, f"{URL}here")),
            (there, {"targetUrl": f"{URL}there"}, (302, f"{URL}there")),
            (here, {"isActive": False}, (410, None)),
            (there, {"isActive": True}, (302, f"{URL}there")),
        ):
            assert self._call(changing, "PUT", f"/api/urls/{link['_id']}", fields).status == 200
            for host in here, there:
                eventually(lambda host=host, expected=expected: outcome(host, path) == expected)
        changes = self._call(there, "GET", f"/api/urls/{link['_id']}/history").json()["data"]["changes"]
        assert len(changes) == 4
        assert self._call(there, "DELETE", f"/api/urls/{link['_id']}").status == 200
        eventually(lambda: outcome(here, path) == (404, None))

    def _pages(self, here: Service, there: Service) -> None:
        codes = {self._create(here)[0]["shortCode"] for _ in range(3)}
        listed, address = set(), "/api/urls?limit=1"
        for host in (here, there, here):
            page = self._call(host, "GET", address)
            listed.add(page.json()["data"]["urls"][0]["shortCode"])
            following = re.search(r'<[^>]*(/api/[^>]*)>; rel="next"', page.headers["Link"])
            assert following is not None
            address = following[1]
        assert listed == codes

    def _visits(self, here: Service, there: Service) -> None:
        _, path = self._create(here, restrictions={"maxClicks": 3})
        statuses = [host.call("GET", path).status for host in (here, there, here, there)]
        assert statuses == [302, 302, 302, 410]
        self._browser(here, there)

    def _browser(self, here: Service, there: Service) -> None:
        _, path = self._create(here, password="open sesame")
        browser = Operator(here)
        assert browser.send(path, {"password": "open sesame"}).status == 303
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        for address, status in ((path, 302), ("/admin/", 200)):
            assert there.call("GET", address, Cookie=cookies).status == status
        assert there.call("GET", path).status == 401

    def _sessions(self, login: dict[str, Any], there: Service) -> None:
        token = {"Authorization": f"Bearer {login['token']}"}
        renewed = there.call("POST", "/api/auth/refresh", {"refreshToken": login["refreshToken"]})
        assert (renewed.status, there.call("GET", "/api/urls", **token).status) == (200, 200)
        former = self._key
        self._key = there.call("POST", "/api/auth/regenerate-api-key", **token).json()["apiKey"]
        assert [there.call("GET", "/api/urls", X_API_Key=key).status for key in (former, self._key)] == [
            401,
            200,
        ]

    def follow_uncounted(self, host: Service) -> dict[str, Any]:
        """A link with VISITS clicks that this host has not counted when all its processes are killed."""
        link, path = self._create(host)
        with stopped([host.child("drain_clicks")]):
            assert [host.call("GET", path).status for _ in range(VISITS)] == VISITS * [302]
            host.kill_everything()
        return link

    def clicks_of(self, host: Service, link: dict[str, Any]) -> int:
        return clicks_of(host, self._key, link)

    def _create(self, host: Service, **fields: Any) -> tuple[dict[str, Any], str]:
        link = host.create_link(self._key, originalUrl=URL, **fields)
        return link, f"/{link['shortCode']}"

    def _call(self, host: Service, *request: Any, **headers: str) -> Response:
        return host.call(*request, X_API_Key=self._key, **headers)


def outcome(host: Service, path: str) -> tuple[int, str | None]:
    response = host.call("GET", path)
    return response.status, response.headers["Location"]


def restart(host: Service, code: Path) -> None:
    if host.process.poll() is None:
        assert host.stop() == 0
    assert not PROBLEM.search(host.stderr), host.stderr
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


def test_an_upgrade_and_the_way_back_lose_no_link_and_no_click(
    versions: Versions, make_hosts: Callable[[int, Path], list[Service]]
) -> None:
    first, second = hosts = make_hosts(2, versions.former)
    url, crossings = first.environment["DATABASE_URL"], Crossings(hosts)
    with load_on(hosts, first.owner.api_key) as load:
        assert not has_column(url)
        for code in versions.following, versions.former:
            restart(first, code)
            assert has_column(url)
            # The other host runs the other version, on the schema of the next one.
            assert [host.call("GET", "/readyz").status for host in hosts] == [200, 200]
            load.wait_for_more()
            crossings.cross(first, second)
            crossings.cross(second, first)
            link = crossings.follow_uncounted(second)
            restart(second, code)
            eventually(lambda link=link: crossings.clicks_of(first, link) == VISITS)
            load.wait_for_more()
    for host in hosts:
        assert not PROBLEM.search(host.stderr), host.stderr
