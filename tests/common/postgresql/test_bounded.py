"""Waits end even if the server does not respond."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from common.postgresql import timeouts
from common.postgresql.timeouts import BoundedConnection, ResponseTimeout
from testing.polling import DEADLINE, eventually

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def abandoned_sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Collect the sockets of one test only: the server may still be working for others."""
    sockets: list[socket.socket] = []
    monkeypatch.setattr(timeouts, "sockets", sockets)
    yield
    for sock in sockets:
        sock.close()


@pytest.fixture
def bounded() -> Iterator[BoundedConnection]:
    parameters = connection.get_connection_params()
    with psycopg.connect(**parameters, autocommit=True) as other:
        bounded = BoundedConnection.connect(**parameters, autocommit=True)
        pid = bounded.info.backend_pid
        yield bounded
        bounded.close()
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    eventually(lambda: not timeouts.limit_reached())


def test_a_statement_that_times_out_ends_the_connection(bounded: BoundedConnection) -> None:
    bounded.response_seconds = 0.1
    with pytest.raises(ResponseTimeout, match="may still execute the statement"):
        bounded.execute("SELECT pg_sleep(60)")

    assert bounded.closed


def test_waiting_for_notifications_may_take_longer(bounded: BoundedConnection) -> None:
    bounded.response_seconds = 0.1

    assert [*bounded.notifies(timeout=0.3)] == []
    bounded.response_seconds = DEADLINE
    assert bounded.execute("SELECT 1").fetchone() == (1,)


def test_too_many_unfinished_statements_are_counted_until_the_server_finishes_them() -> None:
    pairs = [socket.socketpair() for _ in range(timeouts.MAX_ABANDONED)]
    for ours, _ in pairs:
        assert not timeouts.limit_reached()
        timeouts.track(ours.fileno())
        ours.close()
    assert timeouts.limit_reached()

    for _, servers in pairs:
        servers.close()

    assert not timeouts.limit_reached()
