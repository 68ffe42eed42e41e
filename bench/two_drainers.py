"""python -m bench.two_drainers [--clicks N] [--links N] [--rounds N]: one drainer against two, on links of one owner.

Every round counts the same number of clicks, first with one drainer, then with two. While they count, it samples the
wait events of their database sessions. The shares show what limits two drainers: locks, or the processor.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import django
from django.core.management import call_command
from django.db import Error, connection

from analytics.visitors.useragent import parse_agent
from bench.harness import results
from bench.harness.processes import cpu_seconds
from bench.harness.stack import database
from common.database import is_conflict

SAMPLE_SECONDS = 0.01
# What a session was doing when it was sampled, by its wait event type.
WAITS = {"Lock": "waits for a row lock", "Client": "drainer computes", None: "PostgreSQL computes"}
OTHER = "other waits"


class Run(NamedTuple):
    """``processor``: seconds of the drainers and of their database sessions."""

    seconds: float
    processor: float
    samples: Counter[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=100_000, help="clicks of each run")
    parser.add_argument("--links", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with database("drainers"):
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()

        from bench.load.plain_links import plain_links
        from bench.load.traffic import Traffic

        call_command("migrate", verbosity=0)
        traffic = Traffic(plain_links(options.links))
        # Running drainers have parsed the usual agents before; the forked ones inherit this cache.
        for record in traffic.records(options.clicks // 4):
            parse_agent(record.user_agent)
        _measure(traffic, options.clicks // 4, 1)
        runs: dict[int, list[Run]] = {1: [], 2: []}
        for _ in range(options.rounds):
            for number, measured in runs.items():
                measured.append(_measure(traffic, options.clicks, number))
                _print(measured[-1], options.clicks, number)
        ratios = [single.seconds / double.seconds for single, double in zip(runs[1], runs[2], strict=True)]
        results.record(
            "clicks-two-drainers",
            f"{results.spread(ratios, '.2f')} ({options.rounds} rounds of {options.clicks:,})",
        )
        print(
            f"two drainers against one, {options.rounds} rounds of {options.clicks:,} clicks:"
            f" min {min(ratios):.2f}, median {statistics.median(ratios):.2f}, max {max(ratios):.2f}"
        )


def _print(run: Run, clicks: int, drainers: int) -> None:
    total = sum(run.samples.values())
    shares = ", ".join(f"{name} {run.samples[name] / total:.0%}" for name in [*WAITS.values(), OTHER])
    print(
        f"  {drainers} drainers: {clicks / run.seconds:8,.0f} clicks/s, {run.processor / clicks * 1e6:4.0f} us of"
        f" processor time per click on {run.processor / run.seconds:.2f} cores; {shares}",
        flush=True,
    )


def _measure(traffic: Any, clicks: int, number: int) -> Run:
    from bench.load.backlog import write_backlog

    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        write_backlog(Path(name), traffic, clicks)
        drainers = [stack.enter_context(_drainer(Path(name))) for _ in range(number)]
        sessions = [pipe.recv() for pipe in drainers]
        before = cpu_seconds(sum(sessions, ()))
        started = time.perf_counter()
        for pipe in drainers:
            pipe.send("start")
        samples = _sample([backend for _, backend in sessions], drainers)
        seconds = time.perf_counter() - started
        processor = cpu_seconds(sum(sessions, ())) - before
        counted = sum(pipe.recv() for pipe in drainers)
        assert counted == clicks, counted
        return Run(seconds, processor, samples)


@contextmanager
def _drainer(folder: Path) -> Iterator[Connection]:
    """A process that counts the folder's clicks. Its pipe first sends its process id and that of its session."""
    parent, child = multiprocessing.Pipe()
    # A forked process has imported everything already: its start would take longer than counting some clicks.
    process = multiprocessing.get_context("fork").Process(target=_drain, args=(folder, child), daemon=True)

    connection.close()
    process.start()
    child.close()
    try:
        yield parent
    finally:
        process.terminate()
        process.join()


def _drain(folder: Path, pipe: Connection) -> None:
    from analytics.counting.pipeline import Drainer

    # As manage.py drain_clicks does.
    gc.freeze()
    gc.set_threshold(1_000_000)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [(backend,)] = cursor.fetchall()
    pipe.send((os.getpid(), backend))
    pipe.recv()
    drainer, counted = Drainer(folder), 0
    while True:
        try:
            while count := drainer.drain_batch():
                counted += count
        except Error as error:
            if not is_conflict(error):
                raise
            print(error)
            continue
        break
    pipe.send(counted)
    # The parent reads the processor time of this process and its session, then terminates it.
    signal.pause()


def _sample(backends: list[int], drainers: list[Connection]) -> Counter[str]:
    """Sample the sessions until every drainer has finished."""
    samples: Counter[str] = Counter()
    with connection.cursor() as cursor:
        while not all(pipe.poll(0) for pipe in drainers):
            cursor.execute("SELECT wait_event_type FROM pg_stat_activity WHERE pid = ANY(%s)", [backends])
            samples.update(WAITS.get(kind, OTHER) for (kind,) in cursor.fetchall())
            time.sleep(SAMPLE_SECONDS)
    return samples


if __name__ == "__main__":
    main()
