"""A psycopg connection with a client-side timeout for each statement.

After a timeout, the server may still be working for the abandoned connection: a commit that waits for a lost standby
occupies its server process until the standby returns. Without a limit, each request would abandon one more connection
until the server reaches its connection limit.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Mapping
from typing import Any, Self, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout  # noqa: PLC2701 # psycopg has no public name for it

# Per process. At the limit, new connections are refused until the server finishes with earlier ones.
MAX_ABANDONED = 8

# Duplicates of the connections with which the server has not finished.
sockets: list[socket.socket] = []
_lock = threading.Lock()


def track(descriptor: int) -> None:
    """Track a connection that is about to be closed. A duplicate stays open until the server responds or closes it."""
    copy = socket.socket(fileno=os.dup(descriptor))
    with _lock:
        sockets.append(copy)


def limit_reached() -> bool:
    """Whether the limit is reached, after dropping connections that the server has finished with."""
    with _lock:
        if sockets:
            poll = select.poll()
            for sock in sockets:
                poll.register(sock, select.POLLIN)
            finished = {descriptor for descriptor, _ in poll.poll(0)}
            for sock in [sock for sock in sockets if sock.fileno() in finished]:
                sockets.remove(sock)
                sock.close()
        return len(sockets) >= MAX_ABANDONED


Result = TypeVar("Result")


class ResponseTimeout(psycopg.OperationalError):
    """The server did not respond in time. It may still execute the statement."""


class BoundedConnection(psycopg.Connection[Any]):
    """``response_seconds`` limits the wait for each statement, including COMMIT.

    Raises ResponseTimeout and closes the connection: a late response must not be matched to another statement.
    """

    response_seconds: float = 3.0
    # Whether it counts towards MAX_ABANDONED.
    is_limited = True

    @classmethod
    def connect_in_autocommit(cls, parameters: Mapping[str, Any]) -> Self:
        return cls.connect(**parameters, autocommit=True)

    def wait(self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None) -> Result:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.response_seconds)
        except _WaitTimeout:
            if self.is_limited:
                track(self.pgconn.socket)
            self.pgconn.finish()
            raise ResponseTimeout(
                f"The database did not respond within {self.response_seconds:g} s; it may still execute the statement."
            ) from None
