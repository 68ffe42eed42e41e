"""The connections of one process between two requests: read when there is something to read, answered when the fast
lane can, and handed on, with all that was read, when it cannot.

For the main thread alone. Nothing here blocks, whatever a client does or does not do.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from typing import Any

from analytics.journal import journal
from redirects.connections import BODY_SECONDS, HEAD_SECONDS, READ_BYTES, Connection, missing
from redirects.counts import Counts
from redirects.fast_lane import Answer, FastLane

# In one turn: enough to share a write of the journal, few enough for their sockets to stay in the processor's cache.
_EVENTS = 64
_CLOSING_SECONDS = 2.0
_REAP_SECONDS = 1.0


class EventLoop:
    """``pass_on`` gets a connection that the loop has let go, and what was read of its request. ``dropped`` is called
    for each one that is closed here. ``patience`` is how many seconds a silent client is waited for.

    ``ending`` says, while the process stops, that each answer is the last one on its connection.
    """

    def __init__(
        self,
        lane: FastLane,
        *,
        pass_on: Callable[[Connection, bytes], None],
        dropped: Callable[[], None],
        patience: float,
    ) -> None:
        self._lane = lane
        self._pass_on = pass_on
        self._dropped = dropped
        self._epoll = select.epoll()
        self._connections: dict[int, Connection] = {}
        self._counts = Counts()
        self._reaped_at = 0.0
        self.patience = patience
        self.ending = False

    def fileno(self) -> int:
        """Readable when there is something to do."""
        return self._epoll.fileno()

    def turn(self) -> int:
        """Does what there is to do; gives the number of requests that were answered."""
        now = time.monotonic()
        clock = time.time()
        answers: list[tuple[Connection, bytes, Answer]] = []
        connections, answer_to, ending = self._connections, self._lane.answer, self.ending
        for descriptor, event in self._epoll.poll(0, _EVENTS):
            connection = connections[descriptor]
            if connection.outgoing:
                if event & ~select.EPOLLIN:
                    self._send_rest(connection)
                continue
            try:
                data = connection.sock.recv(READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if connection.closing or not data:
                self._end(connection, data)
                continue
            if connection.read:
                data = connection.read + data
            answer = answer_to(data, connection.address, clock, ending)
            if answer is None:
                self._read(connection, data, now)
            else:
                answers.append((connection, data, answer))
        if answers:
            self._answer(answers, now)
        return len(answers)

    def keep(self, sock: socket.socket, client: Any, server: Any, read: bytes = b"") -> Connection:
        """Until its next request, which begins with ``read``. Raises OSError or ValueError when it is closed."""
        sock.setblocking(False)
        descriptor = sock.fileno()
        self._epoll.register(descriptor, select.EPOLLIN)
        connection = Connection(sock, client, server, time.monotonic() + self.patience)
        self._connections[descriptor] = connection
        if read:
            self._read(connection, read, time.monotonic())
        return connection

    def offer(self, connection: Connection, data: bytes) -> bool:
        """Answers a request that was let go before, if the fast lane can by now; or else lets it go again."""
        now = time.monotonic()
        answer = self._lane.answer(data, connection.address, time.time(), self.ending)
        if answer is None:
            self._forget(connection)
            return False
        self._answer([(connection, data, answer)], now)
        return True

    def close_gently(self, connection: Connection) -> None:
        """Says that no more will come, and waits for the client to close, but not for long: closing a connection on
        which something unread arrives would cost the client the last answer (RFC 9112, section 9.6).
        """
        connection.closing = True
        connection.deadline = time.monotonic() + _CLOSING_SECONDS
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(connection)

    def reap(self) -> None:
        """Drops those whose time is over; called as often as one likes."""
        now = time.monotonic()
        if self.ending or now - self._reaped_at >= _REAP_SECONDS:
            self._reaped_at = now
            self._counts.report()
            for connection in [each for each in self._connections.values() if each.deadline <= now]:
                self._drop(connection)

    def end(self, deadline: float, patience: float) -> None:
        """From now on silent connections are kept until ``deadline`` (monotonic), new ones for ``patience``."""
        self.ending = True
        self.patience = patience
        for connection in self._connections.values():
            if not connection.read and not connection.outgoing:
                connection.deadline = min(connection.deadline, deadline)

    def close(self) -> None:
        for connection in list(self._connections.values()):
            self._drop(connection)
        self._counts.report()
        self._epoll.close()

    def _answer(self, answers: list[tuple[Connection, bytes, Answer]], now: float) -> None:
        try:
            journal().append(*[payload for _, _, (_, _, _, payload) in answers])
        except OSError:
            # The Django view knows what to do with clicks that the journal cannot keep.
            for connection, data, _ in answers:
                self._let_go(connection, data)
            return
        deadline = now + self.patience
        for connection, _, (_, data, closes, _) in answers:
            connection.deadline = deadline
            if connection.read:
                connection.read = b""
            if closes:
                connection.closing = True
            # What is usual, without the cost of a call.
            try:
                sent = connection.sock.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self._drop(connection)
                continue
            if closes or sent < len(data):
                self._sent(connection, data, sent)
        self._counts.add([status for _, _, (status, *_) in answers], time.monotonic() - now)

    def _send_rest(self, connection: Connection) -> None:
        """The client takes more."""
        waiting = connection.outgoing
        try:
            sent = connection.sock.send(waiting)
        except BlockingIOError:
            return
        except OSError:
            self._drop(connection)
            return
        self._sent(connection, waiting, sent)

    def _sent(self, connection: Connection, data: bytes, sent: int) -> None:
        """Keeps what the client has not taken; ends what is over."""
        waited, connection.outgoing = connection.outgoing, data[sent:]
        if waited or connection.outgoing:
            wanted = select.EPOLLOUT if connection.outgoing else select.EPOLLIN
            self._epoll.modify(connection.sock.fileno(), wanted)
        if connection.closing and not connection.outgoing:
            if self.ending:
                self.close_gently(connection)
            else:  # as the client has asked for, so it sends no more
                self._drop(connection)

    def _read(self, connection: Connection, data: bytes, now: float) -> None:
        """Something that the fast lane cannot answer, or only the beginning of a request."""
        if len(data) < connection.wanted:
            connection.read = data
            return
        wanted = missing(data)
        if wanted == 0:
            self._let_go(connection, data)
            return
        if not connection.read:
            connection.deadline = now + HEAD_SECONDS
        if b"\r\n\r\n" in data and b"\r\n\r\n" not in connection.read:
            connection.deadline = now + BODY_SECONDS
        connection.read, connection.wanted = data, wanted

    def _end(self, connection: Connection, data: bytes) -> None:
        """The client sends no more, or nothing that matters; what it has begun is gunicorn's to judge."""
        if connection.read and not connection.closing:
            self._let_go(connection, connection.read)
        elif not data:
            self._drop(connection)

    def _let_go(self, connection: Connection, data: bytes) -> None:
        self._forget(connection)
        self._pass_on(connection, data)

    def _drop(self, connection: Connection) -> None:
        self._forget(connection)
        connection.sock.close()
        self._dropped()

    def _forget(self, connection: Connection) -> None:
        descriptor = connection.sock.fileno()
        self._epoll.unregister(descriptor)
        del self._connections[descriptor]
