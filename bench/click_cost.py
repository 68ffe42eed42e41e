"""python -m bench.click_cost [--only cpu|bytes] [--rounds N] [--seconds S] [--rate N] [--clicks N] [--workers N]

What a click costs the whole service: the processor time of all processes, from its request until it is counted, and
the bytes by which it makes the database larger.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.harness import tools
from bench.harness.processes import tree, tree_seconds
from bench.harness.results import record, spread
from bench.harness.running import drained, installation, site_of
from bench.harness.stack import service_folder
from bench.load import wrk
from bench.load.visits import Visits, address
from bench.redirects.ledger import Ledger
from bench.redirects.warm import warm
from testing.proof.site import Site
from testing.service.running import Service

# As many by Zipf's law as in `bench.clicks drain`. More equally popular ones would take long to warm up and to count.
FEW_LINKS, MANY_LINKS = 10_000, 30_000
ADDRESSES = 5_000
WARM_CLICKS = 2_000
LARGEST_TABLES = 4
SIZES = """
    SELECT coalesce(parent.relname, name.relname), sum(pg_total_relation_size(name.oid))::bigint
    FROM pg_class name
    LEFT JOIN pg_inherits ON inhrelid = name.oid LEFT JOIN pg_class parent ON parent.oid = inhparent
    WHERE name.relkind = 'r' AND name.relnamespace = 'public'::regnamespace GROUP BY 1
"""


class Cost(NamedTuple):
    """Microseconds of processor time per counted click."""

    postgresql: float
    web: float
    drainer: float
    others: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["cpu", "bytes"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="length of each round")
    parser.add_argument("--rate", type=int, default=2_000, help="redirects per second")
    parser.add_argument("--clicks", type=int, default=200_000, help="on one link, and on as many links")
    parser.add_argument("--workers", type=int, default=1, help="redirect workers")
    options = parser.parse_args()
    tools.require("wrk")
    layout = {"WEB_CONCURRENCY": str(options.workers), "TRUSTED_PROXIES": "127.0.0.1"}
    with service_folder() as folder, installation(folder, **layout) as service:
        if options.only in (None, "cpu"):
            _measure_cpu(service, folder, options)
        if options.only in (None, "bytes"):
            _measure_bytes(site_of(service), options.clicks)


def _measure_cpu(service: Service, folder: Path, options: argparse.Namespace) -> None:
    figures = []
    for name, visits in _visits(service, folder):
        site = site_of(service)
        warm(Ledger(service, service.owner.api_key), service, visits)
        drained(site)
        costs = [_cost(service, site, visits, options) for _ in range(options.rounds)]
        parts = Cost(*map(statistics.median, zip(*costs, strict=True)))
        figures.append(
            f"{name}: {spread([sum(cost) for cost in costs], '.0f')} us (PostgreSQL {parts.postgresql:.0f}, web server"
            f" {parts.web:.0f}, drainer {parts.drainer:.0f}, others {parts.others:.0f})"
        )
        print(f"at {options.rate:,}/s, {figures[-1]}", flush=True)
    record("clicks-cpu", "; ".join(figures))


def _visits(service: Service, folder: Path) -> Iterator[tuple[str, Visits]]:
    from django.db import connection

    from bench.load.plain_links import plain_destinations

    draw = random.Random(20261123)
    addresses = [address(draw.getrandbits(32)) for _ in range(ADDRESSES)]
    codes = list(plain_destinations(MANY_LINKS))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
    connection.close()
    for count, by_rank in ((FEW_LINKS, True), (MANY_LINKS, False)):
        visits = Visits(
            folder / f"visits{count}",
            ((f"/{code}", f"127.0.0.1:{service.port}") for code in codes[:count]),
            addresses=addresses,
            by_rank=by_rank,
        )
        yield f"{count:,} links {'by Zipf' if by_rank else 'at random'}", visits


def _cost(service: Service, site: Site, visits: Visits, options: argparse.Namespace) -> Cost:
    before, clicks_before = _seconds(service), _clicks(site)
    result = wrk.load(service.port, visits, seconds=options.seconds, pace=options.rate)
    if result.errors:
        raise RuntimeError(str(result))
    drained(site)
    used = [now - then for now, then in zip(_seconds(service), before, strict=True)]
    return Cost(*(seconds / (_clicks(site) - clicks_before) * 1e6 for seconds in used))


def _seconds(service: Service) -> tuple[float, ...]:
    """Processor seconds of each part, in the order of `Cost`."""
    postmaster = service.postmaster()
    if postmaster is None:
        raise RuntimeError("The database server has ended.")
    server, web = tree_seconds(postmaster), tree_seconds(service.gunicorn())
    drainer, everything = tree_seconds(service.child("drain_clicks")), tree_seconds(service.serve())
    # The supervisor starts the server, but need not be its parent.
    inside = server if postmaster in tree(service.serve()) else 0
    return server, web, drainer, everything - inside - web - drainer


def _clicks(site: Site) -> int:
    [(clicks,)] = site.rows("SELECT coalesce(sum(clicks), 0)::bigint FROM links_clickcounter")
    return int(clicks)


def _measure_bytes(site: Site, clicks: int) -> None:
    from django.db import connection

    from bench.load.backlog import write_backlog
    from bench.load.plain_links import plain_links
    from bench.load.traffic import Traffic

    ids = plain_links(clicks)
    connection.close()
    figures = []
    for name, links in (("one link", ids[:1]), (f"{clicks:,} links at random", ids)):
        traffic = Traffic(links, uniform=True)
        # The first clicks allocate the first pages of tables and partitions.
        write_backlog(site.clicks_dir, traffic, WARM_CLICKS)
        drained(site)
        before, clicks_before = dict(site.rows(SIZES)), _clicks(site)
        write_backlog(site.clicks_dir, traffic, clicks)
        drained(site)
        counted = _clicks(site) - clicks_before
        growth = {table: (size - before.get(table, 0)) / counted for table, size in site.rows(SIZES)}
        largest = sorted(growth, key=growth.__getitem__, reverse=True)[:LARGEST_TABLES]
        tables = ", ".join(f"`{table}` {growth[table]:.0f}" for table in largest)
        figures.append(f"{name}: {sum(growth.values()):.0f} ({tables})")
        print(f"bytes per click, {counted:,} clicks on {figures[-1]}", flush=True)
    record("clicks-bytes", f"{clicks:,} clicks on {'; '.join(figures)}")


if __name__ == "__main__":
    main()
