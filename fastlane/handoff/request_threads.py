"""gunicorn's threads: each gets a complete request and never waits for a client.

One more thread is reserved for `/readyz` and the internal listener, so that an operator sees the state of a process
whose other threads are all busy.

A streamed response (an export) releases its thread while the client does not read, and later continues in any thread.
A slow reader occupies at most one piece of the response in memory, and no thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import Enum
from typing import Any

from django.conf import settings
from gunicorn.http.errors import NoMoreData
from gunicorn.http.wsgi import FileWrapper, create
from gunicorn.http.wsgi import Response as StockResponse
from gunicorn.workers.gthread import TConn, ThreadWorker

from fastlane.handoff.between_processes import Handoff
from fastlane.sockets.connections import has_disconnected
from fastlane.sockets.incoming import check_target
from fastlane.sockets.outgoing import BUSY, ClientStream
from pages.refusals import BAD_REQUEST, INTERNAL_ERROR


class ErrorResponses:
    """A mixin for gunicorn's workers. gunicorn has no option to add a header to these responses."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        super().handle_error(req, _ErrorStream(client), addr, exc)  # type: ignore[misc] # the worker's method


class _ErrorStream:
    """Adds the header to the response that gunicorn sends in one piece."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def sendall(self, data: bytes) -> None:
        status_line, end, rest = data.partition(b"\r\n")
        self._client.sendall(
            b"%s%sX-Refusal-Reason: %s\r\n%s" % (status_line, end, _reason(status_line), rest)
        )


def _reason(status_line: bytes) -> bytes:
    """All errors but 500 are the client's, also 501: it sent an unknown transfer coding."""
    is_internal = status_line.startswith(b"HTTP/1.1 500 ")
    return (INTERNAL_ERROR if is_internal else BAD_REQUEST).reason.encode("ascii")


class Outcome(Enum):
    """The next state of a connection. PAUSED: the response continues when the client has read the sent part."""

    KEEP = "keep"
    CLOSE = "close"
    PAUSED = "paused"


class Response(StockResponse):
    def should_close(self) -> bool:
        # Do not parse the rest of a request that was too large.
        return self.status_code == 413 or bool(super().should_close())


class Exchange(TConn):
    """One request on a connection, and its response. ``is_probe``: it has the reserved thread."""

    request: Any = None
    is_chunked = False
    response: Any = None
    pieces: Iterator[bytes] | None = None
    close_pieces: Any = None

    def __init__(self, config: Any, handoff: Handoff, *, is_probe: bool) -> None:
        self.is_probe = is_probe
        self.stream = ClientStream(handoff.sock, handoff.incoming)
        super().__init__(config, self.stream, handoff.client, handoff.server)

    def is_reusable(self) -> bool:
        """Whether the connection can be reused for another request."""
        if self.stream.body_omitted or self.response.should_close():
            return False
        # Only gunicorn knows where a chunked body ends. No other body leaves unread bytes on the connection.
        return not self.is_chunked or bool(self.parser.finish_body())

    @property
    def rest(self) -> bytes:
        """The bytes that were read after the request."""
        after_chunks = self.parser.unreader.buf.getvalue() + self.stream.unread if self.is_chunked else b""
        return after_chunks + self.stream.rest


class RequestThreads(ErrorResponses, ThreadWorker):
    alive: bool
    role: str
    _busy_threads = _busy_probes = 0

    def get_thread_pool(self) -> ThreadPoolExecutor:
        # A redirect worker passes probes on.
        return ThreadPoolExecutor(self.cfg.threads + (self.role != "redirect"))

    def _submit(self, handoff: Handoff) -> None:
        """Process the request in a thread."""
        self._start_thread(Exchange(self.cfg, handoff, is_probe=False))

    def _submit_probe(self, handoff: Handoff) -> None:
        self._start_thread(Exchange(self.cfg, handoff, is_probe=True))

    def _start_thread(self, conn: Exchange) -> None:
        self._busy_threads += not conn.is_probe
        self._busy_probes += conn.is_probe
        self.enqueue_req(conn)

    def _end_thread(self, conn: Exchange, future: Any) -> Outcome:
        """Take the result of a request, in the main thread."""
        self._busy_threads -= not conn.is_probe
        self._busy_probes -= conn.is_probe
        try:
            outcome: Outcome = future.result()
        except BaseException:
            self.log.exception("Error handling request")
            return Outcome.CLOSE
        return outcome

    def _has_idle_thread(self) -> bool:
        return bool(self._busy_threads < self.cfg.threads)

    def _has_idle_probe_thread(self) -> bool:
        return not self._busy_probes

    def _is_idle(self) -> bool:
        """Whether no thread processes a request."""
        return not self._busy_threads and not self._busy_probes

    def handle(self, conn: Exchange) -> Outcome:
        """Runs in a thread: process a request, or continue its response."""
        try:
            outcome = self._exchange(conn)
            conn.stream.flush()
        except OSError:
            # The client has disconnected.
            self._end_response(conn)
            return Outcome.CLOSE
        return outcome

    def _exchange(self, conn: Exchange) -> Outcome:
        try:
            if conn.response is None and not self._begin(conn):
                return Outcome.CLOSE
            if not self._write(conn):
                return Outcome.PAUSED
        except (NoMoreData, StopIteration) as error:
            self.log.debug("Closing connection. %s", error)
        except OSError:
            raise
        except Exception as error:
            if conn.response is not None and conn.response.headers_sent:
                # A proxy would match a second response to the next request, possibly of another client (response
                # splitting).
                self.log.exception("Error handling request")
            else:
                self.handle_error(conn.request, conn.stream, conn.client, error)
        else:
            self._end_response(conn)
            with suppress(Exception):  # the unread part of the request is malformed
                return Outcome.KEEP if conn.is_reusable() else Outcome.CLOSE
        self._end_response(conn)
        return Outcome.CLOSE

    def _begin(self, conn: Exchange) -> bool:
        """Parse the request and call the application.

        False: the client has disconnected, or the queue timeout is exceeded.
        """
        if has_disconnected(conn.stream.sock, conn.stream.since):
            return False
        if time.monotonic() - conn.stream.since > settings.API_QUEUE_SECONDS:
            conn.stream.sendall(BUSY)
            return False
        conn.init()
        conn.request = request = next(conn.parser)
        check_target(request)
        conn.is_chunked = any(name == "TRANSFER-ENCODING" for name, _ in request.headers)
        response, environ = create(
            request, conn.stream, conn.client, conn.server, self.cfg, response_class=Response
        )
        environ["wsgi.multithread"] = True
        self.nr += 1
        if self.nr >= self.max_requests and self.alive:
            self.log.info("Autorestarting worker after current request.")
            self.alive = False
        if not self.alive or not self.cfg.keepalive or conn.stream.body_omitted:
            response.force_close()
        conn.response = response
        result = self.wsgi(environ, response.start_response)
        conn.close_pieces = getattr(result, "close", None)
        if isinstance(result, FileWrapper):
            response.write_file(result)
            conn.pieces = iter(())
        else:
            conn.pieces = iter(result)
        return True

    def _write(self, conn: Exchange) -> bool:
        """Send the response. False: paused, as the client has not read enough of it."""
        for piece in conn.pieces or ():
            conn.response.write(piece)
            if conn.stream.is_full:
                conn.stream.flush()
                if conn.stream.is_full:
                    return False
        conn.response.close()
        return True

    def _end_response(self, conn: Exchange) -> None:
        if conn.close_pieces is not None:
            close, conn.close_pieces = conn.close_pieces, None
            close()
