"""A worker without a free file descriptor: the tests lower its limit to the number that it has open."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import count

import pytest

from testing.service.processes import PROC
from testing.service.running import Connection, Service, eventually

pytestmark = pytest.mark.slow

IDLE = 10
MORE = 25
# Less than the 75 seconds after which the service closes idle connections in any case.
SECONDS = 60
# Samples of the process state. A process that spins is running or runnable in each.
SAMPLES = 60


@contextmanager
def no_free_descriptor(worker: int) -> Iterator[None]:
    used = {int(name) for name in os.listdir(PROC / str(worker) / "fd")}  # noqa: PTH208 # the names are numbers
    lowest_free = next(number for number in count() if number not in used)
    soft, hard = resource.prlimit(worker, resource.RLIMIT_NOFILE)
    resource.prlimit(worker, resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.prlimit(worker, resource.RLIMIT_NOFILE, (soft, hard))


def sleeping_samples(worker: int) -> int:
    states = []
    for _ in range(SAMPLES):
        states.append((PROC / str(worker) / "stat").read_text().rpartition(")")[2].split()[0])
        time.sleep(0.05)
    return states.count("S")


@pytest.fixture
def worker(service: Service) -> int:
    """The worker that accepts connections."""
    (worker,) = eventually(service.accepting)
    return worker


@pytest.fixture
def path(service: Service, api_key: str) -> str:
    path = f"/{service.create_link(api_key)['shortCode']}"
    assert service.call("GET", path).status == 302
    return path


def test_idle_connections_are_closed_to_serve_new_clients(service: Service, worker: int, path: str) -> None:
    with ExitStack() as opened:
        for _ in range(IDLE):
            assert opened.enter_context(closing(Connection(service.port))).call("GET", path).status == 302
        with no_free_descriptor(worker):
            new_clients = [opened.enter_context(closing(Connection(service.port))) for _ in range(MORE)]
            for client in new_clients:
                client.timeout = SECONDS
            assert [client.call("GET", path).status for client in new_clients] == [302] * MORE
    assert service.accepting() == [worker]


def test_worker_with_no_connection_to_close_sleeps_until_a_descriptor_is_free(
    service: Service, worker: int, path: str
) -> None:
    with closing(Connection(service.port)) as waiting:
        with no_free_descriptor(worker):
            waiting.send_request("GET", path)
            assert sleeping_samples(worker) > SAMPLES / 2
        assert waiting.receive().status == 302
    assert service.accepting() == [worker]
