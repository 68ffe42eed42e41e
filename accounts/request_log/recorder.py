"""Collects the API requests of keys in a worker's memory. A thread writes them, so that no request waits for it.

What waits is bounded: above that, new requests are not logged, and counted. A worker that ends loses what it has
collected in the last `FLUSH_SECONDS`, and one whose database fails loses the batch.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest

from accounts.callers import Caller
from accounts.request_log.store import Entry, write
from common.host.metrics import count_database_error, count_unlogged_requests
from common.http.current_request import request_id

FLUSH_SECONDS = 5.0
# About 3 MB.
MAX_WAITING = 5_000

log = logging.getLogger(__name__)


class Recorder:
    """One for each process. ``write`` stores a batch, and may raise Django's database errors."""

    def __init__(self, write: Callable[[Sequence[Entry]], None]) -> None:
        self._write = write
        self._waiting: deque[Entry] = deque()
        self._filled = Event()
        self._thread: Thread | None = None
        self._lock = Lock()

    def add(self, entry: Entry) -> None:
        # Threads that add at the same time may exceed the limit by their number.
        if len(self._waiting) >= MAX_WAITING:
            count_unlogged_requests(1)
            return
        self._waiting.append(entry)
        if not self._filled.is_set():
            self._filled.set()
            self._start()

    def flush(self) -> None:
        """Write what is waiting."""
        # Before the batch is taken, so that a request that comes in between is written the next time.
        self._filled.clear()
        batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if not batch:
            return
        try:
            self._write(batch)
        except Error as error:
            count_database_error("background")
            count_unlogged_requests(len(batch))
            log.warning("%d API requests are not in the log of requests: %s", len(batch), error)

    def _start(self) -> None:
        """Not before the first request of a key: the main process forks the workers, and some serve redirects only."""
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = Thread(target=self._run, name="request log", daemon=True)
                    self._thread.start()

    def _run(self) -> None:
        while self._filled.wait():
            time.sleep(FLUSH_SECONDS)
            self.flush()
            # Until the next batch, the connection would only occupy the server.
            connection.close()


_recorder: Recorder | None = None


def enable() -> None:
    """Log requests in this process and its forks, if REQUEST_LOG_DAYS says so."""
    global _recorder  # noqa: PLW0603 # one for each process
    _recorder = Recorder(write) if settings.REQUEST_LOG_DAYS else None


def record(request: HttpRequest, *, route: str, status: int, code: str | None, seconds: float) -> None:
    """Log a request that was authenticated by a key. ``route`` is the documented form: ``/api/urls/{id}``."""
    if _recorder is None:
        return
    caller = getattr(request, "auth", None)
    if not isinstance(caller, Caller) or caller.session is not None or caller.workspace is None:
        return
    _recorder.add(
        Entry(
            caller.workspace.pk,
            None if caller.key is None else caller.key.public_id,
            # Servers accept unknown methods, of any length.
            (request.method or "")[:10],
            route,
            status,
            code,
            request_id.get() or "",
            round(seconds * 1000, 1),
            time.monotonic(),
        )
    )
