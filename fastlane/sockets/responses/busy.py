"""Responses that the event loop sends without Django."""

from __future__ import annotations

import socket
from contextlib import suppress

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
