"""A database that responds but cannot commit is not ready, whatever the cause, and is ready again afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
import pytest

from testing.programs import skip_or_fail
from testing.service.hosts import one_host
from testing.service.postgresql.outages import database_server, metric
from testing.service.postgresql.small_disk import server_on_small_disk
from testing.service.postgresql.standbys import primary_and_standby
from testing.service.running import Service, eventually

pytestmark = pytest.mark.slow


def assert_outage_is_noticed(host: Service, fault: AbstractContextManager[None], reason: str) -> None:
    """No request writes: the host finds out by itself."""
    key = host.owner.api_key
    code = host.create_link(key)["shortCode"]
    assert host.call("GET", f"/{code}").status == 302
    eventually(host.is_ready)
    assert metric(host, "shortener_database_writable") == 1
    with fault:
        eventually(lambda: metric(host, "shortener_database_writable") == 0)
        response = host.call_internal("/readyz")
        parts = {name: response.json()[name] for name in ("status", "database", "commits")}
        assert (response.status, parts) == (
            503,
            {"status": "unavailable", "database": "ok", "commits": "it does not commit"},
        )
        assert metric(host, "shortener_database_up") == 1
        assert host.call("GET", "/api/urls/stats", X_API_Key=key).status == 503
        assert host.call("GET", f"/{code}").status == 302
        eventually(lambda: f"The database does not commit: {reason}" in host.stderr)
    eventually(host.is_ready)
    assert metric(host, "shortener_database_writable") == 1
    assert host.call("GET", "/api/urls/stats", X_API_Key=key).status == 200
    assert host.stderr.count("The database does not commit") == 1


@contextmanager
def read_only(url: str) -> Iterator[None]:
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        database.execute("SELECT pg_reload_conf()")
        yield
        database.execute("SET default_transaction_read_only = off")
        database.execute("ALTER SYSTEM RESET default_transaction_read_only")
        database.execute("SELECT pg_reload_conf()")


def test_a_read_only_primary() -> None:
    with database_server() as server, one_host(server.url) as host:
        assert_outage_is_noticed(host, read_only(server.url), "The server is read-only.")


def test_a_primary_that_waits_for_a_lost_standby() -> None:
    @contextmanager
    def standby_lost() -> Iterator[None]:
        pair.stop_standby()
        yield
        pair.standby.ensure_running()

    with primary_and_standby() as pair, one_host(pair.primary.url) as host:
        pair.wait_for_standby()
        assert_outage_is_noticed(host, standby_lost(), "commits do not end")


def test_a_full_disk() -> None:
    with server_on_small_disk() as server:
        if server is None:
            skip_or_fail("NO SMALL DISK (only root can mount one)")
        with one_host(server.url) as host:
            assert_outage_is_noticed(host, server.full(), "could not write")
