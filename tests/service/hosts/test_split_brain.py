"""Two primaries at once: a standby is promoted while the former primary lives on and keeps its connections."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from testing.service.clients.creators import DESTINATION
from testing.service.clients.memory import status_and_location
from testing.service.hosts import one_host, one_to_each_worker, two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.metrics import metric
from testing.service.postgresql.standbys import Pair, primary_and_standby
from testing.service.running import Service, eventually

NEW = "https://example.com/new"


@pytest.fixture
def pair() -> Iterator[Pair]:
    with primary_and_standby() as pair:
        yield pair


def readiness(service: Service) -> dict[str, str]:
    return service.call("GET", "/readyz").json()


def is_on(service: Service, url: str) -> bool:
    """Whether the processes of this host have connections to this server, besides those of the test."""
    with psycopg.connect(url) as database:
        query = """
            SELECT count(*) FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid()
        """
        return database.execute(query).fetchone() != (0,)


def test_a_host_that_reaches_both_primaries_uses_the_new_one_only(pair: Pair) -> None:
    """The former primary is named first and accepts writes. Another host uses the new one alone."""
    with two_hosts(pair.url, WEB_CONCURRENCY="2", **LONG_TIMEOUTS) as (here, there), ExitStack() as opened:
        key = there.owner.api_key if (there.var_dir / "first_account.txt").exists() else here.owner.api_key
        token = login(here if (here.var_dir / "first_account.txt").exists() else there)
        edited, disabled, deleted = (here.create_link(key) for _ in range(3))
        codes = [link["shortCode"] for link in (edited, disabled, deleted)]
        visitors = one_to_each_worker(here, opened)
        for visitor in visitors:
            assert [status_and_location(visitor, code) for code in codes] == [(302, DESTINATION)] * 3
        assert read(here, key) == 200

        pair.split()
        # The first of both hosts to meet the new primary leads no other: each has its own memory.
        for host in (here, there):
            eventually(lambda host=host: not is_former_used(host, pair))
        assert there.call("PUT", f"/api/urls/{edited['_id']}", {"originalUrl": NEW}, X_API_Key=key).status == 200
        assert there.call("PUT", f"/api/urls/{disabled['_id']}", {"isActive": False}, X_API_Key=key).status == 200
        assert there.call("DELETE", f"/api/urls/{deleted['_id']}", X_API_Key=key).status == 200
        rotated = there.call("POST", "/api/auth/regenerate-api-key", Authorization=f"Bearer {token}")
        assert rotated.status == 200
        for visitor in visitors:
            eventually(lambda visitor=visitor: status_and_location(visitor, codes[0]) == (302, NEW))
            eventually(lambda visitor=visitor: status_and_location(visitor, codes[1])[0] == 410)
            eventually(lambda visitor=visitor: status_and_location(visitor, codes[2])[0] == 404)
        assert read(here, key) == 401
        assert read(here, rotated.json()["apiKey"]) == 200
        eventually(here.is_ready)
        assert metric(here, "shortener_database_former_primary") == 1
        assert metric(here, "shortener_database_gone_back") == 0
        assert "A former primary still accepts connections" in here.stderr
