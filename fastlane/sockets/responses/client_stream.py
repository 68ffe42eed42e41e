"""Replaces a client's socket in a thread: the request is complete, and sending a response never blocks."""

from __future__ import annotations

import socket
from typing import Any, NamedTuple

from fastlane.sockets.responses.outbox import Outbox

# Buffered bytes that trigger a send, so that a long response is sent while the application produces it.
_FLUSH_BYTES = 64 * 1024
# A streamed response pauses while this many bytes remain unsent.
_PAUSE_BYTES = 64 * 1024


class Incoming(NamedTuple):
    """A request for a thread. ``rest``: bytes read of later pipelined requests.

    ``since`` in monotonic seconds. ``body_omitted``: the body is missing, so the connection must close after the
    response. ``sent_continue``: the event loop has sent 100 Continue.
    """

    data: bytes
    rest: bytes
    since: float
    body_omitted: bool = False
    sent_continue: bool = False

    @property
    def size(self) -> int:
        return len(self.data) + len(self.rest)


class ClientStream:
    """The part of the socket interface that gunicorn uses. Used by one thread at a time."""

    def __init__(self, sock: socket.socket, incoming: Incoming) -> None:
        self.sock = sock
        self.rest = incoming.rest
        self.since = incoming.since
        self.body_omitted = incoming.body_omitted
        self.outbox = Outbox()
        self._unread = memoryview(incoming.data)
        end = incoming.data.find(b"\r\n\r\n")
        self._first_read = len(incoming.data) if end < 0 else end + 4
        self._sent_continue = incoming.sent_continue or incoming.body_omitted

    def getsockname(self) -> Any:
        return self.sock.getsockname()

    @property
    def is_full(self) -> bool:
        return self.outbox.size >= _PAUSE_BYTES

    @property
    def unread(self) -> bytes:
        return bytes(self._unread)

    def flush(self) -> None:
        """Send without blocking. Raises OSError if the client has disconnected."""
        if self.outbox:
            self.outbox.send(self.sock)

    def recv(self, size: int) -> bytes:
        """Return b"" after the end of the request, like a client that has shut down its side.

        The first call returns at least the whole head: gunicorn's response to an invalid head depends on how much of
        it the first read returns, and the event loop has already waited for the rest.
        """
        size, self._first_read = max(size, self._first_read), 0
        data = bytes(self._unread[:size])
        self._unread = self._unread[size:]
        return data

    def sendall(self, data: bytes) -> None:
        self.outbox.add(data)
        if self.outbox.size >= _FLUSH_BYTES:
            self.flush()

    def send(self, data: bytes) -> int:
        """gunicorn calls this only for 100 Continue, which the event loop may have sent already."""
        if not self._sent_continue:
            self._sent_continue = True
            self.sendall(data)
        return len(data)

    def sendfile(self, file: Any, offset: int, count: int) -> int:
        self.outbox.add_file(file.fileno(), offset, count)
        return count

    def setblocking(self, flag: bool) -> None:
        """Ignored: the stream never blocks."""

    def gettimeout(self) -> float:
        return 0.0

    def shutdown(self, how: int) -> None:
        """Fail, so that gunicorn does not wait for the client here. The event loop does that."""
        raise OSError

    def close(self) -> None:
        """Ignored: the event loop closes the socket after it has sent everything."""
