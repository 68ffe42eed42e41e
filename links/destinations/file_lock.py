"""Waiting for the lock of a SQLite file that several processes write."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from time import sleep
from typing import TypeVar

_RETRY_SECONDS = 0.05

Result = TypeVar("Result")

log = logging.getLogger(__name__)


def when_unlocked(work: Callable[[], Result], *, is_closing: Callable[[], bool]) -> Result:
    """Repeat ``work`` while another process holds the lock, unless ``is_closing``.

    A process can be stopped while it writes, for longer than SQLite waits: on a busy machine, or by SIGSTOP. One
    attempt begins after the closing, so it fails only if the file is still locked then. Raises SQLite's errors.
    """
    has_failed = False
    while True:
        is_last = is_closing()
        try:
            return work()
        except sqlite3.OperationalError as error:
            # The lowest byte of an extended code is the code.
            is_locked = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not is_locked or is_last:
                raise
            if not has_failed:
                has_failed = True
                log.info("Another process holds the lock of the file of known links. Waiting for it.")
        sleep(_RETRY_SECONDS)
