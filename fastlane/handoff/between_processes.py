"""Passes connections between processes: from a redirect worker to an API worker with a request, and back without one.

All workers share one socket pair per direction, created before gunicorn forks. Any idle worker receives the next
connection. A process that dies loses only the connections that it was working on.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import orjson
from django.conf import settings

from fastlane.sockets.admission import OUT_OF_DESCRIPTORS
from fastlane.sockets.event_loop import EventLoop
from fastlane.sockets.outgoing import Incoming, refuse

# A message carries the connection's descriptor and the bytes read from it. Longer requests are passed as a memfd
# beside the connection.
_MAX_INLINE = 2 * 1024
_MAX_MESSAGE = _MAX_INLINE + 1024
# Capacity for a few messages, enough to keep the threads busy. The other connections stay in the redirect workers'
# queues, which are fair to the clients.
_BUFFER = 8 * 1024
_BUFFER_BACK = 256 * 1024


class Handoff(NamedTuple):
    """A connection to hand off. ``client`` and ``server``: addresses from accept() and getsockname()."""

    sock: socket.socket
    client: Any
    server: Any
    incoming: Incoming


class HandoffQueue:
    """The connections on their way between processes. No operation blocks, in any process."""

    def __init__(self, buffer: int = _BUFFER) -> None:
        self.write_end, self.read_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (self.write_end, self.read_end):
            end.setblocking(False)
        self.write_end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
        # The last long request that did not fit into the queue, and its memfd: retries must not copy it again.
        self._unsent: tuple[Incoming, int] | None = None

    def put(self, handoff: Handoff) -> None:
        """Transfer ownership of the connection to the queue. Raises OSError without doing so if the queue is full."""
        data, rest, since, body_omitted, sent_continue = handoff.incoming
        is_long = len(data) + len(rest) > _MAX_INLINE
        label = orjson.dumps(
            [handoff.client, handoff.server, len(data), since, body_omitted, sent_continue, is_long]
        )
        message = [len(label).to_bytes(2), label]
        descriptors = [handoff.sock.fileno()]
        if is_long:
            descriptors.append(self._memory_file(handoff.incoming))
        else:
            message += [data, rest]
        try:
            socket.send_fds(self.write_end, message, descriptors)
        except BlockingIOError:
            raise
        except OSError:
            self._discard_unsent()
            raise
        self._discard_unsent()
        handoff.sock.close()

    def take(self) -> Handoff | None:
        """Return the next connection. None: the queue is empty.

        Raises OSError (EMFILE) if the process has no free descriptor. The kernel has closed the connection then.
        """
        try:
            message, descriptors, flags, _ = socket.recv_fds(self.read_end, _MAX_MESSAGE, 2)
        except BlockingIOError:
            return None
        if flags & socket.MSG_CTRUNC:
            for descriptor in descriptors:
                os.close(descriptor)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        end = 2 + int.from_bytes(message[:2])
        client, server, length, since, body_omitted, sent_continue, is_long = orjson.loads(message[2:end])
        read = _from_memory(descriptors[1]) if is_long else message[end:]
        incoming = Incoming(read[:length], read[length:], since, body_omitted, sent_continue)
        return Handoff(socket.socket(fileno=descriptors[0]), _address(client), _address(server), incoming)

    def waiting_since(self) -> float | None:
        """Return when the request of the next connection arrived (monotonic seconds). None: the queue is empty."""
        try:
            # Without a buffer for its descriptors, peeking does not copy them.
            message = self.read_end.recv(_MAX_MESSAGE, socket.MSG_PEEK)
        except BlockingIOError:
            return None
        since: float = orjson.loads(message[2 : 2 + int.from_bytes(message[:2])])[3]
        return since

    def _memory_file(self, incoming: Incoming) -> int:
        if self._unsent is None or self._unsent[0] is not incoming:
            self._discard_unsent()
            self._unsent = incoming, _in_memory(incoming.data, incoming.rest)
        return self._unsent[1]

    def _discard_unsent(self) -> None:
        if self._unsent is not None:
            os.close(self._unsent[1])
            self._unsent = None


class HandoffQueues(NamedTuple):
    """The ways between the workers. ``probes`` is that of requests which have a thread of their own in API workers."""

    to_api: HandoffQueue
    probes: HandoffQueue
    back: HandoffQueue


@cache
def handoff_queues() -> HandoffQueues:
    """Must be called first before gunicorn forks."""
    return HandoffQueues(to_api=HandoffQueue(), probes=HandoffQueue(), back=HandoffQueue(_BUFFER_BACK))


def _in_memory(*parts: bytes) -> int:
    descriptor = os.memfd_create("request")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.writelines(parts)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _from_memory(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        # The descriptor shares the writer's position.
        file.seek(0)
        return file.read()


def _address(decoded: Any) -> Any:
    return tuple(decoded) if isinstance(decoded, list) else decoded


# A stopping worker drains the handoff queue for this long.
_DRAIN_SECONDS = 0.5


class RequestReceiver:
    """Receives the requests of redirect workers in an API worker.

    It calls ``on_received`` with each connection while ``has_capacity``, and ``on_out_of_descriptors`` if the process
    has no descriptor for the next one. The worker must not exit before `stop_if_due` returns True.
    """

    def __init__(
        self,
        poller: selectors.BaseSelector,
        queue: HandoffQueue,
        *,
        has_capacity: Callable[[], bool],
        on_received: Callable[[Handoff], None],
        on_out_of_descriptors: Callable[[], object],
    ) -> None:
        self._poller = poller
        self._queue = queue
        self._has_capacity = has_capacity
        self._on_received = on_received
        self._on_out_of_descriptors = on_out_of_descriptors
        self._is_polling = False
        # Monotonic seconds. None: not started, or stopped.
        self._deadline: float | None = None

    def start(self) -> None:
        self._deadline = float("inf")
        self.update_polling()

    def schedule_stop(self) -> None:
        self._deadline = time.monotonic() + _DRAIN_SECONDS

    def stop_if_due(self) -> bool:
        """Return True once, when the drain period is over."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return False
        self._deadline = None
        self.update_polling()
        return True

    def update_polling(self) -> None:
        should_poll = self._deadline is not None and self._has_capacity()
        if should_poll and not self._is_polling:
            self._poller.register(self._queue.read_end, selectors.EVENT_READ, self._receive)
        elif self._is_polling and not should_poll:
            self._poller.unregister(self._queue.read_end)
        self._is_polling = should_poll

    def expire(self) -> None:
        """Reply 503 to requests that exceed the queue timeout, also while no thread is idle."""
        while not self._is_polling and self._is_next_overdue() and (handoff := self._take()):
            # Another worker may have been faster, so that this is a later one.
            if _is_overdue(handoff.incoming.since):
                refuse(handoff.sock)
            else:
                self._on_received(handoff)

    def _is_next_overdue(self) -> bool:
        since = self._queue.waiting_since()
        return since is not None and _is_overdue(since)

    def _receive(self, _: Any) -> None:
        while self._has_capacity() and (handoff := self._take()):
            self._on_received(handoff)
        self.update_polling()

    def _take(self) -> Handoff | None:
        try:
            return self._queue.take()
        except OSError as error:
            if error.errno not in OUT_OF_DESCRIPTORS:
                raise
            self._on_out_of_descriptors()
            return None


def _is_overdue(since: float) -> bool:
    longest: int = settings.API_QUEUE_SECONDS
    return time.monotonic() - since > longest


# Connections received in one iteration, so that no event source starves the others.
_MAX_RECEIVED = 64


def give_back(handoff: Handoff) -> bool:
    """Give the connection back to the redirect workers after a response.

    False: the queue is full, and the caller still owns the connection.
    """
    try:
        handoff_queues().back.put(handoff)
    except OSError:
        return False
    return True


class AnsweredReceiver:
    """Receives the connections that API workers give back, in a redirect worker.

    It adds each that ``try_admit`` admits (by the client's address) to the event loop. It calls
    ``on_out_of_descriptors`` if the process has no descriptor for the next one.
    """

    def __init__(
        self,
        poller: selectors.BaseSelector,
        loop: EventLoop,
        *,
        try_admit: Callable[[Any], bool],
        on_out_of_descriptors: Callable[[], object],
    ) -> None:
        self._poller = poller
        self._loop = loop
        self._try_admit = try_admit
        self._on_out_of_descriptors = on_out_of_descriptors

    def start(self) -> None:
        self._poller.register(handoff_queues().back.read_end, selectors.EVENT_READ, self._receive)

    def stop(self) -> None:
        self._poller.unregister(handoff_queues().back.read_end)

    def _receive(self, _: Any) -> None:
        for _ in range(_MAX_RECEIVED):
            try:
                handoff = handoff_queues().back.take()
            except OSError as error:
                if error.errno not in OUT_OF_DESCRIPTORS:
                    raise
                self._on_out_of_descriptors()
                return
            if handoff is None:
                return
            if self._try_admit(handoff.client):
                self._loop.add(handoff.sock, handoff.client, handoff.server, handoff.incoming.rest)
            else:  # the response is complete, and a second one would belong to no request
                handoff.sock.close()
