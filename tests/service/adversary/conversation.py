"""What one client says and hears on one connection."""

from __future__ import annotations

import re
import select
import socket
import time
from contextlib import closing, suppress

from tests.service.adversary.mutations import AGENT, Attempt
from tests.service.running import Connection

# After which an answer that does not come is a hang; the service itself waits for 30 s at most, and for nobody who
# has said that no more comes.
HANGS = 25.0
# Between two pieces: mostly enough for the first to be read before the second comes.
AT_ONCE = 0.001
# For an answer to what may be no complete request.
_WAITS = 0.15

# Links of these tests lead to their own code.
_LEADS_TO = re.compile(rb"\r\n[Ll]ocation: https://example\.com/(\w+)\r\n")
_VOLATILE = [
    (re.compile(rb"\r\nDate: [^\r]*"), b"\r\nDate: -"),
    (re.compile(rb"\r\n(?:RateLimit-\w+|Retry-After): [^\r]*"), b""),
    (re.compile(rb"\r\nX-Request-ID: [^\r]*"), b"\r\nX-Request-ID: -"),
    (re.compile(rb"csrftoken=\w+"), b"csrftoken=-"),
    (re.compile(rb"expires=[^;]*GMT"), b"expires=-"),
    (re.compile(rb'name="csrfmiddlewaretoken" value="\w+"'), b"-"),
    # Of links that were created.
    (re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), b"-"),
    (re.compile(rb'"shortCode":"\w{7}"'), b'"shortCode":"-"'),
    (re.compile(rb'("shortUrl":"http://127.0.0.1:\d+)/\w{7}"'), rb'\1/-"'),
    (re.compile(rb'"(\w+At)":"[0-9TZ:.-]+"'), rb'"\1":"-"'),
    # Addresses in memory, and the port that a client came from.
    (re.compile(rb"0x[0-9a-f]{8,16}"), b"0x-"),
]


def converse(port: int, attempt: Attempt, pause: float) -> bytes:
    """All that was answered until the server hung up; ``pause`` seconds are between two pieces."""
    heard = b""
    with socket.create_connection(("127.0.0.1", port), HANGS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A server that has refused may be gone before all is sent; what it answered can still be read.
        with suppress(BrokenPipeError, ConnectionResetError):
            for number, piece in enumerate(attempt.pieces):
                if number:
                    time.sleep(pause)
                connection.sendall(piece)
            if attempt.control is not None:
                if attempt.waits and select.select([connection], [], [], max(pause, _WAITS))[0]:
                    heard = connection.recv(65_536)
                elif attempt.waits or pause > AT_ONCE:
                    time.sleep(pause)
                connection.sendall(attempt.control)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            while chunk := connection.recv(65_536):
                heard += chunk
    return heard


def settled(heard: bytes) -> bytes:
    """Without what differs whenever it is asked twice."""
    for pattern, instead in _VOLATILE:
        heard = pattern.sub(instead, heard)
    return heard


def follows(port: int, code: str) -> bool:
    """Whether a newcomer is answered, and with what was asked for."""
    with socket.create_connection(("127.0.0.1", port), HANGS) as connection:
        connection.sendall(
            b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: %s\r\n\r\n" % (code.encode(), AGENT)
        )
        answer = connection.recv(65_536)
    return answer.startswith(b"HTTP/1.1 302 ") and led_to(answer) == [code]


def led_to(heard: bytes) -> list[str]:
    """The codes that were followed, in the order of the answers."""
    return [code.decode() for code in _LEADS_TO.findall(heard)]


def is_served(port: int) -> bool:
    with suppress(ConnectionRefusedError), closing(Connection(port)) as connection:
        return connection.ask("GET", "/healthz").status == 200
    return False
