"""A client that sends an attempt on one connection and reads the responses."""

from __future__ import annotations

import re
import select
import socket
import time
from contextlib import closing, suppress

from testing.adversary.attempts import AGENT, Attempt
from testing.service.running import Connection

# A missing response counts as a hang after this time. The service waits for 30 s at most, and never for a client that
# has shut down its side.
RESPONSE_TIMEOUT = 25.0
# Seconds between two pieces: mostly enough for the server to read the first before the second arrives.
NO_PAUSE = 0.001
# Seconds to wait for a response to a possibly incomplete request.
_WAITS = 0.15

# The destination of a test link contains its code.
_LOCATION = re.compile(rb"\r\n[Ll]ocation: https://example\.com/(\w+)\r\n")
_VOLATILE = [
    (re.compile(rb"\r\nDate: [^\r]*"), b"\r\nDate: -"),
    (re.compile(rb"\r\n(?:RateLimit(?:-\w+)?|Retry-After): [^\r]*"), b""),
    (re.compile(rb'\r\nETag: "[0-9a-f]{13}-[0-9a-f]{12}"'), b"\r\nETag: -"),
    (re.compile(rb"\r\nX-Request-ID: [^\r]*"), b"\r\nX-Request-ID: -"),
    (re.compile(rb"csrftoken=\w+"), b"csrftoken=-"),
    (re.compile(rb"expires=[^;]*GMT"), b"expires=-"),
    (re.compile(rb'name="csrfmiddlewaretoken" value="\w+"'), b"-"),
    # Identifiers of created links.
    (re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), b"-"),
    (re.compile(rb'"shortCode":"\w{7}"'), b'"shortCode":"-"'),
    (re.compile(rb'("shortUrl":"http://localhost:\d+)/\w{7}"'), rb'\1/-"'),
    (re.compile(rb'"(\w+At)":"[0-9TZ:.-]+"'), rb'"\1":"-"'),
    # Memory addresses.
    (re.compile(rb"0x[0-9a-f]{8,16}"), b"0x-"),
]


def converse(port: int, attempt: Attempt, pause: float) -> bytes:
    """Send the attempt with ``pause`` seconds between pieces. Return all bytes until the server closes."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), RESPONSE_TIMEOUT) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A server that rejects may close before all is sent; its response can still be read.
        with suppress(BrokenPipeError, ConnectionResetError):
            for number, piece in enumerate(attempt.pieces):
                if number:
                    time.sleep(pause)
                connection.sendall(piece)
            if attempt.control is not None:
                if attempt.waits and _is_readable(connection, within=max(pause, _WAITS)):
                    received = connection.recv(65_536)
                elif attempt.waits or pause > NO_PAUSE:
                    time.sleep(pause)
                connection.sendall(attempt.control)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            while chunk := connection.recv(65_536):
                received += chunk
    return received


def _is_readable(connection: socket.socket, *, within: float) -> bool:
    # `select.select` rejects descriptors above 1023.
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(1000 * within))


def normalized(received: bytes) -> bytes:
    """Replace the parts that differ between identical requests."""
    for pattern, instead in _VOLATILE:
        received = pattern.sub(instead, received)
    return received


def is_redirected(port: int, code: str) -> bool:
    """Whether a new client gets the redirect of its own request."""
    with socket.create_connection(("127.0.0.1", port), RESPONSE_TIMEOUT) as connection:
        connection.sendall(
            b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: %s\r\n\r\n" % (code.encode(), AGENT)
        )
        received = b""
        while b"\r\n\r\n" not in received and (chunk := connection.recv(65_536)):
            received += chunk
    return received.startswith(b"HTTP/1.1 302 ") and followed_codes(received) == [code]


def followed_codes(received: bytes) -> list[str]:
    """Return the codes of the redirects, in the order of the responses."""
    return [code.decode() for code in _LOCATION.findall(received)]


def is_served(port: int) -> bool:
    with suppress(ConnectionRefusedError), closing(Connection(port)) as connection:
        return connection.call("GET", "/healthz").status == 200
    return False
