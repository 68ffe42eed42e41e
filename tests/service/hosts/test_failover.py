"""Failover to a standby, and loss of the standby, on a real pair of PostgreSQL servers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from testing.service.clients.creators import DESTINATION, Creator
from testing.service.clients.memory import status_and_location
from testing.service.hosts import SECRET_KEY, one_host, one_to_each_worker
from testing.service.limits import LONG_TIMEOUTS
from testing.service.postgresql.outages import wait_until_hearing
from testing.service.postgresql.standbys import Pair, primary_and_standby
from testing.service.running import REPOSITORY, Connection, eventually

pytestmark = pytest.mark.slow


@pytest.fixture
def pair() -> Iterator[Pair]:
    with primary_and_standby() as pair:
        yield pair


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as database:
        return database.execute(query).fetchall()


def test_failover_to_a_synchronous_standby_loses_and_repeats_nothing(pair: Pair) -> None:
    with one_host(pair.url, WEB_CONCURRENCY="2", **LONG_TIMEOUTS) as service:
        key = service.owner.api_key
        link = service.create_link(key)
        pair.wait_for_standby()
        with ExitStack() as opened:
            connections = one_to_each_worker(service, opened)
            assert [status_and_location(connection, link["shortCode"]) for connection in connections] == [
                (302, DESTINATION)
            ] * 2
            with Creator(service, key).running() as creator:
                creator.create_more()
                pair.kill_primary()
                pair.promote()
                creator.create_more()
            # Every worker is notified of changes on the new primary.
            eventually(lambda: "Another server has taken over" in service.stderr)
            wait_until_hearing(service)
            changed = service.call("PUT", f"/api/urls/{link['_id']}", {"isActive": False}, X_API_Key=key)
            assert changed.status == 200
            assert [status_and_location(connection, link["shortCode"])[0] for connection in connections] == [
                410
            ] * 2
        stored = rows(
            pair.standby.url,
            "SELECT original_url, short_code FROM links_link WHERE original_url LIKE '%/page/%'",
        )
        assert {url: code for url, code in stored if url in creator.acknowledged} == creator.acknowledged
        assert len(stored) - len(creator.acknowledged) in (0, 1)
        assert len({url for url, _ in stored}) == len(stored)


def test_a_commit_that_waits_for_a_lost_standby_gets_a_response_and_blocks_no_other_request(
    pair: Pair,
) -> None:
    # Longer than the default, which a busy machine can exceed before the standby is lost.
    with one_host(pair.url, API_CONCURRENCY="1", STATEMENT_TIMEOUT_MS="10000") as service:
        key = service.owner.api_key
        link = service.create_link(key)
        assert service.call("GET", f"/{link['shortCode']}").status == 302
        credentials = {"email": service.owner.email, "password": service.owner.password}
        token = service.call("POST", "/api/auth/login", credentials).json()["token"]
        pair.wait_for_standby()
        pair.stop_standby()
        # Reads with a token do not wait, also not the one that records the use of the session.
        with psycopg.connect(pair.primary.url) as database:
            database.execute("SET synchronous_commit = off")
            database.execute("UPDATE accounts_session SET last_used_at = last_used_at - interval '1 hour'")
        for _ in range(2):
            read = service.call("GET", f"/api/urls/{link['_id']}", Authorization=f"Bearer {token}")
            assert read.status == 200
        # More requests than threads.
        waiting = [Connection(service.port) for _ in range(12)]
        for number, connection in enumerate(waiting):
            body = {"originalUrl": DESTINATION}
            connection.send_request(
                "POST", "/api/urls", body, X_API_Key=key, Idempotency_Key=f"waiting-{number}"
            )
        responses = [connection.receive() for connection in waiting]
        assert {response.status for response in responses} == {503}
        unconfirmed = "The database did not confirm this in time, so it may or may not have been done."
        assert any(response.json()["message"].startswith(unconfirmed) for response in responses)
        assert service.call("GET", "/healthz").status == 200
        assert service.call("GET", f"/{link['shortCode']}").status == 302
        # Waiting commits do not accumulate on the server.
        (held,) = rows(
            pair.primary.url, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        )[0]
        assert held <= 12

        pair.standby.ensure_running()

        def again(number: int) -> int:
            response = service.call(
                "POST",
                "/api/urls",
                {"originalUrl": DESTINATION},
                X_API_Key=key,
                Idempotency_Key=f"waiting-{number}",
            )
            return response.status

        for number in range(12):
            eventually(lambda number=number: again(number) == 201)
        assert rows(pair.primary.url, "SELECT count(*) FROM links_link") == [(13,)]
        for connection in waiting:
            connection.close()


def test_on_a_standby_the_follower_waits_until_it_takes_writes(pair: Pair) -> None:
    with one_host(pair.primary.url) as service:
        environment = {**service.environment, "DATABASE_URL": pair.standby.url, "SECRET_KEY": SECRET_KEY}
        environment["VAR_DIR"] = f"{service.folder}/follower"
        command = [sys.executable, "manage.py", "follow_changes"]
        log = service.folder / "follower.log"
        with log.open("wb") as stderr:
            follower = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stderr=stderr)
        try:
            eventually(lambda: "standby" in log.read_text())
            pair.kill_primary()
            pair.promote()
            eventually(lambda: "Following link changes." in log.read_text())
            assert follower.poll() is None
            assert log.read_text().count("is a standby") == 1
            assert "Traceback" not in log.read_text()
        finally:
            follower.kill()
            follower.wait()
