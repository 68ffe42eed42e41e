"""Faults of a host during a database outage, and a database with a full disk. Cached links must keep redirecting."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from bench.faults.result import Result
from testing.service import processes
from testing.service.clients.visitors import Visitors
from testing.service.frozen import audit
from testing.service.hosts import one_host
from testing.service.postgresql.outages import Server, database_server, metric, wait_until_silent
from testing.service.postgresql.small_disk import server_on_small_disk
from testing.service.running import Connection, Service, clicks_of, eventually, listens

LINKS = 200
DESTINATION = "https://example.com/page"
# Seconds of each outage, and of the time after it.
FLAPS = ((15.0, 0.8), (20.0, 0.8), (10.0, 5.0))
FULL_SECONDS = 20.0


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


def database_full() -> Result:
    """PostgreSQL's disk is full. The host must say so, and count all clicks once there is space."""
    with server_on_small_disk() as server:
        if server is None:
            return Result("PostgreSQL's disk full: NOT TRIED, because only root can mount a small disk")
        with one_host(server.url) as host:
            key = host.owner.api_key
            links = [host.create_link(key) for _ in range(LINKS)]
            codes = [link["shortCode"] for link in links]
            for code in codes:
                assert host.call("GET", f"/{code}").status == 302
            eventually(host.is_ready)
            with Visitors(host.port, codes, DESTINATION).running() as visitors:
                with server.full():
                    filled_at = time.monotonic()
                    eventually(lambda: not host.is_ready())
                    told = time.monotonic() - filled_at
                    is_writable = metric(host, "shortener_database_writable")
                    time.sleep(FULL_SECONDS)
                freed_at = time.monotonic()
                eventually(
                    lambda: (
                        host.call("POST", "/api/urls", {"originalUrl": DESTINATION}, X_API_Key=key).status
                        == 201
                    )
                )
                back = time.monotonic() - freed_at
            eventually(host.is_ready)
            followed, problems = visitors.followed + len(codes), visitors.failures
            eventually(lambda: sum(clicks_of(host, key, link) for link in links) >= followed)
            if (counted := sum(clicks_of(host, key, link) for link in links)) != followed:
                problems.append(f"{counted} clicks counted of {followed}")
            if (differences := audit(host)) != "0 differences.\n":
                problems.append(differences.strip())
            if is_writable:
                problems.append("shortener_database_writable was 1")
    return Result(
        f"PostgreSQL's disk full for {FULL_SECONDS:g} s: told by /readyz within {told:.1f} s, {followed:,} visits,"
        f" writes again after {back:.1f} s",
        problems,
    )


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
