"""Files in which the processes of one host share their metrics, so that each can report the totals.

A process takes the lowest number that no living process holds (flock) and continues in the files of that
number. So totals never decrease, there are never more files than concurrent processes, and a process that
dies in any way leaves nothing to clean up.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path

from prometheus_client import values

# Files are allocated in advance: a write to a mapped page without disk space kills the process.
ALLOCATED_BYTES = {"counter": 16 * 1024, "histogram": 1024 * 1024}


class Number:
    """The number of this process in a folder. A forked child takes another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = -1
        self._number: int | None = None
        os.register_at_fork(after_in_child=self.release)

    def get(self) -> int:
        """Return the number, and take one first if this process has none. Raises OSError."""
        if self._number is None:
            self._number = self._take()
        return self._number

    def _take(self) -> int:
        number = 0
        while (descriptor := _lock(self._folder, number)) is None:
            number += 1
        try:
            for kind, size in ALLOCATED_BYTES.items():
                _allocate(_file(self._folder, kind, number), size)
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return number

    def change(self) -> None:
        """Take another number and release this one. Raises OSError."""
        if self._number is not None:
            former = self._descriptor
            self._number = self._take()
            os.close(former)

    def release(self) -> None:
        """Leave the number to other processes. A fork that calls this does not release its parent's number."""
        if self._number is not None:
            os.close(self._descriptor)
            self._number = None


# Of this process, one for each shared folder.
_numbers: list[Number] = []


def share(folder: Path) -> None:
    """Store every metric created from now on in the folder. Raises OSError."""
    # Used until a number is taken: prometheus_client would expect the folder to exist at once.
    values.ValueClass = values.MutexValue
    _numbers.append(Number(folder))
    values.ValueClass = values.MultiProcessValue(_numbers[-1].get)


def create(folder: Path) -> None:
    """Create the folder for this account only. Raises OSError, also if it belongs to another account."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to another account.")


def prepare(folder: Path) -> None:
    """Create the folder and remove the files of dead processes. Raises OSError."""
    create(folder)
    clear(folder)


def start_afresh(folder: Path) -> None:
    """Remove the files of dead processes, including one that this process has continued. Raises OSError."""
    clear(folder)
    for number in _numbers:
        number.change()
    clear(folder)


def clear(folder: Path) -> None:
    """Remove the files of dead processes. Raises OSError."""
    for path in folder.glob("*.lock"):
        descriptor = _lock(folder, int(path.stem))
        if descriptor is not None:
            for kind in ALLOCATED_BYTES:
                file = _file(folder, kind, int(path.stem))
                file.unlink(missing_ok=True)
                _unfinished(file).unlink(missing_ok=True)
            path.unlink()
            os.close(descriptor)


def remove(folder: Path) -> None:
    """Remove the folder, or nothing if another process still uses it. This process must not count afterwards."""
    for number in _numbers:
        number.release()
    if _is_used(folder):
        return
    clear(folder)
    with suppress(OSError):
        folder.rmdir()


def _is_used(folder: Path) -> bool:
    for path in folder.glob("*.lock"):
        descriptor = _lock(folder, int(path.stem))
        if descriptor is None:
            return True
        os.close(descriptor)
    return False


def _lock(folder: Path, number: int) -> int | None:
    """A lock on the number, or None if another process holds it."""
    path = folder / f"{number}.lock"
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        # Its former holder may have deleted the file.
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def _file(folder: Path, kind: str, number: int) -> Path:
    """The file name that prometheus_client expects."""
    return folder / f"{kind}_{number}.db"


def _allocate(path: Path, size: int) -> None:
    """Allocate the file under another name: an empty file would make a whole scrape fail."""
    with suppress(FileNotFoundError):
        if path.stat().st_size >= size:
            return
    unfinished = _unfinished(path)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if os.pwrite(descriptor, bytes(size), 0) < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        unfinished.rename(path)
    except OSError:
        unfinished.unlink()
        raise
    finally:
        os.close(descriptor)


def _unfinished(path: Path) -> Path:
    return path.with_suffix(".new")
