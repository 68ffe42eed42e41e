"""Finds the end of a request in what a client has sent, and checks its target."""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import InvalidHeader
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader
from gunicorn.util import split_request_uri

from common.http.urls import MAX_LINE, canonical_host


def check_target(request: Any) -> None:
    """Check a gunicorn request. Raises InvalidHeader: gunicorn replies 400 and closes the connection."""
    host = next((value for name, value in request.headers if name == "HOST"), None)
    if host is None:
        if request.version >= (1, 1):
            raise InvalidHeader("HOST")
        return
    if request.uri.startswith("/") or "://" not in request.uri:
        return
    try:
        authority = urlsplit(request.uri).netloc
    except ValueError:
        raise InvalidHeader("HOST") from None
    named = canonical_host(authority)
    if named is None or named != canonical_host(host):
        raise InvalidHeader("HOST")


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
                too_long = len(self._buffer) - self._at > MAX_LINE
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


# The longest body that any endpoint accepts. For a longer one, only the head is deferred: the endpoint rejects it by
# its Content-Length, and the connection closes.
MAX_BODY = 8 * 1024 * 1024
# No endpoint reads chunked bodies. This bounds the bytes that are skipped to keep the connection open.
MAX_CHUNKED = 128 * 1024


class PartialRequest:
    __slots__ = ("_buffer", "_chunks", "_end", "_head_end", "sent_continue", "started_at")

    def __init__(self, data: bytes, head_end: int, framing: Framing) -> None:
        """Begin a request whose body follows. ``data`` begins with a head of ``head_end`` bytes."""
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


# gunicorn would accept 100 lines of 8,190 bytes. No client sends that. Longer heads get 431.
MAX_HEAD = 64 * 1024

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*\r\n")
# The request lines that gunicorn accepts.
_LINE = re.compile(rb"([!$%&'*+.^_`|~0-9A-Z-]{3,20}) ([!-~]+) HTTP/1\.[0-9]\r\n")


class Framing(NamedTuple):
    """How the body ends. ``expects_continue``: the client waits for 100 Continue before it sends it."""

    length: int
    is_chunked: bool = False
    expects_continue: bool = False


_NO_BODY = Framing(0)


def read_framing(config: Any, head: bytes, client: Any, following: int) -> Framing | None:
    """Return the framing of the body. None: gunicorn rejects the head.

    ``config`` is gunicorn's. ``head`` includes its empty line; ``following`` bytes were read after it. A complete
    request is not checked closely, as a thread gets it immediately in any case.
    """
    lowered = head.lower()
    is_usual = b"transfer-encoding" not in lowered and b"\r\nexpect" not in lowered
    mentions = lowered.count(b"content-length")
    if is_usual and not mentions:
        return _NO_BODY
    if is_usual and mentions == 1 and (length := _LENGTH.search(lowered)) and int(length[1]) <= following:
        return Framing(int(length[1]))
    try:
        request = Request(config, IterUnreader([head]), client, 1)
        check_target(request)
    except Exception:
        # The thread that gets the request fails in the same way and sends the error.
        return None
    reader = request.body.reader
    if isinstance(reader, ChunkedReader):
        return Framing(0, is_chunked=True, expects_continue=request._expected_100_continue)
    return Framing(reader.length, expects_continue=request._expected_100_continue)


def is_refused(data: bytes) -> bool:
    """Whether gunicorn rejects this incomplete head already, so that waiting for the rest is useless."""
    if data.count(b"\n") != data.count(b"\r\n"):
        return True
    # One leading empty line is allowed.
    start = 2 if data.startswith(b"\r\n") else 0
    end = data.find(b"\r\n", start)
    if end < 0:
        return len(data) - start > MAX_LINE + 2
    line = _LINE.match(data, start)
    return end - start > MAX_LINE or line is None or not _is_target(line[1], line[2])


def _is_target(method: bytes, target: bytes) -> bool:
    """Whether gunicorn accepts the target with this method (RFC 9112, section 3.2)."""
    if target == b"*":
        return method == b"OPTIONS"
    try:
        split_request_uri(target.decode("ascii"))
    except ValueError:
        return False
    return method == b"CONNECT" or target.startswith(b"/") or b"://" in target
