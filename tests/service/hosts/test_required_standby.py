"""REQUIRE_SYNCHRONOUS: nothing is acknowledged that only the primary has."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from testing.service.clients.creators import DESTINATION
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.postgresql.outages import metric
from testing.service.postgresql.standbys import Pair, primary_and_standby
from testing.service.running import Service, eventually

pytestmark = pytest.mark.slow

REFUSED = (
    503,
    "No second database server confirms changes at present, so none are accepted. Try again shortly.",
)


def forget_standby(pair: Pair) -> None:
    """What a server is like for some seconds after its start."""
    with psycopg.connect(pair.primary.url, autocommit=True) as database:
        database.execute("ALTER SYSTEM RESET synchronous_standby_names")
        database.execute("SELECT pg_reload_conf()")


def create(host: Service) -> tuple[int, str]:
    response = host.call("POST", "/api/urls", {"originalUrl": DESTINATION}, X_API_Key=host.owner.api_key)
    return response.status, response.json()["message"]


def commits(host: Service) -> tuple[int, str]:
    response = host.call_internal("/readyz")
    return response.status, response.json()["commits"]


def clicks(host: Service, link: dict[str, Any]) -> int:
    response = host.call("GET", f"/api/urls/{link['_id']}", X_API_Key=host.owner.api_key)
    assert response.status == 200, response
    return response.json()["data"]["url"]["clickCount"]


def test_a_primary_without_a_listed_standby_takes_no_changes() -> None:
    with primary_and_standby() as pair:
        pair.wait_for_standby()
        with one_host(pair.primary.url, REQUIRE_SYNCHRONOUS="yes", **LONG_TIMEOUTS) as host:
            key = host.owner.api_key
            eventually(host.is_ready)
            link = host.create_link(key)
            limited = host.create_link(key, restrictions={"maxClicks": 5})
            assert host.call("GET", f"/{link['shortCode']}").status == 302
            eventually(lambda: clicks(host, link) == 1)

            forget_standby(pair)

            eventually(lambda: commits(host) == (503, "no synchronous standby confirms them"))
            assert metric(host, "shortener_database_replicated") == 0
            assert metric(host, "shortener_database_writable") == 1
            assert create(host) == REFUSED
            changed = host.call("PUT", f"/api/urls/{link['_id']}", {"title": "New"}, X_API_Key=key)
            assert (changed.status, changed.json()["message"]) == REFUSED
            credentials = {"email": host.owner.email, "password": host.owner.password}
            assert host.call("POST", "/api/auth/login", credentials).status == 503
            # Links, reports and lists can be read, and known links followed. Their clicks wait.
            assert host.call("GET", "/api/urls", X_API_Key=key).status == 200
            assert host.call("GET", f"/api/analytics/{link['_id']}", X_API_Key=key).status == 200
            assert host.call("GET", f"/{link['shortCode']}").status == 302
            assert host.call("GET", f"/{limited['shortCode']}").status == 503
            eventually(lambda: "Clicks stay in the journal" in host.stderr)
            assert clicks(host, link) == 1
            assert metric(host, "shortener_journal_backlog_bytes") > 0
            assert "The database commits without a synchronous standby. Changes are refused." in host.stderr

            pair.wait_for_standby()

            eventually(lambda: commits(host) == (200, "ok"))
            assert metric(host, "shortener_database_replicated") == 1
            assert create(host)[0] == 201
            eventually(lambda: clicks(host, link) == 2)
            eventually(lambda: metric(host, "shortener_journal_backlog_bytes") == 0)
            assert clicks(host, limited) == 0


def test_after_a_failover_nothing_is_acknowledged_before_the_new_primary_has_a_standby() -> None:
    with primary_and_standby() as pair:
        pair.wait_for_standby()
        with one_host(pair.url, REQUIRE_SYNCHRONOUS="yes", **LONG_TIMEOUTS) as host:
            eventually(host.is_ready)
            assert create(host)[0] == 201
            pair.kill_primary()
            pair.promote()
            # The first response of the new primary, whatever the heartbeats of the former one said.
            eventually(lambda: create(host)[1] == REFUSED[1])
            eventually(lambda: commits(host) == (503, "no synchronous standby confirms them"))
            with psycopg.connect(pair.standby.url) as database:
                assert database.execute("SELECT count(*) FROM links_link").fetchone() == (1,)


def test_commands_wait_for_the_standby_before_they_change_anything() -> None:
    """Among them the one that counts the journal of a dead host: nothing has confirmed commits for its VAR_DIR."""
    with primary_and_standby() as pair, ThreadPoolExecutor() as executor:
        pair.wait_for_standby()
        with one_host(pair.primary.url, REQUIRE_SYNCHRONOUS="yes", **LONG_TIMEOUTS) as host:
            eventually(host.is_ready)
            link = host.create_link(host.owner.api_key)
            forget_standby(pair)
            eventually(lambda: commits(host)[0] == 503)
            assert host.call("GET", f"/{link['shortCode']}").status == 302
            eventually(lambda: metric(host, "shortener_journal_backlog_bytes") > 0)
            host.kill_everything()

            rescue = host.folder / "rescue"
            shutil.copytree(host.var_dir / "clicks", rescue / "clicks")
            waiting = executor.submit(host.manage, "create_account", "ada@example.com")
            pair.wait_for_standby()
            drained = host.manage("drain_clicks", "--once", VAR_DIR=str(rescue))

            assert (drained.returncode, drained.stderr) == (0, "")
            assert waiting.result().returncode == 0, waiting.result().stderr
            with psycopg.connect(pair.primary.url) as database:
                assert database.execute("SELECT count(*) FROM analytics_rawclick").fetchone() == (1,)
