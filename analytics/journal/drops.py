"""The number of redirects on this host whose click was lost because journal and database both failed.

The counter is a file whose disk space is allocated at start-up, so that it can be updated on a full disk.
"""

from __future__ import annotations

import fcntl
import logging
import os
from pathlib import Path

from django.conf import settings

from common.host.metrics import count_unstored_drop

_FILE = "dropped"
_BYTES = 8

log = logging.getLogger(__name__)


def count_drop() -> None:
    """Never raises, because the redirect continues without the click."""
    try:
        descriptor = _open(settings.CLICKS_DIR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            total = _read(descriptor) + 1
            os.pwrite(descriptor, total.to_bytes(_BYTES, "big"), 0)
        finally:
            os.close(descriptor)
    except OSError as error:
        count_unstored_drop()
        log.critical("A click was lost, and the counter of lost clicks could not be updated: %s", error)
    else:
        log.critical("A click was lost: journal and database both failed (total on this host: %d).", total)


def dropped_clicks() -> int:
    """The total on this host since its installation, without those of a time when the file could not be written."""
    try:
        descriptor = os.open(settings.CLICKS_DIR / _FILE, os.O_RDONLY)
    except FileNotFoundError:
        return 0
    try:
        return _read(descriptor)
    finally:
        os.close(descriptor)


def allocate_drop_counter() -> None:
    """Create the file while the disk has free space. Never raises."""
    try:
        os.close(_open(settings.CLICKS_DIR))
    except OSError as error:
        log.error("The counter of lost clicks cannot be created: %s", error)


def _open(folder: Path) -> int:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / _FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(descriptor).st_size < _BYTES:
            os.pwrite(descriptor, bytes(_BYTES), 0)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _read(descriptor: int) -> int:
    return int.from_bytes(os.pread(descriptor, _BYTES, 0), "big")
