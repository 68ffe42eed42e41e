"""python -m bench.slow_clients [--clients N] [--seconds S] [--kinds NAME ...]: the service beside slow clients.

Opens N connections of every kind at once, directly to the service and then through the shipped Caddyfile. If the limit
of open files does not allow all of them, it measures groups of kinds one after another. Sends redirects, /healthz and
API calls at a steady rate before, beside and after these connections. The exit status is 1 if a redirect or /healthz
failed or if the API's p99 more than doubled.
"""

from __future__ import annotations

import argparse
import http.client
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from bench.harness.results import record
from bench.harness.running import installation
from bench.harness.stack import service_folder
from bench.slow_clients.holders import HOST
from shortener_project.running.listeners import connections_within, raise_limit
from testing.service.caddy import Caddy, caddy_before
from testing.service.running import Service

CODE = "steady"
# Requests a second of each client of one kind.
PACE = 20
PROBES = {"redirects": 4, "healthz": 2, "API": 2}
# Kinds that could occupy threads in earlier versions, and two that only occupy connections.
DEFAULT_KINDS = (
    *("awaits 100 Continue", "drips a long form", "drips a long login form", "drips many links"),
    *("announces a body and sends none", "does not read large files", "drips a long chunk"),
    *("says nothing", "drips a head"),
)
MAX_API_RATIO = 2.0
WORKERS = 2
# The share of the possible connections that slow clients take. A worker that is nearly full closes idle connections,
# and connections are not spread evenly over the workers.
SHARE = 0.85


class Way(NamedTuple):
    """How clients reach the service. ``capacity`` is the number of connections that it can keep."""

    name: str
    port: int
    capacity: int
    connect: Callable[[], http.client.HTTPConnection]
    authority: str = ""


class Effect(NamedTuple):
    """``failures`` of redirects and health checks; ``slowdown``: how much the p99 of the API rose, as a factor."""

    failures: int
    slowdown: float


class Latencies(NamedTuple):
    times: list[float]
    failures: list[str]

    @property
    def p99(self) -> float:
        return statistics.quantiles(self.times, n=100)[98]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=5_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--kinds", nargs="*", default=DEFAULT_KINDS)
    options = parser.parse_args()
    with service_folder() as folder, ExitStack() as stack:
        limit = raise_limit()
        service = stack.enter_context(
            installation(
                folder,
                WEB_CONCURRENCY=str(WORKERS),
                BASE_URL=f"https://{HOST}",
                TRUSTED_PROXIES="127.0.0.1/32",
            )
        )
        key = service.owner.api_key
        service.call(
            "POST", "/api/urls", {"originalUrl": "https://example.com/", "customCode": CODE}, X_API_Key=key
        )
        ways = [
            Way(
                "direct",
                service.port,
                int(WORKERS * connections_within(limit) * SHARE),
                lambda: http.client.HTTPConnection("127.0.0.1", service.port, timeout=30),
            )
        ]
        if program := shutil.which("caddy"):
            ways.append(
                # Caddy opens a second connection, to the service, for a request that it does not buffer.
                _through(stack.enter_context(caddy_before(service, program=program)), int(limit / 2 * SHARE))
            )
        effects = [
            _compare(way, service, group, options.clients, options.seconds)
            for way in ways
            for group in _groups(options.kinds, max(1, way.capacity // options.clients))
        ]
    failures = sum(effect.failures for effect in effects)
    slowdown = max(effect.slowdown for effect in effects)
    record(
        "redirects-slow-clients",
        f"{options.clients:,} of each of {len(options.kinds)} kinds, {' and '.join(way.name for way in ways)}: "
        f"{failures} failures; p99 of the API at most {slowdown:.1f} times the p99 without them",
    )
    sys.exit(failures > 0 or slowdown > MAX_API_RATIO)


def _groups(kinds: Sequence[str], size: int) -> list[Sequence[str]]:
    return [kinds[start : start + size] for start in range(0, len(kinds), size)]


def _through(caddy: Caddy, capacity: int) -> Way:
    def connect() -> http.client.HTTPConnection:
        # HTTPSConnection would create a context that is not used, which takes longer than many requests.
        connection = http.client.HTTPConnection(HOST, timeout=30)
        connection.sock = caddy.connect(HOST)
        return connection

    return Way("through Caddy", caddy.port, capacity, connect, str(caddy.authority))


def _compare(way: Way, service: Service, kinds: Sequence[str], clients: int, seconds: int) -> Effect:
    key = service.owner.api_key
    # Before and after: the p99 of an idle service differs by a factor of two between two minutes of a shared machine.
    before = _measure(way, key, seconds)
    with _holding(way, kinds, clients, key):
        beside = _measure(way, key, seconds)
    after = _measure(way, key, seconds)
    idle = {probe: Latencies(before[probe].times + after[probe].times, []) for probe in PROBES}
    print(f"{way.name}: {clients:,} connections of each of {len(kinds)} kinds ({'; '.join(kinds)})")
    for probe, latencies in beside.items():
        ratio = latencies.p99 / idle[probe].p99
        print(
            f"  {probe:10} {len(latencies.times):6,} requests, {len(latencies.failures)} failed; p99 "
            f"{idle[probe].p99 * 1000:.1f} ms idle, {latencies.p99 * 1000:.1f} ms beside them ({ratio:.2f} times)"
            + "".join(f"\n    {failure}" for failure in latencies.failures[:3]),
            flush=True,
        )
    failures = len(beside["redirects"].failures) + len(beside["healthz"].failures)
    return Effect(failures, beside["API"].p99 / idle["API"].p99)


@contextmanager
def _holding(way: Way, kinds: Sequence[str], clients: int, key: str) -> Iterator[None]:
    holders = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "bench.slow_clients.holders"),
                *(str(way.port), str(clients), kind, CODE, key),
                *filter(None, [way.authority]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for kind in kinds
    ]
    try:
        for holder in holders:
            if holder.stdout is None or holder.stdout.readline() != b"ready\n":
                raise RuntimeError("Slow clients could not be connected.")
        yield
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()


def _measure(way: Way, key: str, seconds: int) -> dict[str, Latencies]:
    requests: dict[str, tuple[str, int, dict[str, str]]] = {
        "redirects": (f"/{CODE}", 302, {"Host": HOST}),
        "healthz": ("/healthz", 200, {"Host": HOST}),
        "API": ("/api/domains", 200, {"Host": HOST, "X-API-Key": key}),
    }
    with ThreadPoolExecutor(sum(PROBES.values())) as pool:
        running = {
            probe: [pool.submit(_steady, way, *requests[probe], seconds) for _ in range(number)]
            for probe, number in PROBES.items()
        }
        return {
            probe: Latencies(
                [seconds for client in clients for seconds in client.result().times],
                [failure for client in clients for failure in client.result().failures],
            )
            for probe, clients in running.items()
        }


def _steady(way: Way, path: str, status: int, headers: dict[str, str], seconds: int) -> Latencies:
    """Send every tenth request on a new connection: the service must accept new clients, too."""
    latencies = Latencies([], [])
    connection = way.connect()
    due = started = time.perf_counter()
    number = 0
    while due < started + seconds:
        time.sleep(max(0.0, due - time.perf_counter()))
        number += 1
        sent_at = time.perf_counter()
        try:
            if number % 10 == 0:
                connection.close()
                connection = way.connect()
            connection.request("GET", path, headers={"User-Agent": "Firefox", **headers})
            response = connection.getresponse()
            response.read()
            if response.status != status:
                latencies.failures.append(f"status {response.status}")
        except (OSError, http.client.HTTPException) as error:
            latencies.failures.append(repr(error))
            connection.close()
        latencies.times.append(time.perf_counter() - sent_at)
        due += 1 / PACE
    connection.close()
    return latencies


if __name__ == "__main__":
    main()
