"""Long answers. Each holds a thread of its worker for as long as its reader takes, so they are few at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from common.errors import Unavailable

# Of a worker's four threads; the rest are for everybody else.
ROOM = 2


class Busy(Unavailable):
    code = "busy"
    message = "Too many exports are under way at once. Try again shortly."
    retry_after = 5


_room = threading.BoundedSemaphore(ROOM)


class Download:
    """Pieces of an answer, of which the first is there already: what goes wrong at once is an error like any other.

    Raises Busy. Whoever makes one must close it.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._is_open = _room.acquire(blocking=False)
        if not self._is_open:
            raise Busy
        self._pieces = pieces
        try:
            self._first = next(pieces, b"")
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        yield self._first
        yield from self._pieces

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            _room.release()

    def __del__(self) -> None:
        """Of an answer that nobody came to send."""
        self.close()
