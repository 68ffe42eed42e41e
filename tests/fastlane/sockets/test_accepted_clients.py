"""What the event loop knows about the clients that it accepts: names, addresses and the records of their visits."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from fastlane.sockets.event_loop import EventLoop
from testing.fastlane.journals import journal_sizes, records_since
from tests.fastlane.sockets.accepting import CLOSING, KEPT, PER_ADDRESS, Accepting, is_readable


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
