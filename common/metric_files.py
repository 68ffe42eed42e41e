"""Where the processes of one host leave what they count, so that each of them can tell the sums of all.

A process takes the lowest number that no living one holds (flock), and goes on in the files of that number from where
its last holder came to. So no sum ever falls, there are never more files than there were processes at once, and a
process that dies, however it dies, leaves nothing to be tidied.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path

from prometheus_client import values

# Taken before it is needed: a page of a mapped file for which there is no room any more kills who writes to it.
ROOM = {"counter": 16 * 1024, "histogram": 256 * 1024}


class Number:
    """That of this process in a folder; another after a fork."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = -1
        self._number: int | None = None
        os.register_at_fork(after_in_child=self._forget)

    def get(self) -> int:
        """Raises OSError."""
        if self._number is None:
            self._number = self._take()
        return self._number

    def _take(self) -> int:
        number = 0
        while (descriptor := _lock(self._folder, number)) is None:
            number += 1
        try:
            for kind, room in ROOM.items():
                _make_room(_file(self._folder, kind, number), room)
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return number

    def _forget(self) -> None:
        """The lock is the parent's and stays it."""
        if self._number is not None:
            os.close(self._descriptor)
            self._number = None


def share(folder: Path) -> None:
    """Has every metric that is made from now on kept there, not in this process alone. Raises OSError."""
    # Until a number is had; the library itself goes by the environment, and would want the folder to be there.
    values.ValueClass = values.MutexValue
    values.ValueClass = values.MultiProcessValue(Number(folder).get)  # type: ignore[no-untyped-call]


def prepare(folder: Path) -> None:
    """Makes the folder, and empties it of what dead processes left. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to another account.")
    clear(folder)


def clear(folder: Path) -> None:
    for path in folder.glob("*.lock"):
        descriptor = _lock(folder, int(path.stem))
        if descriptor is not None:
            for kind in ROOM:
                _file(folder, kind, int(path.stem)).unlink(missing_ok=True)
            path.unlink()
            os.close(descriptor)


def remove(folder: Path) -> None:
    """Unless somebody still counts there."""
    clear(folder)
    with suppress(OSError):
        folder.rmdir()


def _lock(folder: Path, number: int) -> int | None:
    """None while somebody holds it."""
    path = folder / f"{number}.lock"
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        # Whoever held it before may have deleted it.
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def _file(folder: Path, kind: str, number: int) -> Path:
    """Named as prometheus_client looks for it."""
    return folder / f"{kind}_{number}.db"


def _make_room(path: Path, size: int) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(descriptor).st_size < size and os.pwrite(descriptor, bytes(size), 0) < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(descriptor)
