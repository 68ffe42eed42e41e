"""Bounds the memory that a process buffers for slow clients, and selects the connections to drop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import nsmallest

from fastlane.sockets.connections.connection import Connection

# Bytes of incomplete requests and unsent responses.
MAX_BUFFERED = 64 * 1024 * 1024
# Low-water mark: dropping down to it avoids a search for every new byte.
_LOW_WATER_MARK = MAX_BUFFERED * 7 // 8


class MemoryBound:
    def __init__(self) -> None:
        self.buffered = 0
        self._counted: dict[Connection, int] = {}

    @property
    def is_exceeded(self) -> bool:
        return self.buffered > MAX_BUFFERED

    def update(self, connection: Connection) -> None:
        """Update the total after the buffers of a connection have changed."""
        before, held = self._counted.get(connection, 0), connection.held
        self.buffered += held - before
        if held:
            self._counted[connection] = held
        elif before:
            del self._counted[connection]

    def remove(self, connection: Connection) -> None:
        self.buffered -= self._counted.pop(connection, 0)

    def excess(self) -> Iterator[Connection]:
        """Yield the connections with the earliest deadlines until the total reaches the low-water mark."""
        if self.is_exceeded:
            for connection in sorted(self._counted, key=_deadline):
                if self.buffered <= _LOW_WATER_MARK:
                    break
                yield connection


def longest_idle(connections: Mapping[int, Connection], number: int) -> list[Connection]:
    """Return idle connections first, then connections with a request in progress, at last those with a response."""
    return nsmallest(
        number,
        connections.values(),
        key=lambda connection: (
            connection.outbox is not None,
            not connection.is_idle,
            connection.deadline,
        ),
    )


def _deadline(connection: Connection) -> float:
    return connection.deadline
