"""Threads that run during a test or a measurement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def running(threads: Sequence[Thread], stop: Event) -> Iterator[None]:
    """Start the threads for the duration of the block, then set ``stop`` and wait for all of them."""
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
