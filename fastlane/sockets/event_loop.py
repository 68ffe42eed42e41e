"""The event loop: reads the connections of a process, answers requests on the fast lane, and defers the others.

A deferred request is complete. Runs in the main thread; nothing here blocks, whatever a client does.

``run_once`` and ``_send_batch`` trade clarity for speed: plain tuples, and inlined code instead of calls
(bench/results.csv, "Redirects").
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from analytics.journal.writer import journal
from fastlane.fast.answers import Answer
from fastlane.fast.counts import Counts
from fastlane.fast.lane import FastLane
from fastlane.sockets.connections import Connection, OpenConnections
from fastlane.sockets.outgoing import Incoming, Outbox
from fastlane.sockets.reader import Reader, Sender

# Events per iteration: enough to share a journal write, few enough for their sockets to stay in the CPU cache.
_EVENTS = 64
# gunicorn's read size: the errors it reports depend on where a read ended.
READ_BYTES = 8192
_BODY_READ_BYTES = 64 * 1024
# Short, because many connections can expire at once, and closing them delays requests.
_REAP_SECONDS = 0.1
_REPORT_SECONDS = 1.0


class ConnectionSource(Protocol):
    """Admits and counts the connections of listeners. ``client``: an address from accept()."""

    def accept_batch(self, listener: socket.socket) -> None:
        """Accept connections of a listener that was readable, and add them to the loop."""

    def try_admit(self, client: Any) -> bool:
        """Count a new connection unless its address is at the limit. Return whether it was admitted."""

    def on_finished(self, client: Any) -> None:
        """Stop counting an admitted connection that was answered and closed without being added."""


class EventLoop:
    """Calls ``on_deferred`` with a connection that it has released and a complete request.

    ``config`` is gunicorn's.
    """

    def __init__(
        self,
        connections: OpenConnections,
        lane: FastLane,
        *,
        config: Any,
        on_deferred: Callable[[Connection, Incoming], None],
    ) -> None:
        self.lane = lane
        self._open = connections
        self._epoll = connections.epoll
        self._by_descriptor = connections.by_descriptor
        self._counts = Counts()
        self._sender = Sender(connections)
        self._reader = Reader(
            connections, self._sender, lane, config=config, counts=self._counts, on_deferred=on_deferred
        )
        self._listeners: dict[int, tuple[socket.socket, Callable[[socket.socket], None]]] = {}
        self._reaped_at = self._reported_at = 0.0
        # Whether the last iteration found the watched descriptor readable.
        self.is_watched_ready = False

    def fileno(self) -> int:
        """Readable when a connection has an event, or the watched descriptor is readable."""
        return self._epoll.fileno()

    def watch(self, descriptor: int) -> None:
        """End the waiting of `run_once` also when this descriptor is readable."""
        self._epoll.register(descriptor, select.EPOLLIN)

    def listen(self, listener: socket.socket, source: ConnectionSource) -> None:
        """Accept connections of this listener, until `unlisten`."""
        self._listeners[listener.fileno()] = listener, source.accept_batch
        self._epoll.register(listener.fileno(), select.EPOLLIN)

    def unlisten(self, listener: socket.socket) -> None:
        self._epoll.unregister(listener.fileno())
        del self._listeners[listener.fileno()]

    @property
    def has_ready(self) -> bool:
        """Whether the next iteration has work without new events."""
        return bool(self._reader.ready)

    def run_once(self, timeout: float = 0.0) -> int:
        """Run one iteration, which waits for at most ``timeout`` seconds if there is nothing to do.

        Return the number of requests that the fast lane answered in a batch.
        """
        events = self._epoll.poll(timeout, _EVENTS)
        now = time.monotonic()
        clock = time.time()
        answers: list[tuple[Connection, bytes, Answer]] = []
        others: list[int] = []
        connections, answer_to, ending = self._by_descriptor, self.lane.answer, self._open.ending
        self.is_watched_ready = False
        for descriptor, event in events:
            connection = connections.get(descriptor)
            if connection is None:
                others.append(descriptor)
                continue
            if connection.is_special:
                self._continue(connection, event)
                continue
            try:
                data = connection.sock.recv(READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:  # a partial request will never be complete
                self._open.drop(connection)
                continue
            if connection.read:
                data = connection.read + data
            answer = answer_to(data, connection.address, clock, ending)
            if answer is None:
                self._reader.read(connection, data, tried_fast_lane=True)
            else:
                answers.append((connection, data, answer))
        if answers:
            self._send_batch(answers, now)
        if self._reader.ready:
            self._reader.resume_ready()
        # After the requests, because a new connection may end idle ones.
        for descriptor in others:
            self._handle_other(descriptor)
        return len(answers)

    def add(
        self, sock: socket.socket, client: Any, server: Any, read: bytes = b"", *, is_new: bool = False
    ) -> Connection:
        """Add a connection. ``read``: start of its next request. Raises OSError or ValueError if it is closed."""
        connection = self._open.add(sock, client, server, is_new=is_new)
        if read:
            self._reader.read(connection, read)
        return connection

    def retry(
        self, connections: Sequence[Connection], requests: Sequence[Incoming], clock: float
    ) -> list[bool]:
        """Retry deferred requests on the fast lane, with one write to the journal. ``clock`` in seconds since 1970.

        False: still deferred; the loop has released the connection.
        """
        answered = self._reader.retry(connections, requests, clock)
        for connection, is_answered in zip(connections, answered, strict=True):
            if not is_answered:
                self._open.release(connection)
        return answered

    def send(self, connection: Connection, answer: Answer, rest: bytes, seconds: float) -> None:
        """Send an answer whose record is stored already. ``rest``: bytes read of later requests."""
        self._counts.add([answer[0]], seconds)
        self._reader.send_answer(connection, answer, rest)

    def transmit(self, connection: Connection, outbox: Outbox, on_sent: Callable[[Connection], None]) -> None:
        """Send the response as the client reads it, then call ``on_sent``."""
        self._sender.begin(connection, outbox, on_sent)

    def reap(self) -> None:
        """Drop connections that are past their deadline or exceed the memory limit. Safe to call at any time."""
        for connection in self._open.memory.excess():
            self._reader.refuse(connection)
        now = time.monotonic()
        if self._open.ending or now - self._reaped_at >= _REAP_SECONDS:
            self._reaped_at = now
            self._open.drop_expired(now)
        if self._open.ending or now - self._reported_at >= _REPORT_SECONDS:
            self._reported_at = now
            self._counts.report()

    def close(self) -> None:
        self._open.close()
        self._counts.report()

    def _send_batch(self, answers: list[tuple[Connection, bytes, Answer]], now: float) -> None:
        try:
            journal().append(*[payload for _, _, (_, _, _, payload) in answers if payload])
        except OSError:
            # The Django view handles clicks that the journal rejects.
            for connection, data, _ in answers:
                self._reader.defer(connection, Incoming(data, b"", now))
            return
        deadline = now + self._open.idle_timeout
        for connection, _, (_, data, closes, _) in answers:
            connection.deadline = deadline
            if connection.read:
                connection.read = b""
                self._open.memory.update(connection)
            try:
                sent = connection.sock.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self._open.drop(connection)
                continue
            if closes or sent < len(data):
                outbox = Outbox()
                outbox.add(data[sent:])
                self._sender.begin(connection, outbox, self._open.finish if closes else self._reader.resume)
        self._counts.add([status for _, _, (status, *_) in answers], time.monotonic() - now)

    def _handle_other(self, descriptor: int) -> None:
        """Handle an event of a descriptor that is no connection."""
        if listening := self._listeners.get(descriptor):
            listener, accept_batch = listening
            accept_batch(listener)
        else:
            self.is_watched_ready = True

    def _continue(self, connection: Connection, event: int) -> None:
        """Handle an event of a connection whose ``is_special`` is true."""
        if connection.outbox is not None:
            self._sender.resume(connection, connection.outbox, event)
            return
        if connection.is_ready:
            return
        try:
            data = connection.sock.recv(_BODY_READ_BYTES if connection.partial_request else READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._open.drop(connection)
        elif connection.closing:
            return
        elif connection.partial_request:
            self._reader.add_to_body(connection, connection.partial_request, data)
        else:
            self._reader.read(connection, connection.read + data)
