"""Finds the end of a chunked body incrementally.

The scanner only decides when a thread gets the request. In the thread, gunicorn determines where the body ends. If the
two ever disagreed, gunicorn would reach the end of its input and close the connection.
"""

from __future__ import annotations

import re

# gunicorn rejects longer lines (limit_request_field_size).
_MAX_LINE = 8190
_SIZE = re.compile(rb"([0-9A-Fa-f]+)[ \t]*(?:;|\Z)")
# Bodies of this length exceed every limit.
_MAX_SIZE_DIGITS = 15


class ChunkScanner:
    """Examines each byte of the growing ``buffer`` once, even if the client sends one byte at a time."""

    __slots__ = ("_at", "_buffer", "_in_trailers", "_searched", "is_over")

    def __init__(self, buffer: bytearray, start: int) -> None:
        self._buffer = buffer
        # Start of the next line.
        self._at = self._searched = start
        self._in_trailers = False
        self.is_over = False

    def scan(self) -> bool:
        """Return True at the end of the body, or at input that gunicorn rejects."""
        while not self.is_over and self._at <= len(self._buffer):
            # A line or a chunk precedes each line, and ends with CRLF.
            if self._buffer[self._at - 2 : self._at] != b"\r\n":
                self.is_over = True
                break
            end = self._buffer.find(b"\r\n", self._searched)
            if end < 0:
                # A trailing carriage return may be the first half of CRLF.
                self._searched = max(self._at, len(self._buffer) - 1)
                too_long = len(self._buffer) - self._at > _MAX_LINE
                bare = self._buffer.find(b"\n", self._at) >= 0
                self.is_over = too_long or (bare and self._in_trailers)
                break
            line = bytes(self._buffer[self._at : end])
            self._at = self._searched = end + 2
            if self._in_trailers:
                self.is_over = not line or b"\n" in line
            else:
                self._enter_chunk(line)
        return self.is_over

    def _enter_chunk(self, line: bytes) -> None:
        size = _SIZE.match(line)
        if size is None or len(size[1].lstrip(b"0")) > _MAX_SIZE_DIGITS:
            self.is_over = True
        elif length := int(size[1], 16):
            self._at = self._searched = self._at + length + 2
        else:
            self._in_trailers = True
