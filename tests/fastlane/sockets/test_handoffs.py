"""The handoff queue when it is full, and the memory limit of the requests that wait for it."""

from __future__ import annotations

import errno
import os
import resource
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from fastlane.handoff.between_processes import Handoff, HandoffQueue, RequestReceiver
from fastlane.handoff.request_queue import RequestQueue
from fastlane.sockets.connections import MAX_BUFFERED
from fastlane.sockets.outgoing import BUSY, Incoming

MakeHandoff = Callable[..., tuple[Handoff, socket.socket]]
MEGABYTE = 1024 * 1024


@pytest.fixture
def make_handoff() -> Iterator[MakeHandoff]:
    with ExitStack() as opened:

        def make(data: bytes, address: str = "192.0.2.1") -> tuple[Handoff, socket.socket]:
            served, client = socket.socketpair()
            opened.callback(served.close)
            opened.enter_context(client)
            client.settimeout(10)
            return Handoff(served, (address, 40000), ("127.0.0.1", 8000), Incoming(data, b"", 0.0)), client

        yield make


@pytest.fixture
def queue() -> Iterator[HandoffQueue]:
    queue = HandoffQueue()
    with queue.write_end, queue.read_end:
        yield queue


def fill(queue: HandoffQueue, make_handoff: MakeHandoff) -> None:
    with suppress(BlockingIOError):
        while True:
            queue.put(make_handoff(b"x" * 1500)[0])


def empty(queue: HandoffQueue) -> None:
    while handoff := queue.take():
        handoff.sock.close()


def test_a_long_request_is_copied_once_however_often_the_queue_is_full(
    queue: HandoffQueue, make_handoff: MakeHandoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[int] = []
    create = os.memfd_create

    def memfd_create(*args: Any) -> int:
        created.append(create(*args))
        return created[-1]

    monkeypatch.setattr(os, "memfd_create", memfd_create)
    fill(queue, make_handoff)
    first, second = make_handoff(b"a" * MEGABYTE)[0], make_handoff(b"b" * MEGABYTE)[0]
    for handoff in (first, first, first, second, second):
        with pytest.raises(BlockingIOError):
            queue.put(handoff)
    assert len(created) == 2

    empty(queue)
    queue.put(second)
    handoff = queue.take()
    assert handoff is not None
    assert handoff.incoming.data == second.incoming.data
    handoff.sock.close()
    assert len(created) == 2
    for descriptor in created:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_requests_over_the_memory_limit_are_refused_to_the_client_that_holds_most(
    make_handoff: MakeHandoff,
) -> None:
    released: list[Handoff] = []
    with selectors.DefaultSelector() as poller:
        pending = RequestQueue(
            poller,
            None,
            has_idle_thread=lambda: False,
            submit=lambda handoff: None,
            on_released=released.append,
        )
        small = [make_handoff(b"x" * 1000, address) for address in ("192.0.2.1", "198.51.100.1")]
        large = b"x" * (8 * MEGABYTE)
        flood = [make_handoff(large, "203.0.113.1") for _ in range(MAX_BUFFERED // len(large) + 3)]
        for handoff, _ in [*small, *flood]:
            pending.add(handoff)

        assert [flood.index((handoff, client)) for handoff, client in flood if handoff in released] == [
            len(flood) - 4,
            len(flood) - 3,
            len(flood) - 2,
            len(flood) - 1,
        ]
        assert len(released) == 4
        assert flood[-1][1].recv(65_536) == BUSY


def test_one_large_request_displaces_as_many_small_ones_as_necessary(make_handoff: MakeHandoff) -> None:
    released: list[Handoff] = []
    with selectors.DefaultSelector() as poller:
        pending = RequestQueue(
            poller,
            None,
            has_idle_thread=lambda: False,
            submit=lambda handoff: None,
            on_released=released.append,
        )
        data = b"x" * MEGABYTE
        flood = [make_handoff(data, "203.0.113.1")[0] for _ in range(MAX_BUFFERED // MEGABYTE)]
        for handoff in flood:
            pending.add(handoff)
        assert released == []
        pending.add(make_handoff(data * 8)[0])

        assert released == flood[:-9:-1]


@contextmanager
def no_free_descriptor() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("size", [10, MEGABYTE])
def test_a_process_without_a_free_descriptor_loses_one_connection_and_continues(
    queue: HandoffQueue, make_handoff: MakeHandoff, size: int
) -> None:
    lost, client = make_handoff(b"x" * size)
    queue.put(lost)
    with no_free_descriptor(), pytest.raises(OSError, match="Too many open files") as raised:
        queue.take()
    assert raised.value.errno == errno.EMFILE
    assert client.recv(1) == b""

    queue.put(make_handoff(b"next")[0])
    handoff = queue.take()
    assert handoff is not None
    assert handoff.incoming.data == b"next"
    handoff.sock.close()
    assert queue.take() is None


def test_the_queue_tells_since_when_the_next_request_waits_and_opens_no_descriptor(
    queue: HandoffQueue, make_handoff: MakeHandoff
) -> None:
    assert queue.waiting_since() is None
    for since in (12.5, 99.0):
        handoff, _ = make_handoff(b"x")
        queue.put(handoff._replace(incoming=handoff.incoming._replace(since=since)))
    before = _open_descriptors()

    assert [queue.waiting_since(), queue.waiting_since()] == [12.5, 12.5]
    assert _open_descriptors() == before
    empty(queue)
    assert queue.waiting_since() is None


def test_a_worker_without_an_idle_thread_refuses_what_is_overdue_and_nothing_else(
    queue: HandoffQueue, make_handoff: MakeHandoff, settings: Settings
) -> None:
    settings.API_QUEUE_SECONDS = 600
    received: list[Handoff] = []
    clients, now = [], time.monotonic()
    with selectors.DefaultSelector() as poller:
        for waited in (601, 602, 0, 603):
            handoff, client = make_handoff(b"x")
            queue.put(handoff._replace(incoming=handoff.incoming._replace(since=now - waited)))
            client.setblocking(False)
            clients.append(client)
        receiver = RequestReceiver(
            poller,
            queue,
            has_capacity=lambda: False,
            on_received=received.append,
            on_out_of_descriptors=lambda: None,
        )
        receiver.expire()

        assert [client.recv(65_536) for client in clients[:2]] == [BUSY, BUSY]
        assert queue.waiting_since() == now
    assert received == []


def _open_descriptors() -> list[str]:
    return sorted(path.name for path in Path("/dev/fd").iterdir())
