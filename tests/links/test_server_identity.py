"""Following changes as a role that may not query the identity of the server."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection

from common.host import state
from common.postgresql import servers
from common.postgresql.timeouts import BoundedConnection
from links.destinations.invalidation_listener import Follower
from testing.polling import DEADLINE

ROLE, PASSWORD = "restricted_follower", "secret"


@pytest.fixture
def restricted(transactional_db: None) -> Iterator[dict[str, Any]]:
    """The connection parameters of a role without the right to execute pg_control_system()."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")
        cursor.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    yield {**connection.get_connection_params(), "user": ROLE, "password": PASSWORD}
    with connection.cursor() as cursor:
        cursor.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")
        cursor.execute(f"DROP ROLE {ROLE}")


def test_without_the_right_to_identify_the_server_changes_are_followed(
    restricted: dict[str, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[bool] = []
    monkeypatch.setattr(state, "note_heard", lambda asked_at: noted.append(True))
    follower = Follower()
    for _ in range(2):
        with BoundedConnection.connect(**restricted, autocommit=True) as listener:
            listener.response_seconds = DEADLINE
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                listener.execute("SELECT pg_control_system()")
            follower._begin(listener, servers.admit(listener))

    assert noted == [True, True]
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    denied = [message for message in warnings if "failover" in message]
    assert denied == [
        "A failover to another server will not be noticed: permission denied for function pg_control_system"
    ]
