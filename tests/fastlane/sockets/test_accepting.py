"""Accepting connections, over real sockets: both loops count and know the same clients, and answer them in time."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from unittest.mock import patch

import pytest
import time_machine
from pytest_django.fixtures import Settings

from analytics.journal.records import decode
from analytics.journal.writer import Journal
from fastlane.fast.counts import Counts
from fastlane.sockets.event_loop import EventLoop
from testing.fastlane.journals import journal_sizes, records_since
from testing.service.connection import read_to_end
from tests.fastlane.sockets.accepting import CLOSING, KEPT, PER_ADDRESS, Accepting, is_readable

LIMITED = KEPT.replace(b"/plain01", b"/limited")
NOW = 1_900_000_000


def _answered(accepting: Accepting) -> socket.socket:
    client = accepting.connect(KEPT)
    accepting.run_until(lambda: is_readable(client))
    assert client.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")
    return client


def _with_a_new_client(accepting: Accepting, kept: socket.socket, sent: bytes, first: bytes) -> socket.socket:
    """Send a request on an open connection and one on a new one, which the next iteration finds together."""
    [connection] = accepting.connections.by_descriptor.values()
    kept.sendall(sent)
    client = accepting.connect(first)
    assert is_readable(connection.sock, 10_000)
    assert is_readable(accepting.listener, 10_000)
    return client


def test_a_connection_that_is_answered_and_closed_is_counted_until_then(accepting: Accepting) -> None:
    clients = [accepting.connect(CLOSING) for _ in range(PER_ADDRESS)]
    accepting.run_until(lambda: len(accepting.admitted) == PER_ADDRESS and not accepting.open)

    for client in clients:
        assert read_to_end(client).startswith(b"HTTP/1.1 302 Found\r\n")
    assert accepting.admitted == [client.getsockname() for client in clients]
    assert accepting.connections.by_descriptor == {}


def test_an_address_at_its_limit_is_refused_until_a_connection_closes(accepting: Accepting) -> None:
    first, second = accepting.connect(), accepting.connect(KEPT)
    accepting.run_until(lambda: len(accepting.open) == PER_ADDRESS)
    refused = accepting.connect()
    accepting.run_until(lambda: is_readable(refused))
    assert refused.recv(1) == b""

    first.close()
    accepting.run_until(lambda: accepting.open == [second.getsockname()])
    third = accepting.connect(CLOSING)
    accepting.run_until(lambda: len(accepting.admitted) == PER_ADDRESS + 1 and len(accepting.open) == 1)

    assert read_to_end(third).startswith(b"HTTP/1.1 302 Found\r\n")
    assert second.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")


def test_a_connection_that_is_kept_open_answers_its_next_request(accepting: Accepting) -> None:
    client = accepting.connect(KEPT)
    for sent in (b"", KEPT, CLOSING):
        client.sendall(sent)
        accepting.run_until(lambda: is_readable(client))
        assert client.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")

    assert client.recv(1) == b""
    assert accepting.open == []


def test_a_client_that_has_gone_is_not_counted(accepting: Accepting) -> None:
    accepting.connect().close()
    accepting.run_until(lambda: len(accepting.admitted) == 1 and not accepting.open)

    assert accepting.connections.by_descriptor == {}


def test_a_client_that_sends_more_after_its_last_request_gets_the_answer(accepting: Accepting) -> None:
    """It arrives after the loop has read the request, and before it closes the connection."""
    client, append_frames = accepting.connect(CLOSING), Journal.append_frames

    def append_meanwhile(journal: Journal, frames: bytes) -> None:
        client.sendall(b"\r\n")
        append_frames(journal, frames)

    with patch.object(Journal, "append_frames", append_meanwhile):
        accepting.run_until(lambda: is_readable(client))

    assert client.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")


def test_the_internal_listener_redirects_nobody(
    make_loop: Callable[..., EventLoop], opened: ExitStack, tmp_path: Path, settings: Settings
) -> None:
    settings.INTERNAL_LISTEN = str(tmp_path / "internal")
    accepting = Accepting(make_loop, opened, socket.AF_UNIX, settings.INTERNAL_LISTEN)
    accepting.connect(KEPT)
    accepting.run_until(lambda: bool(accepting.deferred))

    assert accepting.deferred == [KEPT]


def test_a_new_client_is_answered_at_the_time_of_its_own_batch(accepting: Accepting) -> None:
    kept = _answered(accepting)
    before = journal_sizes()
    with time_machine.travel(NOW, tick=False) as clock:
        accepting.deferring = lambda: clock.shift(60)
        client = _with_a_new_client(accepting, kept, LIMITED, CLOSING)
        accepting.run_until(lambda: is_readable(client))

    [payload] = records_since(before)["127.0.0.1"]
    assert decode(payload).time == (NOW + 60) * 1_000_000


def test_accepting_takes_no_time_of_redirects(accepting: Accepting) -> None:
    """Not of their duration in the metrics, and not of the keep-alive of the new connection."""
    kept = _answered(accepting)
    now = 1_000.0

    def admit() -> None:
        nonlocal now
        now += 1.0

    accepting.admitting = admit
    with (
        patch("time.monotonic", side_effect=lambda: now),
        patch.object(Counts, "add", autospec=True) as counted,
    ):
        client = _with_a_new_client(accepting, kept, KEPT, KEPT)
        accepting.run_until(lambda: is_readable(client))
        deadlines = [connection.deadline for connection in accepting.connections.by_descriptor.values()]

    assert [call.args[1:] for call in counted.call_args_list] == [([302], 0.0), ([302], 0.0)]
    assert deadlines == [1_075.0, 1_076.0]


def test_a_new_client_is_served_before_others_have_the_answers_to_all_that_they_sent_at_once(
    accepting: Accepting,
) -> None:
    waiting = [accepting.add(f"192.0.2.{number}", KEPT * 300) for number in range(100)]
    assert [_answers(client) for client in waiting] == [64] * 100
    newcomer = accepting.connect(KEPT)
    assert is_readable(accepting.listener, 10_000)

    # One iteration continues with 64 of them, in the order in which they wait, and accepts the new client.
    accepting.loop.run_once()
    assert [_answers(client) for client in waiting] == [64] * 64 + [0] * 36
    accepting.loop.run_once()
    assert newcomer.recv(65_536).startswith(b"HTTP/1.1 302 Found\r\n")
    assert [_answers(client) for client in waiting] == [64] * 28 + [0] * 36 + [64] * 36


def _answers(client: socket.socket) -> int:
    """The answers that have arrived since the last call."""
    with suppress(BlockingIOError):
        return client.recv(1 << 20).count(b"HTTP/1.1 302 Found\r\n")
    return 0


def _require_ipv6() -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError as error:
        pytest.skip(f"NOT TESTED: this host has no IPv6 ({error}).")


@pytest.mark.parametrize("name", ["", "abstract", "path"])
def test_clients_of_a_unix_socket_have_the_names_that_python_gives_them(
    make_loop: Callable[..., EventLoop], opened: ExitStack, tmp_path: Path, name: str
) -> None:
    accepting = Accepting(make_loop, opened, socket.AF_UNIX, str(tmp_path / "listener"))
    own = {"": "", "abstract": b"\0" + str(tmp_path).encode(), "path": str(tmp_path / "\udce9")}[name]
    client = accepting.connect(KEPT, own)
    accepting.run_until(lambda: bool(accepting.admitted))

    assert accepting.admitted == [own]
    accepting.run_until(lambda: is_readable(client))
    [connection] = accepting.connections.by_descriptor.values()
    assert (connection.client, connection.address, connection.server) == (
        own,
        "",
        str(tmp_path / "listener"),
    )


def test_clients_have_the_ipv6_addresses_that_python_gives_them(
    make_loop: Callable[..., EventLoop], opened: ExitStack
) -> None:
    _require_ipv6()
    accepting = Accepting(make_loop, opened, socket.AF_INET6, ("::", 0))
    client = opened.enter_context(
        socket.create_connection(("127.0.0.1", accepting.listener.getsockname()[1]))
    )
    accepting.run_until(lambda: bool(accepting.admitted))
    other = opened.enter_context(socket.create_connection(("::1", accepting.listener.getsockname()[1])))
    accepting.run_until(lambda: len(accepting.admitted) == PER_ADDRESS)

    assert accepting.admitted == [("::ffff:127.0.0.1", client.getsockname()[1], 0, 0), other.getsockname()]


@pytest.mark.parametrize(
    ("family", "listens", "connects", "recorded"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1", "::1"),
        # IPv4 on an IPv6 socket.
        (socket.AF_INET6, "::", "127.0.0.1", "127.0.0.1"),
    ],
    ids=["IPv4", "IPv6", "IPv4-mapped"],
)
def test_the_record_of_a_new_clients_visit_has_its_address(
    make_loop: Callable[..., EventLoop],
    opened: ExitStack,
    family: int,
    listens: str,
    connects: str,
    recorded: str,
) -> None:
    if family == socket.AF_INET6:
        _require_ipv6()
    accepting = Accepting(make_loop, opened, family, (listens, 0))
    before = journal_sizes()
    client = opened.enter_context(socket.create_connection((connects, accepting.listener.getsockname()[1])))
    client.sendall(CLOSING)
    accepting.run_until(lambda: bool(accepting.admitted) and not accepting.open)

    assert {address: len(records) for address, records in records_since(before).items()} == {recorded: 1}
