"""How many clicks of this host were answered and could be kept nowhere: the journal and the database both failed.

The number lives in a file whose place on the disk was taken before the disk was full.
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
    """Never raises: the visitor is redirected all the same."""
    try:
        descriptor = _open(settings.CLICKS_DIR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            total = _read(descriptor) + 1
            os.pwrite(descriptor, total.to_bytes(_BYTES, "big"), 0)
        finally:
            os.close(descriptor)
    except OSError as error:
        log.critical("A click was answered and is not counted, and neither is that: %s", error)
    else:
        log.critical("A click was answered and is not counted: %d in all.", total)


def dropped_clicks() -> int:
    """Since the installation began."""
    descriptor = _open(settings.CLICKS_DIR)
    try:
        return _read(descriptor)
    finally:
        os.close(descriptor)


def make_room() -> None:
    """Called while there is room."""
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
