"""TCP ports of the loopback interface."""

from __future__ import annotations

import os
import random
import socket
from contextlib import suppress
from itertools import cycle

# Workers of pytest-xdist draw from disjoint sets: the port of a service that is only starting, or stopped, looks free.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
# Below the ephemeral range, so that no client connection takes a port before the service does.
_PORTS = range(10_000 + _WORKER, 30_000, _WORKERS)
_candidates = cycle(random.sample(_PORTS, len(_PORTS)))


def free_port() -> int:
    """A port that this process has not returned before."""
    while True:
        port = next(_candidates)
        with socket.socket() as candidate, suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
