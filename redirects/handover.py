"""The way of a connection between processes: from a worker that redirects to one that does the rest, and back.

One pair of sockets for each direction, made before gunicorn forks and shared by all workers: whoever is free takes the
next connection. What is under way in them belongs to nobody else, so a process that dies takes along no connection
but those that it had in hand.
"""

from __future__ import annotations

import socket
from functools import cache
from typing import Any, NamedTuple

import orjson

# A message holds the connection and what was read of it; the kernel's usual buffer has room for this much.
MAX_READ = 128 * 1024
_MAX_MESSAGE = MAX_READ + 1024


class Handed(NamedTuple):
    """``client`` and ``server`` are addresses as accept() and getsockname() give them; ``data`` was read already."""

    sock: socket.socket
    client: Any
    server: Any
    data: bytes


class Queue:
    """Connections on their way. Nothing blocks, in any process."""

    def __init__(self) -> None:
        self.entrance, self.exit = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (self.entrance, self.exit):
            end.setblocking(False)

    def put(self, handed: Handed) -> None:
        """The connection is the queue's from then on. Raises OSError when there is no room; then it is not."""
        label = orjson.dumps([handed.client, handed.server])
        message = [len(label).to_bytes(2), label, handed.data]
        socket.send_fds(self.entrance, message, [handed.sock.fileno()])
        handed.sock.close()

    def take(self) -> Handed | None:
        """None when there is none."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self.exit, _MAX_MESSAGE, 1)
        except BlockingIOError:
            return None
        end = 2 + int.from_bytes(message[:2])
        client, server = orjson.loads(message[2:end])
        sock = socket.socket(fileno=descriptors[0])
        return Handed(sock, _address(client), _address(server), message[end:])


class Handover(NamedTuple):
    to_api: Queue
    back: Queue


@cache
def handover() -> Handover:
    """First called before gunicorn forks."""
    return Handover(Queue(), Queue())


def _address(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given
