"""The service as users run it, with one worker and with two: its redirects, its memory and its counts."""

from __future__ import annotations

import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from django.db import connection

from accounts.services import rotate_api_key
from bench.baseline import view as plain_view
from bench.harness.processes import pin, tree
from bench.harness.results import record
from bench.harness.running import installation, restart, web_server
from bench.load import wrk
from bench.load.plain_links import plain_destinations, plain_owner
from bench.load.visits import Visits
from bench.load.wrk import ALL_CORES
from bench.redirects import kinds, layouts, loops, paced, rounds, rules, servers, split
from bench.redirects.ledger import Ledger
from bench.redirects.servers import MAP, SERVICE, Server
from bench.redirects.warm import warm
from testing.service.drainer import drainer_held
from testing.service.resident import pss_mib
from testing.service.running import Service

# A worker must use no more memory after this many requests than before.
REQUESTS = 1_000_000
REQUEST_SECONDS = 60


def run(folder: Path, options: Namespace) -> None:
    with installation(folder, WEB_CONCURRENCY="1") as service:
        links = plain_destinations(options.links)
        plain_view.make_tables(links)
        api_key = rotate_api_key(user=plain_owner())
        connection.close()
        host = f"127.0.0.1:{service.port}"
        visits = {
            False: Visits(folder / "random", ((f"/{code}", host) for code in links)),
            True: Visits(folder / "hot", [(f"/{next(iter(links))}", host)]),
        }
        by_rules = rules.visits_of(folder, links, options.routed_links, host)
        by_kind = kinds.visits_of(folder, links, host)
        if options.layouts:
            layouts.run(
                service, api_key, visits[False], folder,
                seconds=options.seconds, rounds=options.rounds,
            )  # fmt: skip
            return
        figures: dict[str, list[str]] = defaultdict(list)
        if options.only in (None, "rules"):
            for key, figure in split.check_split().items():
                record(key, figure)
        for workers in options.workers:
            restart(service, WEB_CONCURRENCY=str(workers))
            print(f"\n{workers} worker{'s' * (workers > 1)} (WEB_CONCURRENCY={workers})")
            measured: dict[str, str] = {}
            if options.only in (None, "rules"):
                measured |= rules.measure(
                    service, api_key, by_rules, options.rounds, seconds=options.seconds, cores=_cores(workers)
                )
            if options.only in (None, "kinds"):
                measured |= kinds.measure(
                    service, api_key, by_kind, options.rounds, seconds=options.seconds, cores=_cores(workers)
                )
            if options.only in (None, "loops"):
                cores = _cores(workers)
                with servers.nginx(folder / f"map{workers}", links, workers, cores[0]) as nginx:
                    measured |= loops.run(
                        service, api_key, nginx[MAP], visits[False], folder=folder, workers=workers,
                        cores=cores, options=options,
                    )  # fmt: skip
            if options.only not in ("rules", "kinds", "loops"):
                measured |= _measure(
                    service, api_key, links, visits, folder=folder, workers=workers, options=options
                )
            for key, figure in measured.items():
                figures[key].append(f"{workers} worker{'s' * (workers > 1)} {figure}")
        for key, by_workers in figures.items():
            record(key, ", ".join(by_workers))


def _measure(
    service: Service,
    api_key: str,
    links: dict[str, str],
    visits: dict[bool, Visits],
    *,
    folder: Path,
    workers: int,
    options: Namespace,
) -> dict[str, str]:
    """Figures by key of `bench.catalog`."""
    figures: dict[str, str] = {}
    ledger, port = Ledger(service, api_key), service.port
    server_cores, client_cores = _cores(workers)
    memory = [_print_memory(service, "at the start")]
    ledger.sample(links)
    with drainer_held(service):
        warm(ledger, service, visits[False])
        memory.append(_print_memory(service, f"after {ledger.requests:,} requests"))
        pin(tree(web_server(service)), server_cores)
        print(f"  the web server's processes on cores {server_cores}, wrk on {client_cores}")
        if options.only in (None, "rounds"):
            with ExitStack() as started:
                others = [
                    started.enter_context(
                        servers.nginx(folder / f"nginx{workers}", links, workers, server_cores)
                    ),
                    started.enter_context(servers.plain_view(workers, server_cores)),
                ]
                every = {SERVICE: Server(port, web_server(service))} | others[0] | others[1]
                print(
                    f"{options.rounds} rounds of {options.seconds} s each, 64 connections, min / median / max"
                )
                field = rounds.Field(every, visits, ledger, options.seconds, client_cores)
                figures |= rounds.run(field, options.rounds)
        if options.only in (None, "paced"):
            subject = paced.Subject(port, api_key, ledger)
            halves = paced.run(
                {SERVICE: subject}, visits[False], options.seconds, options.rounds, client_cores
            )
            figures |= halves[SERVICE]
        pin(tree(web_server(service)), ALL_CORES)
        _top_up(ledger, port, visits[False])
        memory.append(_print_memory(service, f"after {ledger.requests:,} requests"))
    ledger.sample(links)
    ledger.settle()
    at_start, warm_size, at_end = memory
    figures["redirects-memory"] = (
        f"{at_start:.0f} MiB at the start, {warm_size:.0f} with {len(links):,} links cached, "
        f"{at_end:.0f} after {ledger.requests:,} requests"
    )
    return figures


def _cores(workers: int) -> tuple[Sequence[int], Sequence[int]]:
    """Choose the cores of the server and of wrk. With one worker, wrk has the other to itself; two share both."""
    return (ALL_CORES, ALL_CORES) if workers > 1 else (ALL_CORES[:1], ALL_CORES[-1:])


def _top_up(ledger: Ledger, port: int, visits: Visits) -> None:
    started = time.monotonic()
    while ledger.requests < REQUESTS and time.monotonic() - started < REQUEST_SECONDS:
        ledger.add(wrk.load(port, visits, seconds=5))


def _print_memory(service: Service, when: str) -> float:
    """The largest worker's PSS in MiB."""
    sizes = [pss_mib(worker) for worker in sorted(service.workers())]
    print(
        f"  memory (PSS) of each worker {when}: {' '.join(f'{size:.1f}' for size in sizes)} MiB", flush=True
    )
    return max(sizes)
