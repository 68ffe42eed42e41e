"""Who uses the server: flocks, which the kernel drops however their holder dies."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from .errors import operator_errors


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock of this file, waiting for it as long as it takes."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Closing is not enough: a child forked meanwhile by another thread shares this open file.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


class Lease:
    """One user of the server. It lasts until it is released, or until the process (and its forks) end.

    It is never dropped by the garbage collector: a server must not vanish under a running process.
    """

    def __init__(self, startstop_lock: Path, users_lock: Path, stop_server: Callable[[], None]) -> None:
        """Take a lease. The caller holds the start/stop lock, or the server may be stopped meanwhile."""
        self._startstop_lock = startstop_lock
        self._stop_server = stop_server
        self._process = os.getpid()
        self._descriptor: int | None = _open(users_lock)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    @operator_errors()
    def release(self) -> None:
        """Give the lease up; the last one of the host stops the server and waits for its end."""
        if self._descriptor is None:
            return
        if os.getpid() != self._process:
            # A forked child shares the parent's flock and would release it for the parent.
            os.close(self._descriptor)
            self._descriptor = None
            return
        with exclusive(self._startstop_lock):
            self.release_under_lock()

    def release_under_lock(self) -> bool:
        """As `release`, for a caller that holds the start/stop lock; whether it was the last."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return False
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self._stop_server()
            return True
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def __enter__(self) -> "Lease":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _open(path: Path) -> int:
    # Python's descriptors are not inherited by the programs it starts: the server must never hold a lease.
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
