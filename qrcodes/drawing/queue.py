"""A bounded queue in front of the thread that draws images.

Each request occupies one of the worker's threads, and redirects need some of these threads too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from common.errors import Unavailable

# A worker has four threads. The fourth stays free: it rejects further image requests and serves redirects.
CAPACITY = 3
TIMEOUT_SECONDS = 5


class Busy(Unavailable):
    code = "busy"
    message = "Too many image requests at once. Try again shortly."


class DrawingQueue:
    """Draws one image at a time for at most ``capacity`` requests. Raises Busy."""

    def __init__(self, capacity: int, timeout: float) -> None:
        """``timeout`` in seconds, from submission to the finished image."""
        self._slots = threading.BoundedSemaphore(capacity)
        # One fixed thread, because each thread keeps the memory it has used. It starts with the first image.
        self._executor = ThreadPoolExecutor(1, "drawing")
        self.timeout = timeout

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold a place in the queue. Raises Busy at once if it is full, so take one before any costly work."""
        if not self._slots.acquire(blocking=False):
            raise Busy
        try:
            yield
        finally:
            self._slots.release()

    def draw(self, render: Callable[[], bytes]) -> bytes:
        """Run ``render`` on the drawing thread. Raises Busy after the timeout."""
        drawing = self._executor.submit(render)
        try:
            return drawing.result(self.timeout)
        except TimeoutError:
            drawing.cancel()
            raise Busy from None


drawing_queue = DrawingQueue(CAPACITY, TIMEOUT_SECONDS)
