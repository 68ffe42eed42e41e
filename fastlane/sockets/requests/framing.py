"""Message framing: the end of a request's head, and the length of its body.

gunicorn's own parser reads a head with unusual framing fields, so that the event loop and the thread that later
processes the request cannot interpret it differently.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from gunicorn.http.body import ChunkedReader
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader
from gunicorn.util import split_request_uri

from fastlane.sockets.requests.request_target import check_target

# gunicorn would accept 100 lines of 8,190 bytes. No client sends that. Longer heads get 431.
MAX_HEAD = 64 * 1024
# gunicorn's limit_request_line.
MAX_LINE = 8190

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*\r\n")
# The request lines that gunicorn accepts.
_LINE = re.compile(rb"([!$%&'*+.^_`|~0-9A-Z-]{3,20}) ([!-~]+) HTTP/1\.[0-9]\r\n")


class Framing(NamedTuple):
    """``expects_continue``: the client waits for 100 Continue before it sends the body."""

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
