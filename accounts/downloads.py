"""Responses that are produced while their client reads them, and how many a workspace may have.

A client that reads slowly occupies no thread, because the server pauses its response, and ends one that is read too
slowly. Producing one occupies a thread, so a process, too, has a limited number of them, and each a limited time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

from django.db import Error

from accounts.admission import PER_PROCESS
from common.errors import Unavailable
from limits.rates import Lease, acquire_lease, release_lease

PER_WORKSPACE = 2
# The longest time of a download. One whose worker was killed counts for so long.
MAX_SECONDS = 600


class Busy(Unavailable):
    code = "busy"
    message = "Too many exports are under way at once. Try again shortly."
    retry_after = 5


# The occupied places of this process. Single dict operations need no lock, which `Download.__del__` could not acquire
# safely: it may run at any time, in any thread.
_occupied: dict[int, object] = {}


class Download:
    """Chunks of a response. The first one is produced at once, so an early failure becomes an ordinary error response.

    Raises Busy. The creator must close it.
    """

    def __init__(self, workspace: int, chunks: Iterator[bytes]) -> None:
        self._place: int | None = None
        self._lease: Lease | None = None
        self._place = _occupy_place()
        try:
            self._lease = acquire_lease(
                f"downloads of workspace {workspace}", limit=PER_WORKSPACE, seconds=MAX_SECONDS
            )
            if self._lease is None:
                raise Busy
            self._end = time.monotonic() + MAX_SECONDS
            self._chunks = chunks
            self._first = next(chunks, b"")
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        yield self._take_first()
        for chunk in self._chunks:
            if time.monotonic() > self._end:
                # The client notices that the response has no end.
                raise TimeoutError("A download took too long.")
            yield chunk

    def close(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            # If the database is unavailable, the lease expires.
            with suppress(Error):
                release_lease(lease)
        self._leave_place()

    def __del__(self) -> None:
        """Release the place if the server discarded the response without closing it. The lease expires."""
        self._leave_place()

    def _leave_place(self) -> None:
        if self._place is not None:
            _occupied.pop(self._place, None)
            self._place = None

    def _take_first(self) -> bytes:
        """Keep no reference, so that a paused response holds only its unsent bytes."""
        first, self._first = self._first, b""
        return first


def _occupy_place() -> int:
    token = object()
    for number in range(PER_PROCESS):
        if _occupied.setdefault(number, token) is token:
            return number
    raise Busy
