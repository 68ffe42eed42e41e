"""Three hosts on one database behind Caddy, as docs/deployment.md builds them."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from shortener_project.embedded_postgres import EmbeddedPostgres
from tests.conftest import FIREFOX
from tests.service.caddy import Caddy, caddy_before
from tests.service.hosts import SECRET_KEY, make_folder
from tests.service.running import REPOSITORY, Service, eventually

SITE = "sho.test"
VISITORS = 2

# Six starts and stops, on a machine that may have other things to do.
pytestmark = pytest.mark.timeout(300)


class Fleet(NamedTuple):
    hosts: list[Service]
    database: EmbeddedPostgres
    caddy: Caddy
    api_key: str

    def clicks_of(self, link: dict[str, Any]) -> int:
        answer = self.hosts[-1].ask("GET", f"/api/urls/{link['_id']}", X_API_Key=self.api_key)
        clicks: int = answer.json()["data"]["url"]["clickCount"]
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
                )
                for _ in range(3)
            ]
            for host in hosts:
                host.launch()
            for host in hosts:
                eventually(host.is_well)
            (owner,) = [host.owner for host in hosts if "API key" in host.stdout and "e-mail" in host.stdout]
            with caddy_before(*hosts, program=caddy) as proxy:
                yield Fleet(hosts, database, proxy, owner.api_key)
    finally:
        for host in hosts:
            host.end()
        shutil.rmtree(folder)


class Visitors:
    """They follow a link through Caddy, each over a connection of its own, until they are told to stop."""

    def __init__(self, fleet: Fleet, code: str) -> None:
        self.answers: Counter[int] = Counter()
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

    def go_on(self) -> None:
        """Waits until they have been answered some more."""
        before = self.answers.total()
        eventually(lambda: self.answers.total() > before + 20 or self.problems)

    def _follow(self) -> None:
        try:
            with closing(http.client.HTTPSConnection(SITE)) as connection:
                connection.sock = self._fleet.caddy.connect(SITE)
                while not self._stop.wait(0.05):
                    connection.request("GET", f"/{self._code}", headers={"User-Agent": FIREFOX})
                    answer = connection.getresponse()
                    answer.read()
                    with self._lock:
                        self.answers[answer.status] += 1
        except (OSError, http.client.HTTPException) as problem:
            self.problems.append(problem)


def test_hosts_are_renewed_one_after_the_other_and_no_visitor_notices(fleet: Fleet) -> None:
    link = fleet.hosts[0].create_link(fleet.api_key)
    with Visitors(fleet, link["shortCode"]) as visitors:
        for host in fleet.hosts:
            assert host.stop() == 0
            host.start()
            eventually(host.is_well)
            visitors.go_on()
    assert (visitors.problems, set(visitors.answers)) == ([], {302})
    eventually(lambda: fleet.clicks_of(link) == visitors.answers[302])


def test_a_dead_hosts_journal_is_counted_on_another_host_and_not_again_when_it_returns(fleet: Fleet) -> None:
    dead, other, _ = fleet.hosts
    link = other.create_link(fleet.api_key)
    drainer = dead.child("drain_clicks")
    os.kill(drainer, signal.SIGSTOP)
    for _ in range(20):
        assert dead.ask("GET", f"/{link['shortCode']}", Host=SITE).status == 302
    dead.kill_everything()
    left = list((dead.var_dir / "clicks").glob("*.segment"))
    assert fleet.clicks_of(link) == 0

    saved = make_folder()
    try:
        shutil.copytree(dead.var_dir / "clicks", saved / "clicks")
        drain = [sys.executable, "manage.py", "drain_clicks", "--once"]
        environment = {**other.environment, "VAR_DIR": str(saved)}
        subprocess.run(drain, cwd=REPOSITORY, env=environment, check=True)
        assert fleet.clicks_of(link) == 20
        assert list((saved / "clicks").glob("*.segment")) == []
    finally:
        shutil.rmtree(saved)

    dead.start()
    eventually(dead.is_well)
    eventually(lambda: not any(segment.exists() for segment in left))
    assert fleet.clicks_of(link) == 20


def test_hosts_whose_database_is_down_get_visitors_and_send_them_where_known_links_lead(fleet: Fleet) -> None:
    known = fleet.hosts[0].create_link(fleet.api_key)["shortCode"]
    for host in fleet.hosts:
        assert host.ask("GET", f"/{known}", Host=SITE).status == 302
    postmaster = fleet.database.pid
    assert postmaster is not None
    os.kill(postmaster, signal.SIGINT)
    try:
        eventually(lambda: fleet.hosts[0].ask("GET", "/readyz").status == 503)
        # Longer than two rounds of its questions.
        until = time.monotonic() + 5
        while time.monotonic() < until:
            assert fleet.caddy.get(SITE, f"/{known}").status == 302
            unknown = fleet.caddy.get(SITE, "/nobodyhasit")
            assert (unknown.status, unknown.headers["Retry-After"]) == (503, "2")
            time.sleep(0.1)
    finally:
        fleet.database.ensure_running()
    for host in fleet.hosts:
        eventually(host.is_well)
