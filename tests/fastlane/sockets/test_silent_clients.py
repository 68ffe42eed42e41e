"""Clients that have connected and sent nothing yet: whatever closes connections knows them."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest

from fastlane.sockets.connections import FIRST_BYTE_SECONDS
from fastlane.sockets.event_loop import EventLoop
from tests.fastlane.sockets.accepting import KEPT, Accepting, is_readable


@pytest.fixture
def client(accepting: Accepting) -> socket.socket:
    """A silent client, accepted in the last iteration."""
    client = accepting.connect()
    accepting.run_until(lambda: accepting.open == [client.getsockname()])
    return client


def test_a_silent_client_is_closed_for_others(accepting: Accepting, client: socket.socket) -> None:
    assert accepting.connections.drop_longest_idle(1) == 1
    assert client.recv(1) == b""
    assert accepting.open == []


def test_a_silent_client_has_the_deadline_of_a_process_that_stops(
    accepting: Accepting, client: socket.socket
) -> None:
    accepting.connections.begin_shutdown(1.0, 2.0)

    [connection] = accepting.connections.by_descriptor.values()
    assert (connection.client, connection.deadline) == (client.getsockname(), 1.0)


def test_a_silent_client_is_closed_after_its_time(accepting: Accepting, client: socket.socket) -> None:
    # Its time may begin only now.
    accepting.loop.reap()
    assert accepting.open == [client.getsockname()]

    with patch("time.monotonic", return_value=time.monotonic() + FIRST_BYTE_SECONDS):
        accepting.loop.reap()
    assert client.recv(1) == b""
    assert accepting.open == []


def test_a_silent_client_is_closed_with_the_loop(accepting: Accepting, client: socket.socket) -> None:
    accepting.loop.close()

    assert client.recv(1) == b""
    assert accepting.open == []


def test_silent_clients_that_arrive_together_do_not_displace_the_others(
    make_loop: Callable[..., EventLoop], opened: ExitStack, tmp_path: Path
) -> None:
    # One of the three is the reserve.
    accepting = Accepting(make_loop, opened, socket.AF_UNIX, str(tmp_path / "listener"), limit=3)
    kept = accepting.connect(KEPT)
    accepting.run_until(lambda: is_readable(kept))
    assert kept.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")

    silent = [accepting.connect() for _ in range(10)]
    accepting.run_until(lambda: len(accepting.admitted) == 11)

    kept.sendall(KEPT)
    accepting.run_until(lambda: is_readable(kept))
    assert kept.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")
    assert [is_readable(client) for client in silent] == [True] * 9 + [False]
