"""Faults of a host during a database outage. Cached links must keep redirecting."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from bench.faults.result import Result
from testing.service import processes
from testing.service.clients.visitors import Visitors
from testing.service.hosts import one_host
from testing.service.postgresql.outages import Server, database_server, wait_until_silent
from testing.service.running import Connection, Service, eventually, listens

LINKS = 200
DESTINATION = "https://example.com/page"
# Seconds of each outage, and of the time after it.
FLAPS = ((15.0, 0.8), (20.0, 0.8), (10.0, 5.0))


@contextmanager
def _known() -> Iterator[tuple[Server, Service, list[str]]]:
    """A host, and the codes of links that it has cached."""
    with database_server() as server, one_host(server.url, WEB_CONCURRENCY="2") as host:
        key = host.owner.api_key
        codes = [host.create_link(key)["shortCode"] for _ in range(LINKS)]
        with closing(Connection(host.port)) as visitor:
            for code in codes:
                assert visitor.call("GET", f"/{code}").status == 302
        yield server, host, codes


def database_flaps() -> Result:
    with _known() as (server, host, codes), Visitors(host.port, codes, DESTINATION).running() as visitors:
        for away, back in FLAPS:
            with server.away():
                time.sleep(away)
            time.sleep(back)
    away = ", ".join(f"{seconds:g} s" for seconds, _ in FLAPS)
    return Result(
        f"database unreachable for {away}: {visitors.followed:,} cached links followed", visitors.failures
    )


def workers_die() -> Result:
    def kill(host: Service) -> None:
        before = host.workers()
        for worker in before:
            os.kill(worker, signal.SIGKILL)
        eventually(lambda: len(host.accepting()) == 2 and not {*before} & {*host.workers()})

    return _while_away("every worker killed", kill)


def reload() -> Result:
    def send_sighup(host: Service) -> None:
        before = host.workers()
        host.signal(signal.SIGHUP)
        eventually(lambda: len(host.accepting()) == 2 and not any(map(processes.is_alive, before)))

    return _while_away("workers reloaded", send_sighup)


def restart() -> Result:
    def stop_and_start(host: Service) -> None:
        host.stop()
        host.launch()
        eventually(lambda: listens(host.port))

    return _while_away("service stopped and started", stop_and_start)


def _while_away(fault: str, inject: Callable[[Service], None]) -> Result:
    with _known() as (server, host, codes):
        with server.away():
            wait_until_silent(host)
            inject(host)
            with closing(Connection(host.port)) as visitor:
                statuses = {code: visitor.call("GET", f"/{code}").status for code in codes}
                unknown = visitor.call("GET", "/neverSeen").status
        eventually(host.is_healthy)
    problems = [f"{code} returned {status}" for code, status in statuses.items() if status != 302]
    if unknown != 503:
        problems.append(f"an unknown code returned {unknown}")
    return Result(
        f"{fault} while the database was unreachable: {len(codes)} cached links requested", problems
    )
