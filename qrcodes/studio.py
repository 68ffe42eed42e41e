"""Where images are drawn. Every request holds a thread, and redirects need some of them, too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from common.errors import Unavailable

# One of a worker's four threads is left, which turns the rest away and follows links meanwhile.
ROOM = 3
PATIENCE_SECONDS = 5


class Busy(Unavailable):
    code = "busy"
    message = "Too many images are asked for at once. Try again shortly."


class Studio:
    """A room for a few, of whom one at a time is served. Raises Busy."""

    def __init__(self, room: int, patience: float) -> None:
        self._room = threading.BoundedSemaphore(room)
        # Always the same thread, as each keeps the memory that it has used. It starts with the first image.
        self._draughtsman = ThreadPoolExecutor(1, "drawing")
        self._patience = patience

    @contextmanager
    def room(self) -> Iterator[None]:
        """Whoever finds it full is turned away at once, and should not have cost anything before."""
        if not self._room.acquire(blocking=False):
            raise Busy
        try:
            yield
        finally:
            self._room.release()

    def draw(self, picture: Callable[[], bytes]) -> bytes:
        drawing = self._draughtsman.submit(picture)
        try:
            return drawing.result(self._patience)
        except TimeoutError:
            drawing.cancel()
            raise Busy from None


studio = Studio(ROOM, PATIENCE_SECONDS)
