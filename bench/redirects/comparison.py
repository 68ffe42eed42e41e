"""The service as users run it, with one worker and with two: its redirects, its memory, and what it has counted."""

from __future__ import annotations

import time
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path

from django.db import connection

from accounts.services import rotate_api_key
from bench import plain_view, wrk
from bench.plain_links import plain_destinations, plain_owner
from bench.processes import pin, pss_mib, tree
from bench.redirects import layouts, paced, rounds, servers
from bench.redirects.ledger import Ledger
from bench.redirects.servers import SERVICE, Server
from bench.redirects.warm import warm
from bench.running import drainer_held, installation, restart, web_server
from bench.visits import Visits
from bench.wrk import ALL_CORES
from tests.service.running import Service

# After which a worker must hold no more than before.
REQUESTS = 1_000_000
REQUEST_SECONDS = 60


def run(home: Path, given: Namespace) -> None:
    with installation(home, WEB_CONCURRENCY="1") as service:
        links = plain_destinations(given.links)
        plain_view.make_tables(links)
        api_key = rotate_api_key(user=plain_owner())
        connection.close()
        host = f"127.0.0.1:{service.port}"
        visits = {
            False: Visits(home / "random", ((f"/{code}", host) for code in links)),
            True: Visits(home / "hot", [(f"/{next(iter(links))}", host)]),
        }
        if given.layouts:
            layouts.run(
                service, api_key, visits[False], home,
                seconds=given.seconds, rounds=given.rounds,
            )  # fmt: skip
            return
        for workers in given.workers:
            restart(service, WEB_CONCURRENCY=str(workers))
            _measure(service, api_key, links, visits, home=home, workers=workers, given=given)


def _measure(
    service: Service,
    api_key: str,
    links: dict[str, str],
    visits: dict[bool, Visits],
    *,
    home: Path,
    workers: int,
    given: Namespace,
) -> None:
    ledger, port = Ledger(service, api_key), service.port
    # Of one worker, wrk has the other core to itself; two workers share both with it.
    server_cores, client_cores = (ALL_CORES, ALL_CORES) if workers > 1 else (ALL_CORES[:1], ALL_CORES[-1:])
    print(f"\n{workers} worker{'s' * (workers > 1)} (WEB_CONCURRENCY={workers})")
    _print_memory(service, "at the start")
    ledger.sample(links)
    with drainer_held(service):
        warm(ledger, service, visits[False])
        _print_memory(service, f"after {ledger.requests:,} requests")
        pin(tree(web_server(service)), server_cores)
        print(f"  the web server's processes on cores {server_cores}, wrk on {client_cores}")
        if given.only != "paced":
            with ExitStack() as started:
                others = [
                    started.enter_context(
                        servers.nginx(home / f"nginx{workers}", links, workers, server_cores)
                    ),
                    started.enter_context(servers.plain_view(workers, server_cores)),
                ]
                every = {SERVICE: Server(port, web_server(service))} | others[0] | others[1]
                print(f"{given.rounds} rounds of {given.seconds} s each, 64 connections, min / median / max")
                field = rounds.Field(every, visits, ledger, given.seconds, client_cores)
                rounds.run(field, given.rounds)
        if given.only != "rounds":
            subject = paced.Subject(port, api_key, ledger)
            paced.run({SERVICE: subject}, visits[False], given.seconds, given.rounds, client_cores)
        pin(tree(web_server(service)), ALL_CORES)
        _top_up(ledger, port, visits[False])
        _print_memory(service, f"after {ledger.requests:,} requests")
    ledger.sample(links)
    ledger.settle()


def _top_up(ledger: Ledger, port: int, visits: Visits) -> None:
    started = time.monotonic()
    while ledger.requests < REQUESTS and time.monotonic() - started < REQUEST_SECONDS:
        ledger.add(wrk.load(port, visits, seconds=5))


def _print_memory(service: Service, when: str) -> None:
    sizes = " ".join(f"{pss_mib(worker):.1f}" for worker in sorted(service.workers()))
    print(f"  memory (PSS) of each worker {when}: {sizes} MiB", flush=True)
