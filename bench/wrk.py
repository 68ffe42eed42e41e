"""Load by wrk: one thread, requests as browsers send them, as fast as they are answered or at a pace."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.agents import agent

SCRIPT = Path(__file__).with_name("wrk.lua")
AGENTS, REFERRERS = 50, 40
CONNECTIONS = 64
# Of a paced load. Many, so that a request that waits holds few others up.
PACED_CONNECTIONS = 256
START_SECONDS = 10
ALL_CORES = sorted(os.sched_getaffinity(0))


class Answered(NamedTuple):
    """Milliseconds. ``errors``: of connections, and answers of 400 and above.

    What was asked, but not answered when wrk stopped, is none of them: at most one request of each connection.
    """

    requests: int
    seconds: float
    p50: float
    p99: float
    errors: int
    connections: int

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


class Visits:
    """Where visitors go: (path, host) each, at random, from everywhere with everything."""

    def __init__(self, folder: Path, visits: Iterable[tuple[str, str]]) -> None:
        folder.mkdir()
        self.folder = folder
        for name, lines in (
            ("visits", (f"{path} {host}" for path, host in visits)),
            ("agents", (agent(number) for number in range(AGENTS))),
            ("referrers", (f"https://www.site{number}.example/page/{number}" for number in range(REFERRERS))),
        ):
            (folder / name).write_text("".join(f"{line}\n" for line in lines))


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
    with _wrk(port, visits, seconds=seconds, pace=pace, close=close, cores=cores) as process:
        return _answered(process, pace, seconds)


@contextmanager
def loaded(port: int, visits: Visits, *, pace: float, most_seconds: int) -> Iterator[list[Answered]]:
    """A paced load for as long as the block takes; what came of it is in the list afterwards."""
    answered: list[Answered] = []
    with _wrk(port, visits, seconds=most_seconds, pace=pace, close=False, cores=ALL_CORES) as process:
        yield answered
        process.send_signal(signal.SIGINT)
        answered.append(_answered(process, pace, 0))


@contextmanager
def _wrk(
    port: int, visits: Visits, *, seconds: int, pace: float, close: bool, cores: Iterable[int]
) -> Iterator[subprocess.Popen[str]]:
    connections = PACED_CONNECTIONS if pace else CONNECTIONS
    think = 1000 * connections / pace if pace else 0
    process = subprocess.Popen(
        [
            *("wrk", "--threads", "1", "--connections", str(connections), "--timeout", "10s"),
            *("--duration", str(seconds), "--script", str(SCRIPT)),
            *(f"http://127.0.0.1:{port}/", "--", str(visits.folder), str(random.randrange(2**31))),
            *("close" if close else "keep-alive", str(think)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, set(cores)),  # noqa: PLW1509 # no thread holds a lock meanwhile
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _answered(process: subprocess.Popen[str], pace: float, seconds: int) -> Answered:
    output, _ = process.communicate(timeout=seconds + START_SECONDS)
    figures = [line.split()[1:] for line in output.splitlines() if line.startswith("figures ")]
    if not figures:
        raise RuntimeError(f"wrk said: {output}")
    requests, duration, p50, p99, statuses, sockets = map(int, figures[0])
    connections = PACED_CONNECTIONS if pace else CONNECTIONS
    return Answered(requests, duration / 1e6, p50 / 1000, p99 / 1000, statuses + sockets, connections)
