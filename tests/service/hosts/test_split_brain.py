"""Two primaries at once: a standby is promoted while the former primary lives on and keeps its connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from testing.service.clients.creators import DESTINATION
from testing.service.clients.memory import status_and_location
from testing.service.hosts import one_host, one_to_each_worker, two_hosts
from testing.service.postgresql.outages import metric, wait_until_hearing
from testing.service.postgresql.standbys import Pair, primary_and_standby
from testing.service.running import Service, eventually

pytestmark = pytest.mark.slow

NEW = "https://example.com/new"


@pytest.fixture
def pair() -> Iterator[Pair]:
    with primary_and_standby() as pair:
        yield pair


def change(host: Service, key: str, link: dict[str, Any], **fields: Any) -> int:
    return host.call("PUT", f"/api/urls/{link['_id']}", fields, X_API_Key=key).status


def read(host: Service, key: str) -> int:
    return host.call("GET", "/api/urls/stats", X_API_Key=key).status


def readiness(host: Service) -> dict[str, str]:
    words: dict[str, str] = host.call_internal("/readyz").json()
    return words


def stored(url: str, link: dict[str, Any]) -> str | None:
    with psycopg.connect(url) as database:
        query = "SELECT target_url FROM links_link WHERE short_code = %s"
        [(target,)] = database.execute(query, [link["shortCode"]]).fetchall()
        return None if target is None else str(target)


def token(host: Service) -> str:
    credentials = {"email": host.owner.email, "password": host.owner.password}
    return str(host.call("POST", "/api/auth/login", credentials).json()["token"])


def test_an_acknowledged_edit_is_what_every_visitor_of_the_host_gets(pair: Pair) -> None:
    """The former primary is the first of the URL and still accepts connections and writes."""
    with one_host(pair.url, WEB_CONCURRENCY="2") as host, ExitStack() as opened:
        key = host.owner.api_key
        link = host.create_link(key)
        pair.wait_for_standby()
        visitors = one_to_each_worker(host, opened)
        for visitor in visitors:
            assert status_and_location(visitor, link["shortCode"]) == (302, DESTINATION)

        pair.promote()
        # At first, edits wait on the former primary for its lost standby.
        eventually(lambda: change(host, key, link, targetUrl=NEW) == 200)

        for visitor in visitors * 5:
            assert status_and_location(visitor, link["shortCode"]) == (302, NEW)
        assert stored(pair.standby.url, link) == NEW
        assert stored(pair.primary.url, link) is None
        eventually(lambda: metric(host, "shortener_database_former_primary") == 1)
        eventually(host.is_ready)
        assert metric(host, "shortener_database_gone_back") == 0
        assert "A former primary still accepts connections. Stop it." in host.stderr


def test_changes_that_another_host_acknowledges_on_the_new_primary_hold_on_this_host(pair: Pair) -> None:
    with two_hosts(pair.url) as (here, there), ExitStack() as opened:
        key, login = here.owner.api_key, token(here)
        links = [here.create_link(key) for _ in range(3)]
        codes = [link["shortCode"] for link in links]
        pair.wait_for_standby()
        (visitor,) = one_to_each_worker(here, opened)
        assert [status_and_location(visitor, code) for code in codes] == [(302, DESTINATION)] * 3
        assert read(here, key) == 200

        pair.promote()
        # No request has led the hosts to the new primary.
        for host in (here, there):
            eventually(lambda host=host: "Another server has taken over (timeline 2)" in host.stderr)
            wait_until_hearing(host)
            eventually(host.is_ready)
        assert change(there, key, links[0], targetUrl=NEW) == 200
        assert change(there, key, links[1], isActive=False) == 200
        assert there.call("DELETE", f"/api/urls/{links[2]['_id']}", X_API_Key=key).status == 200
        rotated = there.call("POST", "/api/auth/regenerate-api-key", Authorization=f"Bearer {login}")
        assert read(here, key) == 401
        assert read(here, rotated.json()["apiKey"]) == 200
        eventually(lambda: status_and_location(visitor, codes[0]) == (302, NEW))
        eventually(lambda: status_and_location(visitor, codes[1]) == (410, None))
        eventually(lambda: status_and_location(visitor, codes[2]) == (404, None))


def test_a_host_that_reaches_only_the_former_primary_accepts_no_key(pair: Pair) -> None:
    """Nothing tells it of the new primary, but the former one no longer commits."""
    with one_host(pair.primary.url) as host:
        key = host.owner.api_key
        login = token(host)
        link = host.create_link(key)
        assert host.call("GET", f"/{link['shortCode']}").status == 302
        pair.wait_for_standby()
        eventually(host.is_ready)

        pair.promote()

        eventually(lambda: readiness(host)["commits"] == "it does not commit")
        assert host.call("GET", "/readyz").status == 503
        assert read(host, key) == 503
        assert host.call("GET", "/api/urls/stats", Authorization=f"Bearer {login}").status == 503
        assert host.call("GET", f"/{link['shortCode']}").status == 302
        assert metric(host, "shortener_database_up") == 1
        assert metric(host, "shortener_database_writable") == 0


def test_a_timeline_that_goes_back_is_refused_and_reported_until_an_operator_accepts_it(pair: Pair) -> None:
    with one_host(pair.url) as host:
        key = host.owner.api_key
        link = host.create_link(key)
        assert host.call("GET", f"/{link['shortCode']}").status == 302
        pair.promote()
        eventually(lambda: "Another server has taken over (timeline 2)" in host.stderr)
        eventually(host.is_ready)
        discarded = host.create_link(key)

        pair.kill(pair.standby)

        eventually(lambda: metric(host, "shortener_database_gone_back") == 1)
        eventually(lambda: "acknowledged writes were discarded" in host.stderr)
        assert "is on timeline 1, but this host has used timeline 2" in readiness(host)["database"]
        assert host.call("GET", "/readyz").status == 503
        assert read(host, key) == 503
        assert host.call("GET", f"/{link['shortCode']}").status == 302
        # Also a new process of this host.
        refused = host.manage("audit_counters")
        assert refused.returncode == 1
        assert "is on timeline 1, but this host has used timeline 2" in refused.stderr
        host.stop()
        host.launch()
        eventually(lambda: "Waiting for the database" in host.stderr)

        accepted = host.manage("accept_database")

        assert (accepted.returncode, accepted.stdout) == (0, "This host uses timeline 1.\n")
        eventually(host.is_ready)
        eventually(lambda: metric(host, "shortener_database_gone_back") == 0)
        assert host.call("GET", f"/{discarded['shortCode']}").status == 404
        assert read(host, key) == 200
