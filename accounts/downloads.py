"""Responses that are produced while their client reads them, and how many a workspace or an account has at once.

A client that reads slowly occupies no thread, because the server pauses its response, and ends one that is read too
slowly. Producing a response occupies a thread, so that has a longest time, too. The limits are those of all hosts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

from django.db import Error

from common.errors import Unavailable
from limits.rates import Lease, acquire_lease, release_lease, renew_lease

PER_WORKSPACE = 2
# In all of its workspaces.
PER_ACCOUNT = 4
# The longest time that a thread produces a download. One whose worker was killed counts for so long.
MAX_SECONDS = 600
# A client may take longer to read a response, which keeps its places.
RENEWED_SECONDS = 60


class Busy(Unavailable):
    code = "busy"
    message = "Too many exports are under way at once. Try again shortly."
    retry_after = 5


class Download:
    """Chunks of a response. The first one is produced at once, so an early failure becomes an ordinary error response.

    Raises Busy. The creator must close it.
    """

    def __init__(self, chunks: Iterator[bytes], *, workspace: int, account: int) -> None:
        self._leases: list[Lease] = []
        self._chunks = chunks
        try:
            self._acquire(f"downloads of workspace {workspace}", PER_WORKSPACE)
            self._acquire(f"downloads of account {account}", PER_ACCOUNT)
            self._first = next(chunks, b"")
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        yield self._take_first()
        busy, renewed = 0.0, time.monotonic()
        while busy < MAX_SECONDS:
            started = time.monotonic()
            if started - renewed >= RENEWED_SECONDS:
                self._renew()
                renewed = started
            chunk = next(self._chunks, None)
            busy += time.monotonic() - started
            if chunk is None:
                return
            yield chunk
        # The client notices that the response has no end.
        raise TimeoutError("A download took too long to produce.")

    def close(self) -> None:
        leases, self._leases = self._leases, []
        for lease in leases:
            # If the database is unavailable, the lease expires.
            with suppress(Error):
                release_lease(lease)

    def _acquire(self, subject: str, limit: int) -> None:
        lease = acquire_lease(subject, limit=limit, seconds=MAX_SECONDS)
        if lease is None:
            raise Busy
        self._leases.append(lease)

    def _renew(self) -> None:
        for number, lease in enumerate(self._leases):
            renewed = renew_lease(lease, seconds=MAX_SECONDS)
            if renewed is None:
                raise TimeoutError("A download was read too slowly.")
            self._leases[number] = renewed

    def _take_first(self) -> bytes:
        """Keep no reference, so that a paused response holds only its unsent bytes."""
        first, self._first = self._first, b""
        return first
