"""gunicorn's own threaded worker, with one bug fixed and the service's deliberate restrictions added.

Where the service deliberately differs from gunicorn, this worker applies the same rule, so that every other difference
is a bug. HTTP/1.1 without Host, and absolute targets that contradict Host, get 400. The connection closes after 413
and after a request with a body longer than any endpoint reads. An incomplete request gets no response.
gunicorn's own errors have the header `X-Refusal-Reason`.
"""

from __future__ import annotations

from typing import Any

from gunicorn.http import wsgi
from gunicorn.workers.gthread import ThreadWorker

from fastlane.handoff.request_threads import ErrorResponses, Response
from fastlane.sockets.incoming import MAX_BODY, ChunkScanner, check_target

wsgi.Response = Response


class Stock(ErrorResponses, ThreadWorker):
    def handle_request(self, req: Any, conn: Any) -> bool:
        check_target(req)
        if getattr(req.body.reader, "length", 0) > MAX_BODY:
            req.force_close()
            req._expected_100_continue = False
        elif not _has_arrived(req, conn):
            return False
        return bool(super().handle_request(req, conn))

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        """Fix a bug: gunicorn sends a second response if the rest of the request is malformed (response splitting)."""
        try:
            return bool(super()._keepalive_after(conn, keepalive))
        except Exception:
            return False


def _has_arrived(req: Any, conn: Any) -> bool:
    """Read the body, and put it back for gunicorn. False: it is incomplete."""
    unreader = conn.parser.unreader
    # The scanner expects the end of a line before the first chunk.
    read = bytearray(b"\r\n" + unreader.buf.getvalue())
    length = getattr(req.body.reader, "length", None)
    chunks = ChunkScanner(read, 2) if length is None else None
    while not (len(read) >= length + 2 if chunks is None else chunks.scan()):
        if req._expected_100_continue:
            conn.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            req._expected_100_continue = False
        data = unreader.chunk()
        if not data:
            return False
        read += data
    unreader.take_buffered()
    unreader.unread(bytes(read[2:]))
    return True
