"""The bytes for a client: fixed refusals, what it has not read yet, and the stream that gunicorn writes to."""

from __future__ import annotations

import os
import socket
from collections import deque
from contextlib import suppress
from itertools import islice, takewhile
from typing import Any, NamedTuple

import orjson

from common.errors import Unavailable

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def _final_response(status: str, code: str, message: str, *fields: str) -> bytes:
    """Use the API's error format, as any client may receive this response."""
    body = orjson.dumps({"success": False, "message": message, "code": code})
    lines = [
        f"HTTP/1.1 {status}",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        f"X-Refusal-Reason: {code}",
        *fields,
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + body


BUSY = _final_response(
    "503 Service Unavailable",
    Unavailable.code,
    Unavailable.message,
    f"Retry-After: {Unavailable.retry_after}",
)


def refuse(sock: socket.socket) -> None:
    """Reply 503 without blocking, and close the connection."""
    with suppress(OSError):
        sock.send(BUSY)
        sock.shutdown(socket.SHUT_WR)
    sock.close()


HEAD_TOO_LONG = _final_response(
    "431 Request Header Fields Too Large", "bad_request", "The request header is too large."
)


# Bytes sent per call, so that a client on a fast network does not starve the others.
_MAX_SENT = 512 * 1024
_MAX_PIECES = 64


class _FilePart:
    __slots__ = ("descriptor", "offset", "remaining")

    def __init__(self, descriptor: int, offset: int, remaining: int) -> None:
        self.descriptor = descriptor
        self.offset = offset
        self.remaining = remaining


class Outbox:
    """Used by one thread at a time. ``size``: bytes in memory."""

    __slots__ = ("_pieces", "size")

    def __init__(self) -> None:
        self._pieces: deque[memoryview | _FilePart] = deque()
        self.size = 0

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, data: bytes) -> None:
        if data:
            self._pieces.append(memoryview(data))
            self.size += len(data)

    def add_file(self, descriptor: int, offset: int, length: int) -> None:
        """Duplicate the descriptor; the caller may close its own at once."""
        if length:
            self._pieces.append(_FilePart(os.dup(descriptor), offset, length))

    def send(self, sock: socket.socket) -> int:
        """Send without blocking. Return the number of bytes sent. Raises OSError if the client has disconnected."""
        total = 0
        try:
            while self._pieces and total < _MAX_SENT:
                first = self._pieces[0]
                sent = (
                    self._send_file(sock, first) if isinstance(first, _FilePart) else self._send_bytes(sock)
                )
                total += sent
        except BlockingIOError:
            pass
        return total

    def close(self) -> None:
        for piece in self._pieces:
            if isinstance(piece, _FilePart):
                os.close(piece.descriptor)
        self._pieces.clear()
        self.size = 0

    def _send_bytes(self, sock: socket.socket) -> int:
        pieces = islice(takewhile(lambda piece: isinstance(piece, memoryview), self._pieces), _MAX_PIECES)
        total = sent = sock.sendmsg([piece for piece in pieces if isinstance(piece, memoryview)])
        self.size -= sent
        while sent and isinstance(first := self._pieces[0], memoryview):
            if sent < len(first):
                self._pieces[0] = first[sent:]
                break
            sent -= len(first)
            self._pieces.popleft()
        return total

    def _send_file(self, sock: socket.socket, part: _FilePart) -> int:
        sent = os.sendfile(sock.fileno(), part.descriptor, part.offset, min(part.remaining, _MAX_SENT))
        if not sent:
            raise OSError("The file was truncated while it was being sent.")
        part.offset += sent
        part.remaining -= sent
        if not part.remaining:
            os.close(part.descriptor)
            self._pieces.popleft()
        return sent


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
        """Do nothing: the stream never blocks."""

    def gettimeout(self) -> float:
        return 0.0

    def shutdown(self, how: int) -> None:
        """Fail, so that gunicorn does not wait for the client here. The event loop does that."""
        raise OSError

    def close(self) -> None:
        """Ignored: the event loop closes the socket after it has sent everything."""
