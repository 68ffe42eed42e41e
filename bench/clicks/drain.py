"""The cost of counting a click with one drainer on one core: from the journal into every table."""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from django.db import connection

from analytics.counting.pipeline import Drainer
from bench.harness import results
from bench.harness.cpu import process_seconds
from bench.load.backlog import write_backlog
from bench.load.plain_links import plain_links
from bench.load.traffic import LINKS, Traffic
from common.database import execute
from events.retention import ensure_event_partitions

CLICKS = 300_000
MANY_LINKS = 200_000


class Cost(NamedTuple):
    """Per click: microseconds of elapsed time and of processor time, and bytes of PostgreSQL's log."""

    elapsed: float
    drainer: float
    postgresql: float
    wal: float


def run(clicks: int, rounds: int) -> None:
    """Count backlogs of so many clicks, after one to warm up."""
    # The same garbage collector settings as manage.py drain_clicks, on one core that the database also uses.
    gc.freeze()
    gc.set_threshold(1_000_000)
    ensure_event_partitions()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    many = plain_links(MANY_LINKS)
    for key, name, traffic in (
        ("clicks-drain", f"{LINKS:,} links by Zipf", Traffic(many[:LINKS])),
        ("clicks-drain-random", f"{MANY_LINKS:,} links at random", Traffic(many, uniform=True)),
    ):
        print(f"{name}: {rounds} rounds of {clicks:,} clicks, after one to warm up")
        quiet: list[Cost] = []
        heard: list[Cost] = []
        for _ in range(rounds + 1):
            quiet.append(drain(traffic, clicks))
            with _listening():
                heard.append(drain(traffic, clicks))
        for suffix, costs in (("", quiet[1:]), ("-events", heard[1:])):
            parts = Cost(*map(statistics.median, zip(*costs, strict=True)))
            figure = (
                f"{results.spread([1e6 / cost.elapsed for cost in costs], ',.0f')} clicks/s; processor time per click:"
                f" drainer {parts.drainer:.1f} us, PostgreSQL {parts.postgresql:.1f} us; WAL {parts.wal:.0f} bytes"
            )
            print(f"  {figure}", flush=True)
            results.record(key + suffix, f"{figure} ({rounds} rounds of {clicks:,})")


@contextmanager
def _listening() -> Iterator[None]:
    """Every workspace listens to clicks: each click has an event."""
    execute(
        "INSERT INTO events_listener (workspace_id, feed_types) SELECT id, '{link.clicked}' FROM accounts_workspace"
    )
    yield
    execute("DELETE FROM events_listener")
    execute("TRUNCATE events_event")


def drain(traffic: Traffic, clicks: int) -> Cost:
    """What it costs to count so many clicks, which are in the journal at the beginning."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_backlog(folder, traffic, clicks)
        drainer = Drainer(folder)
        before, counted = _used(), 0
        while count := drainer.drain_batch():
            counted += count
        assert counted == clicks
        cost = Cost(*((now - then) / clicks for now, then in zip(_used(), before, strict=True)))
        print(
            f"  {1e6 / cost.elapsed:8,.0f} clicks/s; processor time: drainer {cost.drainer:5.1f} us,"
            f" PostgreSQL {cost.postgresql:5.1f} us; WAL {cost.wal:5.0f} bytes",
            flush=True,
        )
        return cost


def _used() -> Cost:
    """Since this process began. Of PostgreSQL, only the process of this connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), pg_current_wal_insert_lsn() - '0/0'")
        [(backend, wal)] = cursor.fetchall()
    return Cost(
        time.perf_counter() * 1e6, time.process_time() * 1e6, process_seconds(backend) * 1e6, float(wal)
    )
