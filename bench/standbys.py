"""python -m bench.standbys [--clicks N] [--rounds N] [--seconds S]: what two standbys cost the drainer and the API.

All servers are on this machine, so the standbys take processor time from the primary, but no network delays them.
Commits wait for the disk of the primary and, in the last mode, for that of one standby.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import signal
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import django
import psycopg
from django.core.management import call_command
from django.db import connection

from bench.api.sides import service_side
from bench.harness import results
from bench.harness.processes import tree_seconds
from bench.harness.stack import PROJECT_DIR, point_at
from bench.harness.tools import require
from bench.load import wrk
from local_postgres import EmbeddedPostgres
from testing.polling import eventually
from testing.service.postgresql.standbys import primary_and_standbys

ALONE, QUORUM = "none", "commits wait for one"
# The value of synchronous_standby_names for each mode.
MODES = {ALONE: "", "asynchronous": "", QUORUM: "ANY 1 (*)"}
LINKS = 10_000
COMMITS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=2, help="of creating links")
    options = parser.parse_args()
    require("wrk")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        # A stopped standby finds what it has missed.
        primary_and_standbys(2, wal_keep_size="8GB") as (primary, *standbys),
        tempfile.TemporaryDirectory(prefix="shortener-bench-") as name,
    ):
        point_at(primary.url, Path(name))
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()
        call_command("migrate", verbosity=0)
        try:
            with service_side("service", PROJECT_DIR, Path(name), 100) as side:
                request = side.requests["create"]
                arguments = [request.method, request.path, *side.credential, request.body, str(side.ids), "1"]
                measure(
                    primary,
                    standbys,
                    options,
                    lambda: wrk.call_api(side.port, arguments, seconds=options.seconds),
                )
        finally:
            connection.close()


def measure(
    primary: EmbeddedPostgres,
    standbys: Sequence[EmbeddedPostgres],
    options: argparse.Namespace,
    create: Callable[[], wrk.LoadResult],
) -> None:
    from bench.clicks.drain import drain
    from bench.load.plain_links import plain_links
    from bench.load.traffic import Traffic
    from events.retention import ensure_event_partitions

    # As manage.py drain_clicks.
    gc.freeze()
    gc.set_threshold(1_000_000)
    ensure_event_partitions()
    traffic = Traffic(plain_links(LINKS))
    figures: dict[str, dict[str, list[float]]] = {mode: defaultdict(list) for mode in MODES}
    for number in range(options.rounds + 1):
        for mode in random.Random(number).sample(sorted(MODES), len(MODES)):
            with psycopg.connect(primary.url, autocommit=True) as database:
                enter(database, standbys if mode != ALONE else [], standbys, MODES[mode])
                before = [used(primary), *map(used, standbys)]
                cost = drain(traffic, options.clicks)
                caught_up(database, 0 if mode == ALONE else len(standbys))
                after = [used(primary), *map(used, standbys)]
                created, commit = create(), commit_ms(database)
            if number:
                each = [(now - then) / options.clicks * 1e6 for now, then in zip(after, before, strict=True)]
                for name, value in {
                    "clicks/s": 1e6 / cost.elapsed,
                    "primary us": each[0],
                    "standby us": each[1],
                    "WAL bytes": cost.wal,
                    "commit ms": commit,
                    "creates/s": created.rate,
                    "create p50 ms": created.p50,
                    "create p99 ms": created.p99,
                }.items():
                    figures[mode][name].append(value)
    show(figures, options.rounds)


def enter(
    database: psycopg.Connection[Any],
    wanted: Sequence[EmbeddedPostgres],
    standbys: Sequence[EmbeddedPostgres],
    names: str,
) -> None:
    """Let these standbys run and catch up, and commits wait for them as told."""
    database.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
    for standby in standbys:
        if standby in wanted:
            standby.ensure_running()
        elif (pid := standby.pid) is not None:
            os.kill(pid, signal.SIGINT)
            eventually(lambda standby=standby: standby.pid is None)  # type: ignore[misc]
    caught_up(database, len(wanted))
    database.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    database.execute("SELECT pg_reload_conf()")
    state = "quorum" if names else "async"
    query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = %s"
    eventually(lambda: database.execute(query, [state]).fetchone() == (len(wanted),))


def caught_up(database: psycopg.Connection[Any], standbys: int) -> None:
    """Wait until so many standbys have applied what is committed now."""
    position = database.execute("SELECT pg_current_wal_lsn()::text").fetchone()
    query = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= %s::pg_lsn"
    eventually(lambda: database.execute(query, position).fetchone() == (standbys,))


def used(server: EmbeddedPostgres) -> float:
    """Processor seconds of a server; 0 if it does not run."""
    return tree_seconds(server.pid) if server.pid else 0.0


def commit_ms(database: psycopg.Connection[Any]) -> float:
    """The median time of a transaction that inserts one row."""
    database.execute("CREATE TABLE IF NOT EXISTS bench_commit (number integer)")
    times = []
    for number in range(COMMITS):
        before = time.perf_counter()
        database.execute("INSERT INTO bench_commit VALUES (%s)", [number])
        times.append(time.perf_counter() - before)
    return statistics.median(times) * 1000


def show(figures: dict[str, dict[str, list[float]]], rounds: int) -> None:
    rows = list(figures[ALONE])
    print("| | " + " | ".join(figures) + " |\n|---" + "|---" * len(figures) + "|")
    for row in rows:
        cells = (
            results.spread(values[row], ",.2f" if "ms" in row else ",.0f") for values in figures.values()
        )
        print(f"| {row} | " + " | ".join(cells) + " |")
    parts = [_summary(mode, values) for mode, values in figures.items()]
    log = statistics.median(figures[QUORUM]["WAL bytes"])
    results.record("clicks-standbys", f"{'; '.join(parts)}; WAL {log:.0f} bytes a click ({rounds} rounds)")


def _summary(mode: str, values: dict[str, list[float]]) -> str:
    middle = {row: statistics.median(column) for row, column in values.items()}
    return (
        f"{mode}: {middle['clicks/s']:,.0f} clicks/s, processor time of a click on the primary"
        f" {middle['primary us']:.1f} us, on a standby {middle['standby us']:.1f} us; commit"
        f" {middle['commit ms']:.2f} ms; {middle['creates/s']:.0f} links/s created,"
        f" p50 {middle['create p50 ms']:.1f} ms, p99 {middle['create p99 ms']:.1f} ms"
    )


if __name__ == "__main__":
    main()
