"""A client's connection between two requests, as the event loop keeps it, and what it makes of what was read."""

from __future__ import annotations

import re
import socket
from typing import Any

from redirects.handover import MAX_READ

# What a client has to send a head, from its first byte on, and a body.
HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
# Beyond this gunicorn's own limits have long been passed, and it says so.
MAX_HEAD = 16 * 1024
# As much at once as gunicorn reads: what it refuses depends on where it stopped.
READ_BYTES = 8192

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n", re.IGNORECASE)
_WITH_BODY = (b"POST ", b"PUT ", b"PATCH ", b"DELETE ")
_TALKS = re.compile(rb"\r\n(?:expect|upgrade):", re.IGNORECASE)
_CODING = re.compile(rb"\r\ntransfer-encoding:([^\r]*)\r\n", re.IGNORECASE)
# The line in front of a chunk, and what may become one.
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,5})\r\n")
_SIZE_BEGUN = re.compile(rb"[0-9A-Fa-f]{0,5}\r?")
# Looked at anew with each one that arrives.
_MAX_CHUNKS = 256
# What gunicorn accepts as a request line, and how long that may be (its limit_request_line).
_LINE = re.compile(rb"[!$%&'*+.^_`|~0-9A-Z-]{3,20} [!-~]+ HTTP/1\.[0-9]\r\n")
MAX_LINE = 8190


class Connection:
    """``deadline`` in seconds of the monotonic clock: when it is closed unless something happens."""

    __slots__ = ("address", "client", "closing", "deadline", "outgoing", "read", "server", "sock", "wanted")

    def __init__(self, sock: socket.socket, client: Any, server: Any, deadline: float) -> None:
        self.sock = sock
        self.client = client
        self.server = server
        # The peer of a Unix socket has none.
        self.address: str = client[0] if isinstance(client, tuple) else ""
        self.deadline = deadline
        self.read = b""
        self.wanted = 0
        self.outgoing = b""
        # Nothing more is said; what the client still sends is thrown away (RFC 9112, section 9.6).
        self.closing = False


def missing(data: bytes) -> int:
    """How many bytes a request is to have before it is worth a thread; 0 when it is complete enough.

    A body is waited for, so that a slow client takes no thread. Not for a long one, which would have to be kept, nor
    for one whose end only gunicorn can find, or whose client waits for a word.
    """
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return 0 if len(data) >= MAX_HEAD or _is_refused(data) else len(data) + 1
    head = data[: end + 2]
    if not head.startswith(_WITH_BODY) or _TALKS.search(head):
        return 0
    lengths, codings = _LENGTH.findall(head), _CODING.findall(head)
    if codings:
        is_plain = b"\r\ncontent-length" not in head.lower() and len(codings) == 1
        return _missing_chunks(data, end + 4) if is_plain and codings[0].strip().lower() == b"chunked" else 0
    if len(lengths) != 1:
        return 0
    total = end + 4 + int(lengths[0])
    return total if len(data) < total <= MAX_READ else 0


def _missing_chunks(data: bytes, start: int) -> int:
    """The same for a body in chunks; what is not plain is gunicorn's to judge."""
    for _ in range(_MAX_CHUNKS):
        size = _SIZE.match(data, start)
        if size is None:
            return len(data) + 1 if _SIZE_BEGUN.fullmatch(data, start) else 0
        length = int(size[1], 16)
        if not length:
            # Nothing more, or trailers.
            start = size.end() - 2
            begun = data.find(b"\r\n\r\n", start) < 0 and data.count(b"\n", start) == data.count(
                b"\r\n", start
            )
            return len(data) + 1 if begun and len(data) < MAX_READ else 0
        start = size.end() + length + 2
        if start > len(data):
            return start if start <= MAX_READ else 0
        if data[start - 2 : start] != b"\r\n":
            return 0
    return 0


def _is_refused(data: bytes) -> bool:
    """Whether gunicorn refuses this beginning of a head already, so that there is nothing to wait for."""
    if data.count(b"\n") != data.count(b"\r\n"):
        return True
    # One empty line in front is allowed.
    start = 2 if data.startswith(b"\r\n") else 0
    end = data.find(b"\r\n", start)
    if end < 0:
        return len(data) - start > MAX_LINE + 2
    return end - start > MAX_LINE or not _LINE.match(data, start)
