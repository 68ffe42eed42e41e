"""How many images a process draws at a time. Every request holds a thread, and redirects need some of them, too."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from common.errors import Unavailable

# One of a worker's four threads is left, which turns the rest away and follows links meanwhile.
ROOM = 3
PATIENCE_SECONDS = 5


class Turnstile:
    """Lets one in at a time and a few wait; everybody else is turned away at once. Raises Unavailable."""

    def __init__(self, room: int, patience: float) -> None:
        self._room = threading.BoundedSemaphore(room)
        self._turn = threading.Lock()
        self._patience = patience

    @contextmanager
    def turn(self) -> Iterator[None]:
        if not self._room.acquire(blocking=False):
            raise _busy()
        try:
            if not self._turn.acquire(timeout=self._patience):
                raise _busy()
            try:
                yield
            finally:
                self._turn.release()
        finally:
            self._room.release()


turnstile = Turnstile(ROOM, PATIENCE_SECONDS)


def _busy() -> Unavailable:
    return Unavailable("Too many images are asked for at once. Try again shortly.", code="busy")
