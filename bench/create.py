"""The rate of creating links, against the usual way of writing it, in interleaved rounds."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.db import connection

from accounts.models import User
from accounts.services import rotate_api_key
from bench import cpu
from bench.client import created_per_second
from bench.stack import PROJECT_DIR

ROUNDS = 7
SECONDS = 4.0
CLIENTS = 8
WANTED = 1.5
SETTINGS = {"service": "shortener_project.settings", "baseline": "bench.baseline_settings"}

_numbers = itertools.count(1_000_000, 1_000_000)


class Measured(NamedTuple):
    rate: float
    cpu_ms: float


Measure = Callable[[], Measured]


def run(owner: User) -> None:
    key = rotate_api_key(user=owner)
    with _in_process(SETTINGS["service"], key) as ours, _in_process(SETTINGS["baseline"], key) as theirs:
        _compare("in process, one thread", ours, theirs)
    with _server(SETTINGS["service"], key) as ours, _server(SETTINGS["baseline"], key) as theirs:
        _compare(f"gunicorn, 2 workers x 4 threads, {CLIENTS} clients", ours, theirs)
    mine = "(SELECT id FROM links_link WHERE owner_id = %s)"
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(f"DELETE FROM links_code WHERE link_id IN {mine}", [owner.pk])
        cursor.execute(f"DELETE FROM links_clickcounter WHERE link_id IN {mine}", [owner.pk])
        cursor.execute("DELETE FROM links_link WHERE owner_id = %s", [owner.pk])
        cursor.execute("VACUUM (ANALYZE)")


def _compare(name: str, ours: Measure, theirs: Measure) -> None:
    ours(), theirs()  # Warm-up.
    # Whoever goes first in a round goes second in the next.
    rounds = [(ours(), theirs()) if number % 2 else (theirs(), ours())[::-1] for number in range(ROUNDS)]
    print(f"create, {name} (min/med/max of {ROUNDS} rounds):")
    for side, figures in zip(SETTINGS, zip(*rounds, strict=True), strict=True):
        rates, costs = _spread([each.rate for each in figures]), _spread([each.cpu_ms for each in figures])
        print("  {:<9} {:6.0f} {:6.0f} {:6.0f} links/s".format(side, *rates), end="")
        print("   {:6.2f} {:6.2f} {:6.2f} ms of processor time per link".format(*costs))
    ratios = _spread([mine.rate / other.rate for mine, other in rounds])
    costs = _spread([other.cpu_ms / mine.cpu_ms for mine, other in rounds])
    print("  ratio     {:6.2f} {:6.2f} {:6.2f}           {:6.2f} {:6.2f} {:6.2f}".format(*ratios, *costs))
    print(f"  at least {WANTED} times the rate: {'yes' if ratios[1] >= WANTED else 'NO'}", flush=True)


def _spread(values: list[float]) -> tuple[float, float, float]:
    return min(values), statistics.median(values), max(values)


def _measured(process: int, rate: Callable[[], float]) -> Measured:
    before, started = cpu.seconds(process), time.perf_counter()
    found = rate()
    links = found * (time.perf_counter() - started)
    return Measured(found, (cpu.seconds(process) - before) / links * 1000)


@contextmanager
def _in_process(settings: str, key: str) -> Iterator[Measure]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.creator"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": settings, "BENCH_KEY": key},
    )
    assert process.stdin
    assert process.stdout
    asks, answers = process.stdin, process.stdout

    def rate() -> float:
        asks.write(f"{SECONDS}\n")
        asks.flush()
        return float(answers.readline())

    try:
        yield lambda: _measured(process.pid, rate)
    finally:
        asks.close()
        process.wait(timeout=30)


@contextmanager
def _server(settings: str, key: str) -> Iterator[Measure]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "gunicorn", "--config", "shortener_project/gunicorn_conf.py"),
            *("--workers", "2", "--threads", "4", "--bind", f"127.0.0.1:{port}", "shortener_project.wsgi"),
        ],
        cwd=PROJECT_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": settings},
    )
    try:
        _wait_for(port)
        # So many that each worker gets some, and has loaded everything before it is measured.
        created_per_second(port, key, 4 * CLIENTS, SECONDS, next(_numbers))
        yield lambda: _measured(
            process.pid, lambda: created_per_second(port, key, CLIENTS, SECONDS, next(_numbers))
        )
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
