"""The throughput of one drainer on one core, from the journal into every table."""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from pathlib import Path

from django.db import connection, transaction

from analytics.counting.pipeline import Drainer
from analytics.journal.records import Record, encode
from analytics.journal.writer import Journal
from bench.harness import results
from bench.load.plain_links import plain_links
from bench.load.traffic import LINKS, Traffic

CLICKS = 300_000


def run(clicks: int, rounds: int) -> None:
    traffic = Traffic(plain_links(LINKS))
    # The same garbage collector settings as manage.py drain_clicks, on one core that the database also uses.
    gc.freeze()
    gc.set_threshold(200_000)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{rounds} rounds of {clicks:,} clicks, after one to warm up")
    rates, shares = [], []
    for number in range(rounds + 1):
        records = list(traffic.records(clicks))
        copied = _copy_alone(records)
        drained, processor = _drain(records)
        if number:
            rates.append(clicks / drained)
            shares.append(copied / drained)
            print(
                f"  {rates[-1]:8,.0f} clicks/s, {processor / clicks * 1e6:5.1f} us of the drainer's processor time"
                f" per click; COPY of the records alone {clicks / copied:9,.0f}/s"
            )
    print(
        f"clicks/s: min {min(rates):,.0f}, median {statistics.median(rates):,.0f}, max {max(rates):,.0f};"
        f" of COPY alone: min {min(shares):.2f}, median {statistics.median(shares):.2f}, max {max(shares):.2f}"
    )
    results.record("clicks-drain", f"{results.spread(rates, ',.0f')} ({rounds} rounds of {clicks:,})")


def _drain(records: list[Record]) -> tuple[float, float]:
    """Elapsed seconds, and seconds of processor time of this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal = Journal(folder, "process")
        for record in records:
            journal.append(encode(record))
        drainer = Drainer(folder)
        started, processor, counted = time.perf_counter(), time.process_time(), 0
        while count := drainer.drain_batch():
            counted += count
        assert counted == len(records)
        return time.perf_counter() - started, time.process_time() - processor


def _copy_alone(records: list[Record]) -> float:
    """A lower bound in seconds: COPY without parsing, indexes or roll-ups, 5,000 rows per transaction."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_copy")
        cursor.execute(
            "CREATE TABLE bench_copy (time bigint, link bigint, kind int, flags int, address text, reason text,"
            " agent text, referrer text)"
        )
        started = time.perf_counter()
        for start in range(0, len(records), 5_000):
            with transaction.atomic(), cursor.copy("COPY bench_copy FROM STDIN") as copy:
                for record in records[start : start + 5_000]:
                    copy.write_row(record[:-1])
        return time.perf_counter() - started
