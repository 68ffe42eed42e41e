"""Listens for notifications of changed codes and hosts, and invalidates the caches of this host's workers."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

import psycopg
from django.db import connection

from common.host import cache_versions, primary, state, vitals
from common.host.primary import UNKNOWN, Followed
from common.postgresql import servers
from common.postgresql.servers import OnStandby, Server, watch_servers
from common.postgresql.timeouts import BoundedConnection

CHANNEL = "destinations"
# Delay between connection attempts; it doubles up to the maximum.
RETRY_SECONDS, MAX_RETRY_SECONDS = 0.25, 2.0
# Short enough to detect a lost connection and reconnect before the host counts as out of contact.
HEARTBEAT_SECONDS = 1.0
RESPONSE_SECONDS = 2.0
_LIMITS = {"connect_timeout": 2, "tcp_user_timeout": 4000}

log = logging.getLogger(__name__)


class Replaced(Exception):
    """Another process of this host has met a server with a higher timeline."""


def follow_changes() -> NoReturn:
    """Run forever; reconnect after every database outage, and check the servers meanwhile."""
    watch_servers(_parameters())
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
            listener, server = servers.connect(BoundedConnection.connect_in_autocommit, _parameters())
            with listener:
                listener.response_seconds = RESPONSE_SECONDS
                self._begin(listener, server)
                while True:
                    for notification in listener.notifies(timeout=HEARTBEAT_SECONDS):
                        _apply(notification.payload)
                    _heartbeat(listener, server)
        except Replaced:
            return
        except OnStandby:
            self._wait("The database is a standby. Link changes will be followed once it accepts writes.")
        except psycopg.Error as error:
            self._wait(f"Cannot follow link changes at present: {str(error).strip()}")

    def _begin(self, listener: BoundedConnection, server: Server) -> None:
        listener.execute(f"LISTEN {CHANNEL}")
        listening_since = state.microseconds()
        if server.number == UNKNOWN and not self._is_identity_denied:
            log.warning("A failover to another server will not be noticed: %s", server.reason)
            self._is_identity_denied = True
        former = primary.note_followed(server.number)
        if former is Followed.OTHER_TIMELINE:
            log.warning(
                "Another server has taken over (timeline %d). All links will be read again.",
                primary.timeline_of(server.number),
            )
        if former is Followed.OTHER_SYSTEM:
            log.warning("This is another database. All cached links are discarded.")
            cache_versions.bump_all()
        # The server does not repeat notifications that it sent while this process was not listening.
        state.note_gap(listening_since)
        cache_versions.expire_caches()
        state.note_heard(listening_since)
        # In between, a worker may have cached again what this host remembered (`links.destinations.patience`).
        cache_versions.expire_caches()
        log.info("Following link changes.")
        self._reported, self._delay = "", RETRY_SECONDS

    def _wait(self, reason: str) -> None:
        """Log only the first reason until the connection is up again, then sleep."""
        if not self._reported:
            log.warning(reason)
            self._reported = reason
        vitals.sleep(self._delay)
        self._delay = min(2 * self._delay, MAX_RETRY_SECONDS)


def _parameters() -> dict[str, Any]:
    return {**connection.get_connection_params(), **_LIMITS}


def _heartbeat(listener: BoundedConnection, server: Server) -> None:
    """Query the server and apply the pending notifications, which it sends before its response. Raises Replaced."""
    vitals.beat()
    # The response may come seconds later.
    asked_at = state.microseconds()
    listener.execute("SELECT")
    for notification in listener.notifies(timeout=0):
        _apply(notification.payload)
    if primary.is_former(server.number):
        raise Replaced
    state.note_heard(asked_at)


def _apply(message: str) -> None:
    kind, _, name = message.partition(" ")
    if kind == "code":
        cache_versions.bump(codes=[name])
    elif kind == "host":
        cache_versions.bump(hosts=[name])
    else:
        cache_versions.bump_all()
