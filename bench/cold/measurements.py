"""Redirects with a cache that is too small, after a restart, of links by Zipf's law, and of links whose clicks the
database must claim.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from django.db import connection

from bench.baseline import view as plain_view
from bench.harness.processes import cpu_seconds, tree
from bench.harness.results import record, spread
from bench.harness.running import drained, installation, restart, site_of, web_server
from bench.load import wrk
from bench.load.plain_links import plain_destinations
from bench.load.visits import Visits
from bench.load.wrk import ALL_CORES, LoadResult
from bench.redirects import servers
from testing.service.running import Service

PACE, RESTART_SECONDS = 2_000, 20
# Attempts to measure the plain view on a busy machine.
TRIES = 5
# The service caches one of this many links.
KEPT_SHARE = 4
WARM_SECONDS = 10
CAPPED_LINKS, CAP = 1_000, 2_000_000_000
UNCAPPED = "UPDATE links_link SET max_clicks = NULL"


class Bench(NamedTuple):
    """The service runs with one redirect worker. ``links``: destinations by code."""

    service: Service
    folder: Path
    links: Mapping[str, str]
    options: argparse.Namespace

    def visits(self, name: str, codes: list[str], *, by_rank: bool = False) -> Visits:
        host = f"127.0.0.1:{self.service.port}"
        return Visits(self.folder / name, ((f"/{code}", host) for code in codes), by_rank=by_rank)


class Load(NamedTuple):
    """``web_us`` and ``database_us``: processor time per request."""

    result: LoadResult
    web_us: float
    database_us: float


def run(folder: Path, options: argparse.Namespace) -> None:
    with installation(folder, WEB_CONCURRENCY="1") as service:
        bench = Bench(service, folder, plain_destinations(options.links), options)
        connection.close()
        for name in options.only:
            MEASUREMENTS[name](bench)


def _misses(bench: Bench) -> None:
    """Almost every request is for a link that is not in memory."""
    restart(bench.service, DESTINATIONS_KEPT="100")
    visits = bench.visits("random", list(bench.links))
    plain_view.make_tables(dict(bench.links))
    connection.close()
    ratios, loads = [], []
    with servers.plain_view(1, ALL_CORES) as started:
        plain = started[servers.PLAIN].port
        _load(bench, visits)
        for _ in range(bench.options.rounds):
            baseline = _baseline(plain, visits, bench.options.seconds)
            loads.append(_load(bench, visits))
            ratios.append(loads[-1].result.rate / baseline.rate)
    _report("cold-misses", loads, f"{spread(ratios, '.1f')} x a plain Django view")
    restart(bench.service, DESTINATIONS_KEPT="250000")


def _restart(bench: Bench) -> None:
    """Visitors of all links come at a fixed rate from the moment when the service is ready again."""
    visits = bench.visits("returning", list(bench.links))
    wrk.load(bench.service.port, visits, seconds=WARM_SECONDS)
    drained(site_of(bench.service))
    connection.close()
    loads = []
    for _ in range(bench.options.rounds):
        restart(bench.service)
        loads.append(_load(bench, visits, seconds=RESTART_SECONDS, pace=PACE))
        drained(site_of(bench.service))
        connection.close()
    wanted = PACE * RESTART_SECONDS
    answered = [load.result.requests for load in loads]
    p99s = [load.result.p99 for load in loads]
    _report(
        "cold-restart",
        loads,
        f"{spread(answered, ',.0f')} of {wanted:,} answered in {RESTART_SECONDS} s, p99 {spread(p99s, '.1f')} ms",
    )


def _zipf(bench: Bench) -> None:
    """A quarter of the links fit into memory. The popularity of a link is inversely proportional to its rank."""
    restart(bench.service, DESTINATIONS_KEPT=str(len(bench.links) // KEPT_SHARE))
    codes = list(bench.links)
    random.Random(20261122).shuffle(codes)
    visits = bench.visits("zipf", codes, by_rank=True)
    hot = bench.visits("hot", codes[:1])
    wrk.load(bench.service.port, visits, seconds=WARM_SECONDS)
    loads, ratios = [], []
    for _ in range(bench.options.rounds):
        baseline = wrk.load(bench.service.port, hot, seconds=bench.options.seconds)
        loads.append(_load(bench, visits))
        ratios.append(loads[-1].result.rate / baseline.rate)
    _report("cold-zipf", loads, f"{spread(ratios, '.2f')} x a single link ({len(codes):,} links)")
    restart(bench.service, DESTINATIONS_KEPT="250000")


def _capped(bench: Bench) -> None:
    """Links with ``maxClicks``, of which the database claims every click."""
    codes = list(bench.links)[:CAPPED_LINKS]
    visits = bench.visits("capped", codes)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET max_clicks = %s WHERE short_code = ANY(%s)", [CAP, codes])
    if "bench_plainlink" not in connection.introspection.table_names():
        plain_view.make_tables(dict(bench.links))
    before = _counted()
    connection.close()
    ratios, loads = [], []
    with servers.plain_view(1, ALL_CORES) as started:
        plain = started[servers.PLAIN].port
        for _ in range(bench.options.rounds):
            baseline = _baseline(plain, visits, bench.options.seconds)
            loads.append(_load(bench, visits))
            ratios.append(loads[-1].result.rate / baseline.rate)
    requests = sum(load.result.requests for load in loads)
    claimed = _counted() - before
    # wrk does not count the requests in flight when it stops.
    is_exact = requests <= claimed <= requests + len(loads) * wrk.CONNECTIONS
    print(f"  {requests:,} redirected, {claimed:,} claimed: {'exact' if is_exact else 'NOT EXACT'}")
    _report("cold-capped", loads, f"{spread(ratios, '.1f')} x a plain Django view")
    with connection.cursor() as cursor:
        cursor.execute(UNCAPPED)
    connection.close()


def _baseline(port: int, visits: Visits, seconds: int) -> LoadResult:
    for _ in range(TRIES):
        result = wrk.load(port, visits, seconds=seconds)
        if result.requests:
            return result
    raise RuntimeError(f"The plain view does not respond within {seconds} s.")


def _counted() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(clicks)::bigint FROM links_clickcounter n JOIN links_link l ON l.id = n.link_id"
            " WHERE l.max_clicks IS NOT NULL"
        )
        [(clicks,)] = cursor.fetchall()
    return int(clicks or 0)


def _load(bench: Bench, visits: Visits, *, seconds: int = 0, pace: float = 0.0) -> Load:
    web = tree(web_server(bench.service))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        database = [pid for (pid,) in cursor.fetchall()]
    connection.close()
    web_before, database_before = cpu_seconds(web), cpu_seconds(database)
    result = wrk.load(bench.service.port, visits, seconds=seconds or bench.options.seconds, pace=pace)
    requests = max(1, result.requests)
    return Load(
        result,
        (cpu_seconds(web) - web_before) / requests * 1e6,
        (cpu_seconds(database) - database_before) / requests * 1e6,
    )


def _report(key: str, loads: list[Load], figure: str) -> None:
    rates = [load.result.rate for load in loads]
    web, database = (statistics.median(values) for values in zip(*[load[1:] for load in loads], strict=True))
    errors = sum(load.result.errors for load in loads)
    text = (
        f"{figure}; {spread(rates, ',.0f')} requests/s; {web:.0f} us of the web server and {database:.0f} us of"
        " PostgreSQL per request"
    )
    print(f"{key}: {text}; {errors} errors", flush=True)
    record(key, text)


MEASUREMENTS: dict[str, Callable[[Bench], None]] = {
    "misses": _misses,
    "restart": _restart,
    "zipf": _zipf,
    "capped": _capped,
}
