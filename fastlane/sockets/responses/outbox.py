"""Unsent parts of responses: bytes in memory, and file ranges that are sent with sendfile()."""

from __future__ import annotations

import os
import socket
from collections import deque
from itertools import islice, takewhile

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
