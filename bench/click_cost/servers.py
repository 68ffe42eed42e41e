"""Redirects whose clicks are counted, in turn: by this service with both event loops, by a plain Django view with one
INSERT and one UPDATE, and by nginx with a log in JSON that ClickHouse's engine loads.

All figures are processor time of one run. The drainer runs, except in the rows that say that it is held.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.click_cost.clickhouse import ClickHouse, json_log
from bench.click_cost.database import SIZES, counted_clicks, log_bytes
from bench.harness.processes import tree, tree_seconds
from bench.harness.results import record, spread
from bench.harness.running import drained, site_of, web_server
from bench.load import wrk
from bench.load.visits import Visits, address
from bench.redirects.ledger import Ledger
from bench.redirects.loops import python_service
from bench.redirects.servers import LOGGED, PLAIN, Server, nginx, plain_view
from bench.redirects.warm import warm
from testing.proof.site import Site
from testing.service.drainer import drainer_held
from testing.service.running import Service

# As many by Zipf's law as in `bench.clicks drain`. More equally popular ones would take long to warm up and to count.
FEW_LINKS, MANY_LINKS = 10_000, 30_000
ADDRESSES = 5_000
# The plain view is not faster.
PLAIN_RATE = 300
COMPILED, PYTHON, HELD = "compiled loop", "Python loop", "the same, drainer held"
CLICKHOUSE = "nginx, JSON log, ClickHouse's engine"


class Used(NamedTuple):
    """Processor seconds by part, and bytes."""

    redirect: float = 0.0
    counting: float = 0.0
    database: float = 0.0
    others: float = 0.0
    stored: float = 0.0
    log: float = 0.0


class Cost(NamedTuple):
    """What a click costs, in microseconds and bytes. ``share``: the part of a core that the load generator used."""

    rate: float
    share: float
    used: Used


def measure(service: Service, folder: Path, options: argparse.Namespace) -> None:
    from bench.load.plain_links import plain_destinations

    figures = []
    links = plain_destinations(MANY_LINKS)
    _prepare_plain_view(links)
    draw = random.Random(20261123)
    addresses = [address(draw.getrandbits(32)) for _ in range(ADDRESSES)]
    for count, by_rank in ((FEW_LINKS, True), (MANY_LINKS, False)):
        name = f"{count:,} links {'by Zipf' if by_rank else 'at random'}"
        part = folder / f"links{count}"
        part.mkdir(mode=0o755)
        visits = Visits(
            part / "visits",
            ((f"/{code}", f"127.0.0.1:{service.port}") for code in list(links)[:count]),
            addresses=addresses,
            by_rank=by_rank,
        )
        with _subjects(service, visits, part, links, options) as subjects:
            costs: dict[str, list[Cost]] = defaultdict(list)
            for number in range(options.rounds):
                for subject in random.Random(number).sample(sorted(subjects), len(subjects)):
                    costs[subject].append(subjects[subject]())
        _print_table(name, costs, list(subjects), options)
        parts = _medians(costs[COMPILED])
        figures.append(
            f"{name}: {spread([_total(cost) for cost in costs[COMPILED]], '.0f')} us (PostgreSQL"
            f" {parts.database:.0f}, web server {parts.redirect:.0f}, drainer {parts.counting:.0f},"
            f" others {parts.others:.0f})"
        )
    record("clicks-cpu", "; ".join(figures))


@contextmanager
def _subjects(
    service: Service, visits: Visits, folder: Path, links: dict[str, str], options: argparse.Namespace
) -> Iterator[dict[str, Callable[[], Cost]]]:
    site = site_of(service)
    cores = wrk.ALL_CORES
    # In nginx's folder, because its workers do not run as root.
    log = folder / "nginx/clicks.json"
    with (
        python_service(service, folder / "python", options.workers) as (beside, other),
        nginx(folder / "nginx", links, options.workers, cores, log=json_log(log)) as servers,
        plain_view(options.workers, cores) as plain,
        ClickHouse(folder, log) as engine,
    ):
        ledger = Ledger(service, service.owner.api_key, other)
        for each in (service, beside):
            warm(ledger, each, visits)
        drained(site)
        drained(other)
        subjects: dict[str, Callable[[], Cost]] = {}
        for name, each, own in ((COMPILED, service, site), (PYTHON, beside, other)):
            subjects[name] = lambda each=each, own=own: _of_service(service, each, own, visits, options)  # type: ignore[misc]
            subjects[f"{name}: {HELD}"] = lambda each=each: _held(each, visits, options)  # type: ignore[misc]
        subjects[PLAIN] = lambda: _of_plain_view(service, site, plain[PLAIN], visits, options)
        subjects[CLICKHOUSE] = lambda: _of_nginx(servers[LOGGED], engine, visits, options)
        yield subjects


def _of_service(
    main: Service, service: Service, site: Site, visits: Visits, options: argparse.Namespace
) -> Cost:
    """``main`` runs the database."""
    before, clicks = _used(main, service, site), counted_clicks(site)
    result, share = _load(service.port, visits, options.rate, options.seconds)
    drained(site)
    return _cost(before, _used(main, service, site), counted_clicks(site) - clicks, result, share)


def _used(main: Service, service: Service, site: Site) -> Used:
    postmaster = main.postmaster()
    if postmaster is None:
        raise RuntimeError("The database server has ended.")
    server, web = tree_seconds(postmaster), tree_seconds(service.gunicorn())
    drainer, everything = tree_seconds(service.child("drain_clicks")), tree_seconds(service.serve())
    # The supervisor starts the server, but need not be its parent.
    inside = server if postmaster in tree(service.serve()) else 0
    return Used(web, drainer, server, everything - inside - web - drainer, _stored(site), log_bytes(site))


def _stored(site: Site) -> float:
    return float(sum(size for _, size in site.rows(SIZES)))


def _held(service: Service, visits: Visits, options: argparse.Namespace) -> Cost:
    pid = web_server(service)
    with drainer_held(service):
        before = tree_seconds(pid)
        result, share = _load(service.port, visits, options.rate, options.seconds)
        used = tree_seconds(pid) - before
    drained(site_of(service) if "DATABASE_URL" not in service.environment else _site(service))
    return _cost(Used(), Used(redirect=used), result.requests, result, share)


def _site(service: Service) -> Site:
    return Site(service.var_dir, service.environment["DATABASE_URL"], service.environment["SECRET_KEY"])


def _of_plain_view(
    service: Service, site: Site, server: Server, visits: Visits, options: argparse.Namespace
) -> Cost:
    postmaster = service.postmaster()
    if postmaster is None:
        raise RuntimeError("The database server has ended.")

    def used() -> Used:
        return Used(
            redirect=tree_seconds(server.pid),
            database=tree_seconds(postmaster),
            stored=_stored(site),
            log=log_bytes(site),
        )

    before = used()
    rate = min(options.rate or PLAIN_RATE, PLAIN_RATE) if options.rate else 0
    result, share = _load(server.port, visits, rate, options.seconds)
    return _cost(before, used(), result.requests, result, share)


def _of_nginx(server: Server, engine: ClickHouse, visits: Visits, options: argparse.Namespace) -> Cost:
    engine.forget_log()
    before = tree_seconds(server.pid)
    result, share = _load(server.port, visits, options.rate, options.seconds)
    redirect = tree_seconds(server.pid) - before
    counted = engine.load()
    used = Used(redirect=redirect, counting=counted.seconds, stored=counted.stored)
    return _cost(Used(), used, counted.clicks, result, share)


def _load(port: int, visits: Visits, rate: int, seconds: int) -> tuple[wrk.LoadResult, float]:
    """The result, and the part of a core that wrk used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = wrk.load(port, visits, seconds=seconds, pace=rate)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.errors:
        raise RuntimeError(str(result))
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result, used / result.seconds


def _cost(before: Used, after: Used, clicks: int, result: wrk.LoadResult, share: float) -> Cost:
    parts = [(now - then) / clicks for now, then in zip(after, before, strict=True)]
    microseconds = [seconds * 1e6 for seconds in parts[:4]]
    return Cost(result.rate, share, Used(*microseconds, *parts[4:]))


def _medians(costs: list[Cost]) -> Used:
    return Used(*map(statistics.median, zip(*(cost.used for cost in costs), strict=True)))


def _total(cost: Cost) -> float:
    return sum(cost.used[:4])


def _print_table(
    name: str, costs: dict[str, list[Cost]], subjects: list[str], options: argparse.Namespace
) -> None:
    pace = f"at {options.rate:,} redirects/s (plain view: {PLAIN_RATE})" if options.rate else "at full speed"
    print(
        f"\n{name}, {pace}, {options.workers} worker(s), medians of {options.rounds} rounds of {options.seconds} s."
        f" The drainer runs unless a row says that it is held. Microseconds of processor time and bytes per click;"
        f" ClickHouse's engine (chdb) resolves neither user agents nor places\n\n"
        "| server | redirects/s | load generator, of a core | redirect | counting | database | others | all |"
        " stored | log |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for subject in subjects:
        used = _medians(costs[subject])
        rate = statistics.median(cost.rate for cost in costs[subject])
        share = statistics.median(cost.share for cost in costs[subject])
        total = statistics.median(_total(cost) for cost in costs[subject])
        print(
            f"| {subject} | {rate:,.0f} | {share:.2f} | {used.redirect:.1f} | {used.counting:.1f}"
            f" | {used.database:.1f} | {used.others:.1f} | {total:.1f} | {used.stored:.0f} | {used.log:.0f} |",
            flush=True,
        )


def _prepare_plain_view(links: dict[str, str]) -> None:
    from django.db import connection

    from bench.baseline.view import make_tables

    make_tables(links)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
    connection.close()
