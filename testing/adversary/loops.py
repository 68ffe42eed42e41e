"""Runs a conversation of made-up clients through an event loop in this process, and returns everything it did.

The clock stands still. Clients send their bytes in steps. The loop comes to rest after each step.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import time_machine
from django.conf import settings
from django.test import override_settings
from gunicorn.config import Config

from analytics.journal.records import decode, read_frames
from analytics.journal.writer import SUFFIX, journal
from common.host import state
from common.host.guess_counts import guesses
from redirects.sockets.compiled_loop import CompiledEventLoop
from redirects.sockets.connections.connection import Connection
from redirects.sockets.connections.open_connections import OpenConnections
from redirects.sockets.event_loop import EventLoop
from redirects.sockets.responses.client_stream import Incoming
from testing.adversary.known_links import lane_of_known_links

if TYPE_CHECKING:
    from redirects.compiled.plain_links import PlainLinks

NOW = 1_900_000_000.25
_MONOTONIC = 1_000.5
_SERVER = ("127.0.0.1", 8000)
_MAX_ITERATIONS = 10_000
# The shortest time that epoll waits is a millisecond.
_WAIT_SECONDS = 0.001

MakeLoop = Callable[..., EventLoop]


class Conversation(NamedTuple):
    """``peers``: the clients' addresses. ``steps``: what clients send at the same time, their number and bytes, where
    b"" shuts down their side. ``is_slow``: they take little at once, and read at the end.

    ``is_ending``: the process is stopping. ``fails``: the journal cannot be written. ``guessers``: these addresses
    have requested too many unknown codes. ``waits``: the loop may wait for the next event.
    """

    peers: Sequence[str]
    steps: Sequence[Sequence[tuple[int, bytes]]]
    is_slow: bool = False
    is_ending: bool = False
    fails: bool = False
    guessers: Sequence[str] = ()
    waits: bool = False


class Transcript(NamedTuple):
    """By client: bytes received, requests deferred, and the state of the connection (None: closed or released).

    ``records`` by address: which client's request comes first in an iteration is not defined. ``counts``: for the
    metrics.
    """

    received: list[bytes]
    deferred: list[list[Incoming]]
    states: list[tuple[object, ...] | None]
    records: dict[str, list[bytes]]
    counts: dict[str, object]
    buffered: int


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
        for module in ("time", "common.host.guess_counts"):
            stack.enter_context(patch(f"{module}.monotonic", return_value=_MONOTONIC))
        if conversation.fails:
            stack.enter_context(_failing_journal())
        # However long this process stops, the host does not seem to lose contact to the database.
        stack.enter_context(patch("common.host.state.microseconds", return_value=state.microseconds()))
        state.note_heard()
        guesses.cache_clear()
        for address in conversation.guessers:
            guesses().spend(address, 10_000)
        before = _journal_sizes()
        run = _Run(make_loop, conversation, stack)
        run.play()
        return Transcript(
            received=run.received,
            deferred=run.deferred,
            states=run.states,
            records=_records_since(before),
            counts=run.counts,
            buffered=run.buffered,
        )


class _Run:
    def __init__(self, make_loop: MakeLoop, conversation: Conversation, stack: ExitStack) -> None:
        self._conversation = conversation
        self.received = [b""] * len(conversation.peers)
        self.deferred: list[list[Incoming]] = [[] for _ in conversation.peers]
        self._connections = OpenConnections(on_closed=lambda _: None, idle_timeout=75)
        self._connections.ending = conversation.is_ending
        self._loop = make_loop(
            self._connections, lane_of_known_links(), config=Config(), on_deferred=self._on_deferred
        )
        self._clients: list[socket.socket] = []
        self._served: list[Connection] = []
        for peer in conversation.peers:
            ours, theirs = socket.socketpair()
            stack.callback(ours.close)
            self._clients.append(stack.enter_context(theirs))
            theirs.setblocking(False)
            if conversation.is_slow:
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
            self._served.append(self._loop.add(ours, (peer, 40_000), _SERVER, is_new=True))

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
        self.states = [self._state(connection) for connection in self._served]
        self.buffered = self._connections.memory.buffered
        # What the next report adds to the metrics.
        self.counts = deepcopy(vars(self._loop._counts))
        self._loop.close()

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
                    data = client.recv(1 << 20)
                    self.received[number] += data
                    is_active |= bool(data)
            self._settle()

    def _read_after_deferred(self) -> None:
        """Add to the last deferred request of each client what is still in the socket.

        A loop that has answers to send reads no further input, and the loops send the answers to a slow client in
        other portions. The request's thread gets the socket with what was not read.
        """
        for connection, deferred in zip(self._served, self.deferred, strict=True):
            if deferred:
                with suppress(OSError):
                    unread = connection.sock.recv(1 << 20)
                    deferred[-1] = deferred[-1]._replace(rest=deferred[-1].rest + unread)

    def _on_deferred(self, connection: Connection, incoming: Incoming) -> None:
        self.deferred[self._served.index(connection)].append(incoming)

    def _state(self, connection: Connection) -> tuple[object, ...] | None:
        if self._connections.by_descriptor.get(connection.sock.fileno()) is not connection:
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


@contextmanager
def _failing_journal() -> Iterator[None]:
    """A journal whose folder is a file."""
    own = journal()
    journal.cache_clear()
    with override_settings(CLICKS_DIR=Path(__file__)):
        yield
    journal.cache_clear()
    with patch("analytics.journal.writer.Journal", return_value=own):
        journal()


def _journal_sizes() -> dict[Path, int]:
    return {path: path.stat().st_size for path in settings.CLICKS_DIR.glob(f"*{SUFFIX}")}


def _records_since(before: dict[Path, int]) -> dict[str, list[bytes]]:
    records: dict[str, list[bytes]] = {}
    # A segment that is full is followed by a new one, whose name is random.
    for path in sorted(_journal_sizes(), key=lambda path: path not in before):
        with path.open("rb") as segment:
            segment.seek(before.get(path, 0))
            data = segment.read()
        frames = read_frames(data, len(data))
        if (frames[-1].end if frames else 0) != len(data):
            raise RuntimeError("The journal contains something that is not a record.")
        for framed in frames:
            records.setdefault(decode(framed.payload).address, []).append(framed.payload)
    return records
