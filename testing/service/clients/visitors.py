"""Visitors that follow links continuously over keep-alive connections and record every failure."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import cycle

from testing.polling import eventually
from testing.service.connection import Connection, ReusedConnection

VISITORS = 6
# Between the requests of a visitor. Without it, they take the processor that a service needs to start.
PAUSE_SECONDS = 0.01
# Of the visitors of a moving link but one, who looks without a pause for an answer that is a moment too old.
MOVING_PAUSE_SECONDS = 0.002


class Visitors:
    """``failures`` lists every response other than the expected redirect, with its time in seconds since the start.
    ``followed`` counts the expected redirects.
    """

    def __init__(self, port: int, codes: list[str], destination: str) -> None:
        self.failures: list[str] = []
        self.followed = 0
        self._port = port
        self._codes = codes
        self._destination = destination
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def running(self) -> Iterator[Visitors]:
        self._began = time.monotonic()
        threads = [threading.Thread(target=self._visit, args=(number,)) for number in range(VISITORS)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()

    def _visit(self, number: int) -> None:
        connection = ReusedConnection(self._port)
        for code in cycle(self._codes[number:] + self._codes[:number]):
            if self._stopped.wait(PAUSE_SECONDS):
                break
            try:
                response = connection.follow(f"/{code}")
            except (OSError, http.client.HTTPException) as error:
                self._note(repr(error))
                connection.close()
                continue
            if (response.status, response.headers["Location"]) != (302, self._destination):
                self._note(f"{response.status} {response.headers['Location']}")
            else:
                with self._lock:
                    self.followed += 1
            # http.client reconnects if the response contained ``Connection: close``.
        connection.close()

    def _note(self, failure: str) -> None:
        with self._lock:
            self.failures.append(f"{failure} after {time.monotonic() - self._began:.2f} s")

    def follow_more(self, number: int = 200) -> None:
        """Wait until the visitors have followed that many more links, or failed."""
        goal = self.followed + number
        eventually(lambda: self.followed >= goal or self.failures)


class MovingVisitors:
    """Visitors of one link, whose destination is a URL that ends with a number. The first makes no pauses.

    ``visits`` has, for each visitor, the moment before each request (monotonic clock) and the number.
    """

    def __init__(self, port: int, code: str) -> None:
        self.visits: list[list[tuple[float, int]]] = [[] for _ in range(VISITORS)]
        self._port = port
        self._code = code
        self._stopped = threading.Event()

    def are_at(self, number: int) -> bool:
        """Whether the last visit of each visitor led to this number."""
        return all(visits and visits[-1][1] == number for visits in self.visits)

    @contextmanager
    def running(self) -> Iterator[None]:
        with ThreadPoolExecutor(VISITORS) as pool:
            pauses = [0.0] + (VISITORS - 1) * [MOVING_PAUSE_SECONDS]
            visits = [pool.submit(self._visit, *own) for own in zip(self.visits, pauses, strict=True)]
            try:
                yield
            finally:
                self._stopped.set()
            for visit in visits:
                visit.result()

    def _visit(self, visits: list[tuple[float, int]], pause: float) -> None:
        with closing(Connection(self._port)) as connection:
            while not self._stopped.wait(pause):
                sent = time.monotonic()
                location = connection.call("GET", f"/{self._code}").headers["Location"]
                visits.append((sent, int(location.rpartition("/")[2])))
