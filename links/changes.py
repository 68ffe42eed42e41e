"""Follows what the database tells of changed codes and hosts, so that the workers of this host forget what was."""

from __future__ import annotations

import logging
import time
from typing import NoReturn

import psycopg
from django.db import connection

from common import versions

CHANNEL = "destinations"
RETRY_SECONDS = 0.25
# A connection whose other end vanished without a word is given up within a few seconds.
_KEEPALIVES = {
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "tcp_user_timeout": 4000,
    "connect_timeout": 2,
}

log = logging.getLogger(__name__)


def follow_changes() -> NoReturn:
    """For ever. Outlives the database."""
    waiting = False
    while True:
        try:
            parameters = {**connection.get_connection_params(), **_KEEPALIVES}
            with psycopg.connect(**parameters, autocommit=True) as listener:
                listener.execute(f"LISTEN {CHANNEL}")
                # What was told while nobody listened is not told again.
                versions.bump_all()
                log.info("Changes of links are followed.")
                waiting = False
                for notification in listener.notifies():
                    _apply(notification.payload)
        except psycopg.OperationalError as error:
            if not waiting:
                log.warning("Changes of links cannot be followed for now: %s", str(error).strip())
            waiting = True
            time.sleep(RETRY_SECONDS)


def _apply(message: str) -> None:
    kind, _, name = message.partition(" ")
    if kind == "code":
        versions.bump(codes=[name])
    elif kind == "host":
        versions.bump(hosts=[name])
    else:
        versions.bump_all()
