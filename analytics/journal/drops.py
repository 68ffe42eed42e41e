"""The number of redirects on this host whose click was lost because journal and database both failed.

The counter is a file whose disk space is allocated at start-up, so that it can be updated on a full disk.
"""

from __future__ import annotations

import fcntl
import logging
import os
from pathlib import Path

from django.conf import settings

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
        log.critical("A click was lost, and the counter of lost clicks could not be updated: %s", error)
    else:
        log.critical("A click was lost: journal and database both failed (total on this host: %d).", total)


def dropped_clicks() -> int:
    """The total on this host since its installation."""
    descriptor = _open(settings.CLICKS_DIR)
    try:
        return _read(descriptor)
    finally:
        os.close(descriptor)


def allocate_drop_counter() -> None:
    """Create the file while the disk has free space."""
    dropped_clicks()


def _open(folder: Path) -> int:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / "dropped", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(descriptor).st_size < _BYTES:
            os.pwrite(descriptor, bytes(_BYTES), 0)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _read(descriptor: int) -> int:
    return int.from_bytes(os.pread(descriptor, _BYTES, 0), "big")
