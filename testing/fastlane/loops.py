"""Runs a conversation of made-up clients through an event loop in this process, and returns everything it did.

The clock stands still. Clients send their bytes in steps. The loop comes to rest after each step.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import time_machine
from gunicorn.config import Config

from common.host import state
from fastlane.compiled.event_loop import CompiledEventLoop
from fastlane.sockets.admission import Acceptor, Admission
from fastlane.sockets.connections import Connection, OpenConnections
from fastlane.sockets.event_loop import EventLoop
from fastlane.sockets.outgoing import Incoming
from links.guess_counts import guesses
from testing.fastlane.journals import failing_journal, journal_sizes, records_since
from testing.fastlane.known_links import lane_of_known_links
from testing.fastlane.transcripts import Conversation, Transcript

if TYPE_CHECKING:
    from fastlane.compiled.plain_links import PlainLinks

NOW = 1_900_000_000.25
_MONOTONIC = 1_000.5
_SERVER = ("127.0.0.1", 8000)
_MAX_ITERATIONS = 10_000
# The shortest time that epoll waits is a millisecond.
_WAIT_SECONDS = 0.001
# AddressSanitizer needs a millisecond to allocate a megabyte, and these reads are most of all calls.
_READ_BYTES = 1 << 16
# Creating one takes a sixth of the time of a conversation.
_CONFIG = Config()

MakeLoop = Callable[..., EventLoop]


def difference(compiled: type[PlainLinks], conversation: Conversation) -> str:
    """Run the conversation through the Python loop and the compiled one. Return what differs, or ""."""
    expected = converse(EventLoop, conversation)
    actual = converse(partial(CompiledEventLoop, plain_links=compiled), conversation)
    return "\n".join(
        f"{name}:\n  Python:   {python!r}\n  compiled: {own!r}"
        for name, python, own in zip(Transcript._fields, expected, actual, strict=True)
        if python != own
    )


def converse(make_loop: MakeLoop, conversation: Conversation) -> Transcript:
    with ExitStack() as stack:
        stack.enter_context(time_machine.travel(NOW, tick=False))
        # Functions: the mocks that `patch` makes would take a fifth of the time of a conversation.
        for module in ("time", "links.guess_counts"):
            stack.enter_context(patch(f"{module}.monotonic", lambda: _MONOTONIC))
        if conversation.fails:
            stack.enter_context(failing_journal())
        # However long this process stops, the host does not seem to lose contact to the database.
        heard = state.microseconds()
        stack.enter_context(patch("common.host.state.microseconds", lambda: heard))
        state.note_heard()
        guesses.cache_clear()
        for address in conversation.guessers:
            guesses().spend(address, 10_000)
        before = journal_sizes()
        run = _Run(make_loop, conversation, stack)
        run.play()
        return Transcript(
            received=run.received,
            deferred=run.deferred,
            states=run.states,
            # Accepted clients have the same address.
            records={
                address: sorted(records) if conversation.is_accepted else records
                for address, records in records_since(before).items()
            },
            counts=run.counts,
            buffered=run.buffered,
            admitted=run.admitted,
        )


class _Run:
    def __init__(self, make_loop: MakeLoop, conversation: Conversation, stack: ExitStack) -> None:
        self._conversation = conversation
        self._stack = stack
        self.received = [b""] * len(conversation.peers)
        self.deferred: list[list[Incoming]] = [[] for _ in conversation.peers]
        self._connections = OpenConnections(on_closed=self._on_closed, idle_timeout=75)
        self._connections.ending = conversation.is_ending
        self.admitted = 0
        self._loop = make_loop(
            self._connections, lane_of_known_links(), config=_CONFIG, on_deferred=self._on_deferred
        )
        # The clients' numbers by their addresses.
        self._numbers: dict[Any, int] = {}
        self._deferring: dict[int, Connection] = {}
        self._clients: list[socket.socket] = []
        if conversation.is_accepted:
            self._connect_all(stack)
        else:
            self._add_all(stack)

    def _add_all(self, stack: ExitStack) -> None:
        for number, peer in enumerate(self._conversation.peers):
            ours, theirs = socket.socketpair()
            stack.callback(ours.close)
            self._clients.append(stack.enter_context(theirs))
            theirs.setblocking(False)
            if self._conversation.is_slow:
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
            client = (peer, 40_000 + number)
            self._numbers[client] = number
            self._try_admit(client)
            self._loop.add(ours, client, _SERVER, is_new=True)

    def _connect_all(self, stack: ExitStack) -> None:
        """Connect the clients to a listener of the loop, which accepts them with the first step."""
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        # The kernel chooses an abstract name.
        listener.bind("")
        listener.listen(len(self._conversation.peers))
        acceptor = Acceptor(
            self._loop,
            Admission(self._connections, limit=1_000, per_address=0),
            try_admit=self._try_admit,
            on_finished=self._on_finished,
            on_paused=lambda: None,
        )
        for number in range(len(self._conversation.peers)):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.bind("")
            client.connect(listener.getsockname())
            client.setblocking(False)
            self._numbers[client.getsockname()] = number
            self._clients.append(client)
        acceptor.open([listener])
        acceptor.resume([listener])

    def _try_admit(self, _: Any) -> bool:
        self.admitted += 1
        return True

    def _on_finished(self, _: Any) -> None:
        self.admitted -= 1

    def _on_closed(self, connection: Connection) -> None:
        self._on_finished(connection.client)

    def play(self) -> None:
        for step in self._conversation.steps:
            for client, data in step:
                self._send(self._clients[client], data)
            self._settle()
            if not self._conversation.is_slow:
                self._read()
        self._read()
        if self._conversation.is_slow:
            self._read_after_deferred()
        self._connections.add_newcomers()
        open_connections = {
            self._numbers[connection.client]: connection
            for connection in self._connections.by_descriptor.values()
        }
        self.states = [self._state(open_connections.get(number)) for number in range(len(self._clients))]
        self.buffered, admitted = self._connections.memory.buffered, self.admitted
        # What the next report adds to the metrics.
        self.counts = deepcopy(vars(self._loop._counts))
        self._loop.close()
        self.admitted = admitted

    def _send(self, client: socket.socket, data: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError, BlockingIOError):
            if data:
                client.sendall(data)
            else:
                client.shutdown(socket.SHUT_WR)

    def _settle(self) -> None:
        # `select.select` rejects descriptors above 1023.
        poll = select.poll()
        poll.register(self._loop.fileno(), select.POLLIN)
        for _ in range(_MAX_ITERATIONS):
            if not self._loop.has_ready and not poll.poll(0):
                return
            self._loop.run_once(_WAIT_SECONDS if self._conversation.waits else 0.0)
        raise RuntimeError("The event loop does not come to rest.")

    def _read(self) -> None:
        """Read until neither side has more to do."""
        is_active = True
        while is_active:
            is_active = False
            for number, client in enumerate(self._clients):
                with suppress(BlockingIOError, ConnectionResetError):
                    data = client.recv(_READ_BYTES)
                    self.received[number] += data
                    is_active |= bool(data)
            self._settle()

    def _read_after_deferred(self) -> None:
        """Add to the last deferred request of each client what is still in the socket.

        A loop that has answers to send reads no further input, and the loops send the answers to a slow client in
        other portions. The request's thread gets the socket with what was not read.
        """
        for number, connection in self._deferring.items():
            deferred = self.deferred[number]
            with suppress(OSError):
                unread = connection.sock.recv(1 << 20)
                deferred[-1] = deferred[-1]._replace(rest=deferred[-1].rest + unread)

    def _on_deferred(self, connection: Connection, incoming: Incoming) -> None:
        number = self._numbers[connection.client]
        self.deferred[number].append(incoming)
        self._deferring[number] = connection
        self._stack.callback(connection.sock.close)

    def _state(self, connection: Connection | None) -> tuple[object, ...] | None:
        if connection is None:
            return None
        body, outbox = connection.partial_request, connection.outbox
        return (
            *(connection.deadline, connection.read, connection.is_special, connection.is_ready),
            *(
                connection.closing,
                None if body is None else body.size,
                None if outbox is None else outbox.size,
            ),
        )
