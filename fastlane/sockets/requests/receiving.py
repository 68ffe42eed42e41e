"""A request with an incomplete body. The body is not parsed, except for chunk boundaries."""

from __future__ import annotations

import time

from fastlane.sockets.requests.chunks import ChunkScanner
from fastlane.sockets.requests.framing import Framing

# The longest body that any endpoint accepts. For a longer one, only the head is deferred: the endpoint rejects it by
# its Content-Length, and the connection closes.
MAX_BODY = 8 * 1024 * 1024
# No endpoint reads chunked bodies. This bounds the bytes that are skipped to keep the connection open.
MAX_CHUNKED = 128 * 1024


class PartialRequest:
    __slots__ = ("_buffer", "_chunks", "_end", "_head_end", "sent_continue", "started_at")

    def __init__(self, data: bytes, head_end: int, framing: Framing) -> None:
        """``data`` begins with a head of ``head_end`` bytes."""
        self._buffer = bytearray(data)
        self._head_end = head_end
        self._chunks = ChunkScanner(self._buffer, head_end) if framing.is_chunked else None
        self._end = head_end + framing.length
        self.started_at = time.monotonic()
        self.sent_continue = False

    @property
    def size(self) -> int:
        return len(self._buffer)

    @property
    def head(self) -> bytes:
        return bytes(self._buffer[: self._head_end])

    @property
    def is_too_long(self) -> bool:
        if self._chunks is not None:
            return len(self._buffer) - self._head_end > MAX_CHUNKED and not self._chunks.is_over
        return self._end - self._head_end > MAX_BODY

    def add(self, data: bytes) -> None:
        self._buffer += data

    def is_complete(self) -> bool:
        """Whether the body is complete, or contains an error that gunicorn will report."""
        if self._chunks is not None:
            return self._chunks.scan()
        return len(self._buffer) >= self._end

    def split(self) -> tuple[bytes, bytes]:
        """Return the request and the bytes after it. A chunked body is not split off: gunicorn finds its end."""
        view = memoryview(self._buffer)
        end = len(view) if self._chunks is not None else self._end
        return bytes(view[:end]), bytes(view[end:])
