"""Responses that are produced while their client reads them, and how many a workspace has at once, over all hosts.

A client that reads slowly occupies no thread, because the server pauses its response, and ends one that is read too
slowly. Producing a response occupies a thread, so that has a longest time, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

from django.db import Error

from common.errors import Unavailable
from limits.rates import Lease, acquire_lease, release_lease

PER_WORKSPACE = 2
# The longest time that a thread produces a download. One whose worker was killed counts for so long.
MAX_SECONDS = 600


class Busy(Unavailable):
    code = "busy"
    message = "Too many exports are under way at once. Try again shortly."
    retry_after = 5


class Download:
    """Chunks of a response. The first one is produced at once, so an early failure becomes an ordinary error response.

    Raises Busy. The creator must close it.
    """

    def __init__(self, workspace: int, chunks: Iterator[bytes]) -> None:
        subject = f"downloads of workspace {workspace}"
        self._lease: Lease | None = acquire_lease(subject, limit=PER_WORKSPACE, seconds=MAX_SECONDS)
        if self._lease is None:
            raise Busy
        self._chunks = chunks
        try:
            self._first = next(chunks, b"")
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        yield self._take_first()
        busy = 0.0
        while busy < MAX_SECONDS:
            started = time.monotonic()
            chunk = next(self._chunks, None)
            busy += time.monotonic() - started
            if chunk is None:
                return
            yield chunk
        # The client notices that the response has no end.
        raise TimeoutError("A download took too long to produce.")

    def close(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            # If the database is unavailable, the lease expires.
            with suppress(Error):
                release_lease(lease)

    def _take_first(self) -> bytes:
        """Keep no reference, so that a paused response holds only its unsent bytes."""
        first, self._first = self._first, b""
        return first
