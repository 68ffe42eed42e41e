"""Listens for notifications of changed codes and hosts, and invalidates the caches of this host's workers."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

import psycopg
from django.db import connection

from common.host import cache_versions, missed_changes, state, vitals
from common.host.state import PreviousServer
from common.postgresql.bounded import BoundedConnection

CHANNEL = "destinations"
# Delay between connection attempts; it doubles up to the maximum.
RETRY_SECONDS, MAX_RETRY_SECONDS = 0.25, 2.0
# Short enough to detect a lost connection and reconnect before the host counts as out of contact.
HEARTBEAT_SECONDS = 1.0
RESPONSE_SECONDS = 2.0
_LIMITS = {"connect_timeout": 2, "tcp_user_timeout": 4000}
UNKNOWN_SERVER = ("unknown", "unknown")
# A standby sends no notifications.
_IN_RECOVERY = "SELECT pg_is_in_recovery()"
# Any role may execute these functions unless the operator has revoked that.
_IDENTITY = """
    SELECT system_identifier::text, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) FROM pg_control_system()
"""

log = logging.getLogger(__name__)


class OnStandby(Exception):
    """The server is read-only and sends no notifications."""


def follow_changes() -> NoReturn:
    """Run forever; reconnect after every database outage."""
    follower = Follower()
    while True:
        follower.follow()


class Follower:
    """``_reported`` is the logged reason why the connection is down; empty while it is up."""

    def __init__(self) -> None:
        self._reported = ""
        self._delay = RETRY_SECONDS
        self._is_identity_denied = False

    def follow(self) -> None:
        """Listen until the connection is lost, then wait until the next attempt is due."""
        try:
            parameters: dict[str, Any] = {**connection.get_connection_params(), **_LIMITS}
            with BoundedConnection.connect(**parameters, autocommit=True) as listener:
                listener.response_seconds = RESPONSE_SECONDS
                self._begin(listener)
                while True:
                    for notification in listener.notifies(timeout=HEARTBEAT_SECONDS):
                        _apply(notification.payload)
                    _heartbeat(listener)
        except OnStandby:
            self._wait("The database is a standby. Link changes will be followed once it accepts writes.")
        except psycopg.Error as error:
            self._wait(f"Cannot follow link changes at present: {str(error).strip()}")

    def _begin(self, listener: BoundedConnection) -> None:
        """Raises OnStandby."""
        if _row(listener, _IN_RECOVERY) == (True,):
            raise OnStandby
        listener.execute(f"LISTEN {CHANNEL}")
        listening_since = state.microseconds()
        system, timeline = self._identity(listener)
        former = state.note_server(system, timeline)
        if former is PreviousServer.OTHER_TIMELINE:
            log.warning(
                "Another server has taken over (timeline %s). All links will be read again.", timeline
            )
        if former is PreviousServer.OTHER_SYSTEM:
            log.warning("This is another database (system %s). All cached links are discarded.", system)
            cache_versions.bump_all()
        # The server does not repeat notifications that it sent while this process was not listening.
        missed_changes.note_gap(listening_since)
        cache_versions.expire_caches()
        state.note_heard()
        log.info("Following link changes.")
        self._reported, self._delay = "", RETRY_SECONDS

    def _identity(self, listener: BoundedConnection) -> tuple[str, str]:
        """Return the server's system identifier and timeline, or a constant if the role may not query them."""
        try:
            system, timeline = _row(listener, _IDENTITY)
        except psycopg.errors.InsufficientPrivilege as error:
            if not self._is_identity_denied:
                log.warning("A failover to another server will not be noticed: %s", str(error).strip())
                self._is_identity_denied = True
            return UNKNOWN_SERVER
        return system, timeline

    def _wait(self, reason: str) -> None:
        """Log only the first reason until the connection is up again, then sleep."""
        if not self._reported:
            log.warning(reason)
            self._reported = reason
        vitals.sleep(self._delay)
        self._delay = min(2 * self._delay, MAX_RETRY_SECONDS)


def _heartbeat(listener: BoundedConnection) -> None:
    """Query the server and apply the pending notifications, which it sends before its response."""
    vitals.beat()
    listener.execute("SELECT")
    for notification in listener.notifies(timeout=0):
        _apply(notification.payload)
    state.note_heard()


def _row(listener: BoundedConnection, query: str) -> tuple[Any, ...]:
    (row,) = listener.execute(query).fetchall()
    return tuple(row)


def _apply(message: str) -> None:
    kind, _, name = message.partition(" ")
    if kind == "code":
        cache_versions.bump(codes=[name])
    elif kind == "host":
        cache_versions.bump(hosts=[name])
    else:
        cache_versions.bump_all()
