"""A client that creates links continuously and records the acknowledged ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPException

from testing.service.running import Connection, Service, eventually

DESTINATION = "https://example.com/page"


class Creator(threading.Thread):
    """Creates links continuously, each with an Idempotency-Key, and retries until the response is 201."""

    def __init__(self, service: Service, key: str) -> None:
        super().__init__()
        self.acknowledged: dict[str, str] = {}
        self._service, self._key = service, key
        self._stopped = threading.Event()

    def run(self) -> None:
        number = 0
        with closing(Connection(self._service.port)) as connection:
            while not self._stopped.is_set():
                name = f"creation-{number}"
                body = {"originalUrl": f"{DESTINATION}/{number}"}
                try:
                    response = connection.call(
                        "POST", "/api/urls", body, X_API_Key=self._key, Idempotency_Key=name
                    )
                except (OSError, HTTPException):
                    connection.close()
                    self._stopped.wait(0.1)
                    continue
                if response.status == 201:
                    self.acknowledged[f"{DESTINATION}/{number}"] = response.json()["data"]["url"]["shortCode"]
                    number += 1
                else:
                    self._stopped.wait(0.1)

    def create_more(self, number: int = 20) -> None:
        """Wait for this many more links. Each one has its own deadline: a busy machine creates few links a second."""
        created = len(self.acknowledged)
        for goal in range(created + 1, created + number + 1):
            eventually(lambda goal=goal: len(self.acknowledged) >= goal)

    @contextmanager
    def running(self) -> Iterator[Creator]:
        self.start()
        try:
            yield self
        finally:
            self._stopped.set()
            self.join()
