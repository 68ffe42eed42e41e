"""The event loop with its compiled part: known plain links are answered without Python code for each request.

It runs if the compiled module was built from the present source and understands this version's tables.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings

from analytics.journal.records import encode_fields, frame
from common.http.client_address import is_internal_address
from fastlane.compiled.build import source_version
from fastlane.fast.lane import FastLane
from fastlane.fast.prepared import HEAD_BYTES, unpack_head
from fastlane.sockets.connections import Connection, OpenConnections
from fastlane.sockets.event_loop import ConnectionSource, EventLoop
from fastlane.sockets.outgoing import Incoming

if TYPE_CHECKING:
    from fastlane.compiled.plain_links import PlainLinks


_SAMPLE = bytes(range(256))


class Loaded(NamedTuple):
    """The class of the compiled module. None if the event loop runs in Python; ``reason`` says why, for the log."""

    plain_links: type[PlainLinks] | None
    reason: str


@cache
def load() -> Loaded:
    """Call it before gunicorn forks, so that all workers share the module's memory."""
    if settings.COMPILED_LOOP == "off":
        return Loaded(None, "COMPILED_LOOP=off")
    try:
        module = import_module("fastlane.compiled.plain_links")
    except ModuleNotFoundError:
        return Loaded(None, "the faster, compiled one is optional; `make accelerate` builds it")
    except Exception as error:
        # A module of another version may fail in any way.
        return Loaded(None, f"the compiled loop cannot be loaded, run `make accelerate` ({error!r})")
    # A module of another version may lack everything else.
    if getattr(module, "version", "") != source_version() or not _has_present_formats(module):
        return Loaded(None, "the compiled loop was built from other sources, run `make accelerate`")
    return Loaded(module.PlainLinks, "")


def _has_present_formats(module: Any) -> bool:
    prepared_head = Struct(module.PREPARED_FORMAT)
    record_head = encode_fields(0, 0, 0, 0, b"", b"", b"")
    return (
        (HEAD_BYTES, len(frame(b"")), len(record_head)) == module.SIZES
        and prepared_head.size == HEAD_BYTES
        and prepared_head.unpack_from(_SAMPLE) == unpack_head(_SAMPLE)
        and bool(module.frame(_SAMPLE) == frame(_SAMPLE))
    )


class CompiledEventLoop(EventLoop):
    """Behaves like `EventLoop`. It also answers pipelined requests of all connections as one batch."""

    def __init__(
        self,
        connections: OpenConnections,
        lane: FastLane,
        plain_links: type[PlainLinks],
        *,
        config: Any,
        on_deferred: Callable[[Connection, Incoming], None],
    ) -> None:
        super().__init__(connections, lane, config=config, on_deferred=on_deferred)
        self._plain_links = plain_links(
            lane,
            connections,
            on_special=self._continue,
            on_data=self._on_data,
            on_answered=self._on_answered,
            on_unrecorded=self._on_unrecorded,
            on_dropped=connections.drop,
        )
        connections.add_newcomers = self._plain_links.add_newcomers

    def listen(self, listener: socket.socket, source: ConnectionSource) -> None:
        super().listen(listener, source)
        server, family, protocol = listener.getsockname(), listener.family, listener.proto

        def on_accepted(descriptor: int, client: Any) -> Connection:
            # `accept4` has made it non-blocking.
            kind = socket.SOCK_STREAM | socket.SOCK_NONBLOCK
            sock = socket.socket(family, kind, protocol, descriptor)
            return self._open.add(sock, client, server, is_new=True, is_registered=True)

        self._plain_links.listen(
            listener.fileno(),
            is_internal=is_internal_address(server),
            try_admit=source.try_admit,
            on_accepted=on_accepted,
            on_finished=source.on_finished,
            accept_in_python=partial(source.accept_batch, listener),
        )

    def unlisten(self, listener: socket.socket) -> None:
        self._plain_links.unlisten(listener.fileno())
        super().unlisten(listener)

    def run_once(self, timeout: float = 0.0) -> int:
        """Run one iteration or, if it may wait and the compiled part answers all, more than one."""
        answered = 0
        for statuses, seconds in self._plain_links.run(timeout):
            self._counts.add(statuses, seconds)
            answered += len(statuses)
        self.is_watched_ready = self._plain_links.is_watched_ready
        if self._reader.ready:
            self._reader.resume_ready()
        return answered

    def _on_data(self, connection: Connection, data: bytes, tried_fast_lane: bool) -> None:
        self._reader.read(connection, data, tried_fast_lane=tried_fast_lane)

    def _on_answered(
        self, connection: Connection, data: bytes, rest: bytes, closes: bool, is_limited: bool
    ) -> None:
        """Send what the compiled part could not. ``data`` is the unsent part of the answers."""
        if closes and not data and not rest:
            self._open.finish(connection)
            return
        self._reader.send(connection, data, rest, closes=closes, is_limited=is_limited)

    def _on_unrecorded(self, connection: Connection, data: bytes, rest: bytes) -> None:
        """The Django view handles clicks that the journal rejects."""
        self._reader.defer(connection, Incoming(data, rest, time.monotonic()))


def event_loop(
    connections: OpenConnections,
    lane: FastLane,
    *,
    config: Any,
    on_deferred: Callable[[Connection, Incoming], None],
) -> EventLoop:
    """Return the compiled event loop if it is installed and not switched off."""
    compiled = load().plain_links
    if compiled is None:
        return EventLoop(connections, lane, config=config, on_deferred=on_deferred)
    return CompiledEventLoop(connections, lane, compiled, config=config, on_deferred=on_deferred)
