"""The compiled event loop in tests: skipped loudly where it was not built, and never in CI."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from gunicorn.config import Config

from analytics.journal.records import read_frames
from analytics.journal.writer import journal
from fastlane.compiled.event_loop import CompiledEventLoop, load
from fastlane.fast.counts import Counts
from fastlane.fast.lane import FastLane
from fastlane.sockets.connections import OpenConnections
from fastlane.sockets.event_loop import READ_BYTES

if TYPE_CHECKING:
    from fastlane.compiled.plain_links import PlainLinks

_CONFIG = Config()


def compiled_or_skip() -> type[PlainLinks]:
    compiled, reason = load()
    if compiled is not None:
        return compiled
    if os.environ.get("CI"):
        pytest.fail(f"CI builds the compiled loop, but: {reason}.")
    pytest.skip(f"NOT TESTED: {reason}.")


def run_compiled(
    compiled: type[PlainLinks], data: bytes, client: str, lane: FastLane
) -> tuple[bytes, list[bytes], bool]:
    """Run one request through the compiled loop. Return what the client receives, the payloads of the records, and
    whether the connection stays open. The metrics do not count the request.
    """
    frames: list[bytes] = []
    connections = OpenConnections(on_closed=lambda _: None, idle_timeout=75)
    loop = CompiledEventLoop(connections, lane, compiled, config=_CONFIG, on_deferred=lambda _, __: None)
    server_end, client_end = socket.socketpair()
    with (
        server_end,
        client_end,
        patch.object(journal(), "append_frames", frames.append),
        patch.object(Counts, "report"),
        patch("fastlane.fast.lane.count_lookups"),
    ):
        connection = loop.add(server_end, (client, 40_000), ("127.0.0.1", 8000))
        client_end.sendall(data)
        for _ in range(1 + len(data) // READ_BYTES):
            loop.run_once()
        is_open = connections.by_descriptor.get(server_end.fileno()) is connection
        client_end.setblocking(False)
        received = b""
        with suppress(BlockingIOError):
            received = client_end.recv(1 << 20)
        loop.close()
    framed = b"".join(frames)
    return received, [frame.payload for frame in read_frames(framed, len(framed))], is_open
