"""Long streamed responses. A client that reads slowly occupies no thread, and only its own account's slots.

Each process limits the concurrent downloads of an account. The server ends a response that its client reads too
slowly, so every slot becomes free again.
"""

from __future__ import annotations

from collections.abc import Iterator

from common.errors import Unavailable

MAX_PER_ACCOUNT = 2


class Busy(Unavailable):
    code = "busy"
    message = "Too many exports are under way at once. Try again shortly."
    retry_after = 5


# The occupied slots: (account, number). Single dict operations need no lock, which `Download.__del__` could not
# acquire safely: it may run at any time, in any thread.
_occupied: dict[tuple[int, int], object] = {}


class Download:
    """Chunks of a response. The first one is produced at once, so an early failure becomes an ordinary error response.

    Raises Busy. The creator must close it.
    """

    def __init__(self, account: int, chunks: Iterator[bytes]) -> None:
        self._slot: tuple[int, int] | None = None
        self._slot = _acquire(account)
        self._chunks = chunks
        try:
            self._first = next(chunks, b"")
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        yield self._take_first()
        yield from self._chunks

    def close(self) -> None:
        if self._slot is not None:
            _occupied.pop(self._slot, None)
            self._slot = None

    def __del__(self) -> None:
        """Release the slot if the server discarded the response without closing it."""
        self.close()

    def _take_first(self) -> bytes:
        """Keep no reference, so that a paused response holds only its unsent bytes."""
        first, self._first = self._first, b""
        return first


def _acquire(account: int) -> tuple[int, int]:
    token = object()
    for number in range(MAX_PER_ACCOUNT):
        if _occupied.setdefault((account, number), token) is token:
            return account, number
    raise Busy
