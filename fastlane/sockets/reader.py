"""Requests that take more than one system call to read, and answers that take more than one to send.

It splits the input of a connection into requests. The fast lane answers pipelined requests in order and as a batch. A
request for Django is deferred as soon as it is complete. Answers are sent as fast as clients read them.
"""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from analytics.journal.writer import journal
from fastlane.fast.answers import Answer, Health
from fastlane.fast.counts import Counts
from fastlane.fast.lane import FastLane
from fastlane.sockets.connections import (
    HEAD_SECONDS,
    Connection,
    OpenConnections,
    body_deadline,
    write_deadline,
)
from fastlane.sockets.incoming import MAX_HEAD, PartialRequest, is_refused, read_framing
from fastlane.sockets.outgoing import BUSY, CONTINUE, HEAD_TOO_LONG, Incoming, Outbox


class Sender:
    def __init__(self, connections: OpenConnections) -> None:
        self._connections = connections

    def begin(self, connection: Connection, outbox: Outbox, on_sent: Callable[[Connection], None]) -> None:
        """Send the response as the client reads it, then call ``on_sent``."""
        connection.outbox, connection.on_sent, connection.is_special = outbox, on_sent, True
        connection.sending_since, connection.sent = time.monotonic(), 0
        connection.deadline = write_deadline(connection, connection.sending_since)
        self._send(connection, outbox, is_writing=False)

    def resume(self, connection: Connection, outbox: Outbox, event: int) -> None:
        if event & ~select.EPOLLIN:
            self._send(connection, outbox, is_writing=True)

    def _send(self, connection: Connection, outbox: Outbox, *, is_writing: bool) -> None:
        connections = self._connections
        try:
            sent = outbox.send(connection.sock)
        except OSError:
            connections.drop(connection)
            return
        connections.memory.update(connection)
        if outbox:
            if sent:
                connection.sent += sent
                connection.deadline = write_deadline(connection, time.monotonic())
            if not is_writing:
                connections.epoll.modify(connection.sock.fileno(), select.EPOLLOUT)
            return
        if is_writing:
            connections.epoll.modify(connection.sock.fileno(), select.EPOLLIN)
        on_sent = connection.on_sent
        connection.expect_head()
        connection.deadline = time.monotonic() + connections.idle_timeout
        if on_sent is not None:
            on_sent(connection)


# Requests of one connection that are answered per iteration.
_MAX_ANSWERS = 64
# Connections that continue with their next requests per iteration: a new connection waits for at most these.
_MAX_RESUMED = 64


class Reader:
    """The slower half of the event loop: requests that take more than one system call to read.

    Calls ``on_deferred`` with a connection that it has released and a complete request. ``config`` is gunicorn's.
    """

    def __init__(
        self,
        connections: OpenConnections,
        sender: Sender,
        lane: FastLane,
        *,
        config: Any,
        counts: Counts,
        on_deferred: Callable[[Connection, Incoming], None],
    ) -> None:
        self._connections = connections
        self._sender = sender
        self._lane = lane
        self._config = config
        self._counts = counts
        self._on_deferred = on_deferred
        self._health = Health()
        # Connections with more requests than the limit per iteration, so that none starves the others.
        self.ready: deque[Connection] = deque()

    def read(self, connection: Connection, data: bytes, *, tried_fast_lane: bool = False) -> None:
        """Process ``data``, all bytes not answered yet: part of a request, or one or more requests.

        ``tried_fast_lane``: the fast lane has already declined ``data`` as one request.
        """
        answers: list[Answer] = []
        start, first_end = 0, 0
        while len(answers) < _MAX_ANSWERS and (end := data.find(b"\r\n\r\n", start) + 4) >= 4:
            skips_fast_lane = connection.is_internal or (tried_fast_lane and end == len(data) and not start)
            answer = self._try_answer(connection, data[start:end], skips_fast_lane=skips_fast_lane)
            if answer is None:
                break
            answers.append(answer)
            start, first_end = end, first_end or end
            if answer[2]:
                break
        if not answers:
            self._begin_request(connection, data)
            return
        try:
            self._journal_visits(answers)
        except OSError:
            self.defer(connection, Incoming(data[:first_end], data[first_end:], time.monotonic()))
        else:
            self._send(connection, answers, data[start:])

    def retry(
        self, connections: Sequence[Connection], requests: Sequence[Incoming], clock: float
    ) -> list[bool]:
        """Try the fast lane again, for connections that were just added. Return whether it has answered each.

        ``clock`` in seconds since 1970.
        """
        ending = self._connections.ending
        answers = [
            self._lane.answer(incoming.data, connection.address, clock, ending)
            for connection, incoming in zip(connections, requests, strict=True)
        ]
        try:
            self._journal_visits([answer for answer in answers if answer is not None])
        except OSError:
            return [False] * len(answers)
        for connection, incoming, answer in zip(connections, requests, answers, strict=True):
            if answer is not None:
                self.send_answer(connection, answer, incoming.rest)
        return [answer is not None for answer in answers]

    def resume(self, connection: Connection) -> None:
        """Continue with pipelined requests after a response was sent."""
        connection.expect_head()
        data, connection.read = connection.read, b""
        if data:
            # This updates the memory total, unless the loop no longer owns the connection afterwards.
            self.read(connection, data)
        else:
            self._connections.memory.update(connection)

    def resume_ready(self) -> None:
        for _ in range(min(len(self.ready), _MAX_RESUMED)):
            connection = self.ready.popleft()
            if connection.is_ready and connection.sock.fileno() >= 0:
                self.resume(connection)

    def defer(self, connection: Connection, incoming: Incoming) -> None:
        self._connections.release(connection)
        self._on_deferred(connection, incoming)

    def add_to_body(self, connection: Connection, partial_request: PartialRequest, data: bytes) -> None:
        partial_request.add(data)
        connection.deadline = body_deadline(partial_request)
        self._connections.memory.update(connection)
        self._defer_if_complete(connection, partial_request)

    def refuse(self, connection: Connection) -> None:
        """Free the memory of a connection when the memory limit is exceeded."""
        if connection.outbox is not None:
            self._connections.drop(connection)
        else:
            self._send_final(connection, BUSY)

    def _try_answer(self, connection: Connection, head: bytes, *, skips_fast_lane: bool) -> Answer | None:
        now, ending = time.time(), self._connections.ending
        answer = None if skips_fast_lane else self._lane.answer(head, connection.address, now, ending)
        return answer or self._health.answer(head, connection.address, now, ending)

    def _journal_visits(self, answers: list[Answer]) -> None:
        """Write the visits to the journal, and count the answers. Raises OSError."""
        started_at = time.monotonic()
        journal().append(*[payload for _, _, _, payload in answers if payload])
        # The metrics of redirects do not include health checks.
        if statuses := [status for status, *_ in answers if status != HTTPStatus.OK]:
            self._counts.add(statuses, time.monotonic() - started_at)

    def _send(self, connection: Connection, answers: list[Answer], rest: bytes) -> None:
        data = b"".join([data for _, data, _, _ in answers])
        self.send(connection, data, rest, closes=answers[-1][2], is_limited=len(answers) == _MAX_ANSWERS)

    def send(
        self, connection: Connection, data: bytes, rest: bytes, *, closes: bool, is_limited: bool
    ) -> None:
        """Send answers, then process ``rest``, the bytes read after their requests.

        ``closes``: the last answer closes the connection. ``is_limited``: other connections come before ``rest``.
        """
        outbox = Outbox()
        outbox.add(data)
        connection.read = rest
        if closes:
            connection.read = b""
            after = self._connections.shutdown_gracefully if rest else self._connections.finish
        else:
            after = self._continue_next_iteration if is_limited else self.resume
        self._sender.begin(connection, outbox, after)

    def send_answer(self, connection: Connection, answer: Answer, rest: bytes) -> None:
        """Send one answer: cheaper than `send` if the client takes all of it."""
        _, data, closes, _ = answer
        try:
            sent = connection.sock.send(data)
        except OSError:  # the next attempt finds out why
            sent = 0
        if sent < len(data) or rest or closes:
            self.send(connection, data[sent:], rest, closes=closes, is_limited=False)

    def _continue_next_iteration(self, connection: Connection) -> None:
        connection.is_ready = connection.is_special = True
        self.ready.append(connection)

    def _begin_request(self, connection: Connection, data: bytes) -> None:
        """Defer a request that the loop cannot answer, or start to receive the rest of it."""
        end = data.find(b"\r\n\r\n") + 4
        if end < 4:
            self._wait_for_head(connection, data)
            return
        head = data[:end]
        framing = read_framing(self._config, head, connection.client, len(data) - end)
        if framing is None:
            self._defer(connection, data)
        elif not framing.length and not framing.is_chunked:
            self._defer(connection, head, data[end:])
        else:
            partial_request = PartialRequest(data, end, framing)
            connection.receive(partial_request)
            self._connections.memory.update(connection)
            is_incomplete = not self._defer_if_complete(connection, partial_request)
            if is_incomplete and framing.expects_continue:
                self._send_continue(connection, partial_request)

    def _wait_for_head(self, connection: Connection, data: bytes) -> None:
        if is_refused(data):
            self._defer(connection, data)
        elif len(data) > MAX_HEAD:
            self._send_final(connection, HEAD_TOO_LONG)
        else:
            if not connection.read:
                connection.deadline = time.monotonic() + HEAD_SECONDS
            connection.read = data
            self._connections.memory.update(connection)

    def _defer_if_complete(self, connection: Connection, partial_request: PartialRequest) -> bool:
        if partial_request.is_too_long:
            self._defer(connection, partial_request.head, body_omitted=True)
        elif partial_request.is_complete():
            self._defer(connection, *partial_request.split(), sent_continue=partial_request.sent_continue)
        else:
            return False
        return True

    def _defer(
        self,
        connection: Connection,
        data: bytes,
        rest: bytes = b"",
        *,
        body_omitted: bool = False,
        sent_continue: bool = False,
    ) -> None:
        incoming = Incoming(
            data, rest, time.monotonic(), body_omitted=body_omitted, sent_continue=sent_continue
        )
        self.defer(connection, incoming)

    def _send_continue(self, connection: Connection, partial_request: PartialRequest) -> None:
        try:
            connection.sock.send(CONTINUE)
        except OSError:
            self._connections.drop(connection)
        else:
            partial_request.sent_continue = True

    def _send_final(self, connection: Connection, answer: bytes) -> None:
        outbox = Outbox()
        outbox.add(answer)
        connection.read, connection.partial_request, connection.is_ready = b"", None, False
        self._sender.begin(connection, outbox, self._connections.shutdown_gracefully)
