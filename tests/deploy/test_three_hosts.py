"""Three hosts with one database behind Caddy, as in docs/deployment.md."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from local_postgres import EmbeddedPostgres
from testing.service.caddy import Caddy, caddy_before
from testing.service.hosts import SECRET_KEY, make_folder
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, eventually
from testing.visitors.agents import FIREFOX

pytestmark = pytest.mark.slow

SITE = "sho.test"
VISITORS = 2

# Six starts and stops, on a machine that may be busy.


class Fleet(NamedTuple):
    hosts: list[Service]
    database: EmbeddedPostgres
    caddy: Caddy
    api_key: str

    def clicks_of(self, link: dict[str, Any]) -> int:
        response = self.hosts[-1].call("GET", f"/api/urls/{link['_id']}", X_API_Key=self.api_key)
        clicks: int = response.json()["data"]["url"]["clickCount"]
        return clicks


@pytest.fixture(scope="module")
def fleet(caddy: str) -> Iterator[Fleet]:
    folder = make_folder()
    database = EmbeddedPostgres(folder, options={"fsync": "off"})
    hosts: list[Service] = []
    try:
        with database.acquire():
            hosts = [
                Service(
                    make_folder(),
                    DATABASE_URL=database.url,
                    SECRET_KEY=SECRET_KEY,
                    BASE_URL=f"https://{SITE}",
                    TRUSTED_PROXIES="127.0.0.1/32",
                    **LONG_TIMEOUTS,
                )
                for _ in range(3)
            ]
            for host in hosts:
                host.launch()
            for host in hosts:
                eventually(host.is_healthy)
            (owner,) = [host.owner for host in hosts if (host.var_dir / "first_account.txt").exists()]
            with caddy_before(*hosts, program=caddy) as proxy:
                yield Fleet(hosts, database, proxy, owner.api_key)
    finally:
        for host in hosts:
            host.end()
        shutil.rmtree(folder)


class Visitors:
    """Follow a link through Caddy until stopped, each over its own connection."""

    def __init__(self, fleet: Fleet, code: str) -> None:
        self.statuses: Counter[int] = Counter()
        self._fleet, self._code = fleet, code
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._follow) for _ in range(VISITORS)]
        self.problems: list[Exception] = []

    def __enter__(self) -> Visitors:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for_more(self) -> None:
        """Waits until they have received more responses."""
        before = self.statuses.total()
        eventually(lambda: self.statuses.total() > before + 20 or self.problems)

    def _follow(self) -> None:
        try:
            with closing(http.client.HTTPSConnection(SITE)) as connection:
                connection.sock = self._fleet.caddy.connect(SITE)
                while not self._stop.wait(0.05):
                    connection.request("GET", f"/{self._code}", headers={"User-Agent": FIREFOX})
                    response = connection.getresponse()
                    response.read()
                    with self._lock:
                        self.statuses[response.status] += 1
        except (OSError, http.client.HTTPException) as problem:
            self.problems.append(problem)


def test_restarting_hosts_one_after_the_other_fails_no_redirect(fleet: Fleet) -> None:
    link = fleet.hosts[0].create_link(fleet.api_key)
    with Visitors(fleet, link["shortCode"]) as visitors:
        for host in fleet.hosts:
            assert host.stop() == 0
            host.start()
            eventually(host.is_healthy)
            visitors.wait_for_more()
    assert (visitors.problems, set(visitors.statuses)) == ([], {302})
    eventually(lambda: fleet.clicks_of(link) == visitors.statuses[302])


def test_the_journal_of_a_dead_host_is_counted_once_on_another_host(fleet: Fleet) -> None:
    dead, other, _ = fleet.hosts
    link = other.create_link(fleet.api_key)
    drainer = dead.child("drain_clicks")
    os.kill(drainer, signal.SIGSTOP)
    for _ in range(20):
        assert dead.call("GET", f"/{link['shortCode']}", Host=SITE).status == 302
    dead.kill_everything()
    segments = list((dead.var_dir / "clicks").glob("*.segment"))
    assert fleet.clicks_of(link) == 0

    saved = make_folder()
    try:
        shutil.copytree(dead.var_dir / "clicks", saved / "clicks")
        assert other.manage("drain_clicks", "--once", VAR_DIR=str(saved)).returncode == 0
        assert fleet.clicks_of(link) == 20
        assert list((saved / "clicks").glob("*.segment")) == []
    finally:
        shutil.rmtree(saved)

    dead.start()
    eventually(dead.is_healthy)
    eventually(lambda: not any(segment.exists() for segment in segments))
    assert fleet.clicks_of(link) == 20


def test_hosts_without_a_database_still_redirect_known_links(fleet: Fleet) -> None:
    known = fleet.hosts[0].create_link(fleet.api_key)["shortCode"]
    for host in fleet.hosts:
        assert host.call("GET", f"/{known}", Host=SITE).status == 302
    postmaster = fleet.database.pid
    assert postmaster is not None
    os.kill(postmaster, signal.SIGINT)
    try:
        eventually(lambda: fleet.hosts[0].call("GET", "/readyz").status == 503)
        # Longer than two health checks of Caddy.
        until = time.monotonic() + 5
        while time.monotonic() < until:
            assert fleet.caddy.get(SITE, f"/{known}").status == 302
            unknown = fleet.caddy.get(SITE, "/nobodyhasit")
            assert (unknown.status, unknown.headers["Retry-After"]) == (503, "2")
            time.sleep(0.1)
    finally:
        fleet.database.ensure_running()
    for host in fleet.hosts:
        eventually(host.is_healthy)
