"""Load from wrk: one thread, browser-like requests, as fast as responses arrive or at a given rate."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.load.visits import Visits

SCRIPTS = Path(__file__).parent
CONNECTIONS = 64
API_CLIENTS = 8
# Real clients run on other machines and use none of this machine's processor time.
CLIENTS_NICENESS = 10
# A paced load uses enough connections that each pauses for about this long, so a slow response delays few others.
THINK_SECONDS = 0.01
PACED_CONNECTIONS = range(16, 257)
# Generous, because the machine may be busy.
START_SECONDS = 60
# Upper limit for a load that is stopped from outside.
MAX_SECONDS = 600
ALL_CORES = sorted(os.sched_getaffinity(0))


class LoadResult(NamedTuple):
    """The result of a load. ``p50`` and ``p99`` are in milliseconds.

    ``refused`` counts responses with status 400 and above; ``broken`` counts connection errors and timeouts. Requests
    in flight when wrk stops, at most one for each connection, are not included.
    """

    requests: int
    seconds: float
    p50: float
    p99: float
    refused: int
    broken: int
    connections: int

    @property
    def errors(self) -> int:
        return self.refused + self.broken

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def load(
    port: int,
    visits: Visits,
    *,
    seconds: int,
    pace: float = 0.0,
    close: bool = False,
    depth: int = 1,
    cores: Iterable[int] = ALL_CORES,
) -> LoadResult:
    """``pace`` is the total number of requests per second; 0 means without pauses. ``depth``: the number of requests
    that a connection sends at once.
    """
    with _visiting(
        port, visits, seconds=seconds, pace=pace, close=close, depth=depth, cores=cores
    ) as running:
        return running.result(seconds)


@contextmanager
def loaded(port: int, visits: Visits, *, pace: float) -> Iterator[list[LoadResult]]:
    """Run a paced load for the duration of the block; the list contains its result afterwards."""
    with _visiting(port, visits, seconds=MAX_SECONDS, pace=pace) as running:
        results: list[LoadResult] = []
        yield results
        results.append(running.stopped())


@contextmanager
def creating(port: int, api_key: str, results: list[LoadResult]) -> Iterator[None]:
    """Run API clients that create links as fast as responses arrive; append their result to ``results``."""
    arguments = [api_key, str(random.randrange(2**31))]
    clients = _wrk(
        port,
        "create.lua",
        arguments,
        seconds=MAX_SECONDS,
        connections=API_CLIENTS,
        niceness=CLIENTS_NICENESS,
    )
    with clients as running:
        yield
        results.append(running.stopped())


def call_api(port: int, arguments: list[str], *, seconds: int) -> LoadResult:
    """Run API clients with requests of one kind. ``arguments`` are those of `api.lua`."""
    with _wrk(port, "api.lua", arguments, seconds=seconds, connections=API_CLIENTS) as running:
        return running.result(seconds)


def _visiting(
    port: int,
    visits: Visits,
    *,
    seconds: int,
    pace: float,
    close: bool = False,
    depth: int = 1,
    cores: Iterable[int] = ALL_CORES,
) -> AbstractContextManager[_Wrk]:
    paced = min(max(PACED_CONNECTIONS.start, int(pace * THINK_SECONDS)), PACED_CONNECTIONS.stop - 1)
    connections = paced if pace else CONNECTIONS
    think = 1000 * connections / pace if pace else 0
    arguments = [
        str(visits.folder),
        str(random.randrange(2**31)),
        "close" if close else "keep-alive",
        str(think),
        str(depth),
        "zipf" if visits.by_rank else "uniform",
    ]
    return _wrk(port, "wrk.lua", arguments, seconds=seconds, connections=connections, cores=cores)


class _Wrk(NamedTuple):
    process: subprocess.Popen[str]
    connections: int

    def stopped(self) -> LoadResult:
        self.process.send_signal(signal.SIGINT)
        return self.result(0)

    def result(self, seconds: int) -> LoadResult:
        output, _ = self.process.communicate(timeout=seconds + START_SECONDS)
        figures = [line.split()[1:] for line in output.splitlines() if line.startswith("figures ")]
        if not figures:
            raise RuntimeError(f"wrk printed no figures: {output}")
        requests, duration, p50, p99, refused, broken = map(int, figures[0])
        return LoadResult(requests, duration / 1e6, p50 / 1000, p99 / 1000, refused, broken, self.connections)


@contextmanager
def _wrk(
    port: int,
    script: str,
    arguments: list[str],
    *,
    seconds: int,
    connections: int,
    cores: Iterable[int] = ALL_CORES,
    niceness: int = 0,
) -> Iterator[_Wrk]:
    def prepare() -> None:
        os.sched_setaffinity(0, set(cores))
        os.nice(niceness)

    process = subprocess.Popen(
        [
            *("wrk", "--threads", "1", "--connections", str(connections), "--timeout", "10s"),
            *("--duration", str(seconds), "--script", str(SCRIPTS / script)),
            *(f"http://127.0.0.1:{port}/", "--", *arguments),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=prepare,  # noqa: PLW1509 # no thread holds a lock at this point
    )
    try:
        yield _Wrk(process, connections)
    finally:
        process.kill()
        process.wait()
