"""python -m bench.slow_clients [--clients N] [--seconds S] [--rounds N]: redirects beside slow clients.

Redirects at a steady pace on eight connections, without and with slow and stalled clients of every kind, in turn.
"""

from __future__ import annotations

import argparse
import http.client
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from bench.stack import home

if TYPE_CHECKING:
    from tests.service.running import Service

CONNECTIONS = 8
# Of each connection, in a second.
PACE = 25
CODE = "steady"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with home() as folder:
        # After the settings are known.
        from bench.running import installation  # noqa: PLC0415

        with installation(folder, WEB_CONCURRENCY="1", API_CONCURRENCY="1") as service:
            key = service.owner.api_key
            service.create_link(key, customCode=CODE)
            ratios = [_round(service, key, given.clients, given.seconds) for _ in range(given.rounds)]
    print(f"p99 with them, times without: median {statistics.median(ratios):.2f}, at most {max(ratios):.2f}")


def _round(service: Service, key: str, clients: int, seconds: int) -> float:
    from tests.service.adversary.slow import SlowClients  # noqa: PLC0415

    p99 = {}
    for number in (0, clients):
        with ExitStack() as stack:
            slow = stack.enter_context(SlowClients(service.port, CODE, key, number))
            pool = stack.enter_context(ThreadPoolExecutor(CONNECTIONS))
            steady = [pool.submit(_steady, service.port, seconds) for _ in range(CONNECTIONS)]
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                slow.drip()
                time.sleep(1)
            times = [each for one in steady for each in one.result()[0]]
            errors = sum(one.result()[1] for one in steady)
        p99[number] = statistics.quantiles(times, n=100)[98]
        print(
            f"{number:5} slow clients: {len(times):,} redirects, {errors} errors, p99 {p99[number] * 1000:.2f} ms"
        )
    return p99[clients] / p99[0]


def _steady(port: int, seconds: int) -> tuple[list[float], int]:
    """How long each answer took, and how many were none."""
    from tests.service.running import Connection  # noqa: PLC0415

    times, errors = [], 0
    with closing(Connection(port)) as connection:
        due = started = time.perf_counter()
        while due < started + seconds:
            time.sleep(max(0.0, due - time.perf_counter()))
            asked = time.perf_counter()
            try:
                errors += connection.ask("GET", f"/{CODE}").status != 302
            except (OSError, http.client.HTTPException):
                errors += 1
                connection.close()
            times.append(time.perf_counter() - asked)
            due += 1 / PACE
    return times, errors


if __name__ == "__main__":
    main()
