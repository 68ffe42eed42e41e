"""Prepared answers on their way from the loader to the workers, in anonymous memory: they never reach a disk."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from functools import cache
from math import inf
from struct import Struct
from typing import NamedTuple

# A key of the fast lane and its prepared answer.
Entry = tuple[bytes, bytes]
# The lengths of both.
_FRAME = Struct("<HI")
_END = _FRAME.pack(0, 0)
# Redirect workers that start within this time of the first one share its loader.
INTERVAL_SECONDS = 10.0

log = logging.getLogger(__name__)


class Part(NamedTuple):
    """``position``: where the next part begins. ``is_last``: nothing follows."""

    entries: list[Entry]
    position: int
    is_last: bool


class SharedEntries:
    """One process writes, and the processes that were forked after the creation read at their own pace."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("links", os.MFD_CLOEXEC)
        self._written = 0

    def write(self, entries: Iterable[Entry]) -> None:
        self._append(b"".join([_FRAME.pack(len(key), len(answer)) + key + answer for key, answer in entries]))

    def finish(self) -> None:
        self._append(_END)

    def discard(self) -> None:
        """Free the memory. Readers that have not reached the end get no more."""
        os.pwrite(self._descriptor, _END, 0)
        os.ftruncate(self._descriptor, len(_END))

    @property
    def is_discarded(self) -> bool:
        """Also True if the loader has finished without any entry."""
        return os.pread(self._descriptor, len(_END), 0) == _END

    def close(self) -> None:
        os.close(self._descriptor)

    def read(self, position: int, size: int) -> Part:
        """Return the complete entries of at most ``size`` bytes from ``position``. A longer entry ends the reading."""
        data = os.pread(self._descriptor, size, position)
        entries: list[Entry] = []
        start = 0
        while start + _FRAME.size <= len(data):
            key_length, length = _FRAME.unpack_from(data, start)
            key_end = start + _FRAME.size + key_length
            if not key_length or _FRAME.size + key_length + length > size:
                return Part(entries, position + start, is_last=True)
            if key_end + length > len(data):
                break
            entries.append((data[start + _FRAME.size : key_end], data[key_end : key_end + length]))
            start = key_end + length
        is_discarded = os.fstat(self._descriptor).st_size < position
        return Part(entries, position + start, is_discarded)

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._descriptor, rest, self._written)
            self._written += written
            rest = rest[written:]


class Loaders:
    """``current`` is what a worker reads that is forked now. ``is_due``: this worker must start the loader."""

    def __init__(self) -> None:
        self.current: SharedEntries | None = None
        self.is_due = False
        self._prepared_at = -inf

    def prepare(self) -> None:
        """Call it in gunicorn's main process before it forks a redirect worker.

        Without memory or descriptors, the worker starts without a loader.
        """
        now = time.monotonic()
        has_ended = self.current is None or self.current.is_discarded
        self.is_due = has_ended or now - self._prepared_at >= INTERVAL_SECONDS
        if not self.is_due:
            return
        self._prepared_at = now
        if self.current is not None:
            self.current.close()
            self.current = None
        try:
            self.current = SharedEntries()
        except OSError as error:
            self.is_due = False
            log.warning("Cannot load links before they are requested: %s", error)


@cache
def loaders() -> Loaders:
    """Call it first in gunicorn's main process."""
    return Loaders()
