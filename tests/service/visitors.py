"""Visitors who follow links all the time, on connections that they keep, and notice everything that goes wrong."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle

from tests.service.running import Connection, eventually

VISITORS = 6


class Visitors:
    """``failures`` has whatever was not the redirect that was expected, and when, in seconds since they began;
    ``followed`` counts those that were.
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
    def at_work(self) -> Iterator[Visitors]:
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
        connection = Connection(self._port)
        for code in cycle(self._codes[number:] + self._codes[:number]):
            if self._stopped.is_set():
                break
            try:
                answer = connection.ask("GET", f"/{code}")
            except (OSError, http.client.HTTPException) as error:
                self._note(repr(error))
                connection.close()
                continue
            if (answer.status, answer.headers["Location"]) != (302, self._destination):
                self._note(f"{answer.status} {answer.headers['Location']}")
            else:
                with self._lock:
                    self.followed += 1
            # http.client opens another connection when the answer has said that this one closes.
        connection.close()

    def _note(self, failure: str) -> None:
        with self._lock:
            self.failures.append(f"{failure} after {time.monotonic() - self._began:.2f} s")

    def follow_more(self, number: int = 200) -> None:
        """Returns when that many more were followed."""
        goal = self.followed + number
        eventually(lambda: self.followed >= goal or self.failures)
