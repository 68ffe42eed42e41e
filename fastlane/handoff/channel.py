"""Passes connections between processes: from a redirect worker to an API worker, and back.

All workers share one socket pair per direction, created before gunicorn forks. Any idle worker receives the next
connection. A process that dies loses only the connections that it was working on.
"""

from __future__ import annotations

import errno
import os
import socket
from functools import cache
from typing import Any, NamedTuple

import orjson

from fastlane.sockets.outgoing import Incoming

# A message carries the connection's descriptor and the bytes read from it. Longer requests are passed as a memfd
# beside the connection.
_MAX_INLINE = 2 * 1024
_MAX_MESSAGE = _MAX_INLINE + 1024
# Capacity for a few messages, enough to keep the threads busy. The other connections stay in the redirect workers'
# queues, which are fair to the clients.
_BUFFER = 8 * 1024
_BUFFER_BACK = 256 * 1024


class Handoff(NamedTuple):
    """A connection to hand off. ``client`` and ``server``: addresses from accept() and getsockname()."""

    sock: socket.socket
    client: Any
    server: Any
    incoming: Incoming


class HandoffQueue:
    """Connections in transit between processes. No operation blocks, in any process."""

    def __init__(self, buffer: int = _BUFFER) -> None:
        self.write_end, self.read_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (self.write_end, self.read_end):
            end.setblocking(False)
        self.write_end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
        # The last long request that did not fit into the queue, and its memfd: retries must not copy it again.
        self._unsent: tuple[Incoming, int] | None = None

    def put(self, handoff: Handoff) -> None:
        """Transfer ownership of the connection to the queue. Raises OSError without doing so if the queue is full."""
        data, rest, since, body_omitted, sent_continue = handoff.incoming
        is_long = len(data) + len(rest) > _MAX_INLINE
        label = orjson.dumps(
            [handoff.client, handoff.server, len(data), since, body_omitted, sent_continue, is_long]
        )
        message = [len(label).to_bytes(2), label]
        descriptors = [handoff.sock.fileno()]
        if is_long:
            descriptors.append(self._memory_file(handoff.incoming))
        else:
            message += [data, rest]
        try:
            socket.send_fds(self.write_end, message, descriptors)
        except BlockingIOError:
            raise
        except OSError:
            self._discard_unsent()
            raise
        self._discard_unsent()
        handoff.sock.close()

    def take(self) -> Handoff | None:
        """Return the next connection. None: the queue is empty.

        Raises OSError (EMFILE) if the process has no free descriptor. The kernel has closed the connection then.
        """
        try:
            message, descriptors, flags, _ = socket.recv_fds(self.read_end, _MAX_MESSAGE, 2)
        except BlockingIOError:
            return None
        if flags & socket.MSG_CTRUNC:
            for descriptor in descriptors:
                os.close(descriptor)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        end = 2 + int.from_bytes(message[:2])
        client, server, length, since, body_omitted, sent_continue, is_long = orjson.loads(message[2:end])
        read = _from_memory(descriptors[1]) if is_long else message[end:]
        incoming = Incoming(read[:length], read[length:], since, body_omitted, sent_continue)
        return Handoff(socket.socket(fileno=descriptors[0]), _address(client), _address(server), incoming)

    def _memory_file(self, incoming: Incoming) -> int:
        if self._unsent is None or self._unsent[0] is not incoming:
            self._discard_unsent()
            self._unsent = incoming, _in_memory(incoming.data, incoming.rest)
        return self._unsent[1]

    def _discard_unsent(self) -> None:
        if self._unsent is not None:
            os.close(self._unsent[1])
            self._unsent = None


class HandoffQueues(NamedTuple):
    to_api: HandoffQueue
    back: HandoffQueue


@cache
def handoff_queues() -> HandoffQueues:
    """Must be called first before gunicorn forks."""
    return HandoffQueues(to_api=HandoffQueue(), back=HandoffQueue(_BUFFER_BACK))


def _in_memory(*parts: bytes) -> int:
    descriptor = os.memfd_create("request")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.writelines(parts)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _from_memory(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        # The descriptor shares the writer's position.
        file.seek(0)
        return file.read()


def _address(decoded: Any) -> Any:
    return tuple(decoded) if isinstance(decoded, list) else decoded
