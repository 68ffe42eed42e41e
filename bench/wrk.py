"""Load by wrk: one thread, requests as browsers send them, as fast as they are answered or at a pace."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.visits import Visits

SCRIPTS = Path(__file__).parent
CONNECTIONS = 64
API_CLIENTS = 8
# They would be elsewhere, and take no processor time of this machine.
CLIENTS_NICENESS = 10
# Of a paced load: so many that each thinks for about this long, and a request that waits holds few others up.
THINK_SECONDS = 0.01
PACED_CONNECTIONS = range(16, 257)
# Generous: the machine may be busy with other things.
START_SECONDS = 60
# Of what is stopped when its time has come.
MOST_SECONDS = 600
ALL_CORES = sorted(os.sched_getaffinity(0))


class Answered(NamedTuple):
    """Milliseconds. ``refused``: answers of 400 and above; ``broken``: connections, or no answer for too long.

    What was asked, but not answered when wrk stopped, is none of them: at most one request of each connection.
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
    cores: Iterable[int] = ALL_CORES,
) -> Answered:
    """``pace``: requests a second in all; 0 is without a pause."""
    with _visiting(port, visits, seconds=seconds, pace=pace, close=close, cores=cores) as asking:
        return asking.answered(seconds)


@contextmanager
def loaded(port: int, visits: Visits, *, pace: float) -> Iterator[list[Answered]]:
    """A paced load for as long as the block takes; what came of it is in the list afterwards."""
    with _visiting(port, visits, seconds=MOST_SECONDS, pace=pace) as asking:
        found: list[Answered] = []
        yield found
        found.append(asking.stopped())


@contextmanager
def creating(port: int, api_key: str, found: list[Answered]) -> Iterator[None]:
    """Inside, clients of the API create links, each as soon as it has been answered; what came of it is added."""
    arguments = [api_key, str(random.randrange(2**31))]
    clients = _wrk(
        port,
        "create.lua",
        arguments,
        seconds=MOST_SECONDS,
        connections=API_CLIENTS,
        niceness=CLIENTS_NICENESS,
    )
    with clients as asking:
        yield
        found.append(asking.stopped())


def _visiting(
    port: int,
    visits: Visits,
    *,
    seconds: int,
    pace: float,
    close: bool = False,
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
    ]
    return _wrk(port, "wrk.lua", arguments, seconds=seconds, connections=connections, cores=cores)


class _Wrk(NamedTuple):
    process: subprocess.Popen[str]
    connections: int

    def stopped(self) -> Answered:
        self.process.send_signal(signal.SIGINT)
        return self.answered(0)

    def answered(self, seconds: int) -> Answered:
        output, _ = self.process.communicate(timeout=seconds + START_SECONDS)
        figures = [line.split()[1:] for line in output.splitlines() if line.startswith("figures ")]
        if not figures:
            raise RuntimeError(f"wrk said: {output}")
        requests, duration, p50, p99, refused, broken = map(int, figures[0])
        return Answered(requests, duration / 1e6, p50 / 1000, p99 / 1000, refused, broken, self.connections)


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
        preexec_fn=prepare,  # noqa: PLW1509 # no thread holds a lock meanwhile
    )
    try:
        yield _Wrk(process, connections)
    finally:
        process.kill()
        process.wait()
