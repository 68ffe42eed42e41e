"""Leases on the server, implemented as flocks: the kernel releases them however their holder dies."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from .errors import operator_errors


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock of this file. Waits for it without a time limit."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Closing is not enough: if another thread has forked meanwhile, the child shares this open file.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


class Lease:
    """One user of the server, until `release` or until the process and its forks exit.

    Garbage collection does not release it: the server must not stop while the process still uses it.
    """

    def __init__(self, startstop_lock: Path, users_lock: Path, stop_server: Callable[[], None]) -> None:
        """Take a lease. Hold the start/stop lock: otherwise another process could stop the server meanwhile."""
        self._startstop_lock = startstop_lock
        self._stop_server = stop_server
        self._process = os.getpid()
        self._descriptor: int | None = _open(users_lock)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    @operator_errors()
    def release(self) -> None:
        """Release the lease. Releasing the last lease of the host stops the server and waits until it has exited."""
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
        """As `release`, for a caller that holds the start/stop lock. Returns whether it was the last lease."""
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
    # Python's descriptors are not inheritable, so the server never holds a lease.
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
