"""python -m bench.beside_drain [--clicks N] [--rounds N]: latency of the API while the drainer counts a backlog.

Clients create links, edit a link and follow a capped link, first while the drainer is stopped, then while it counts a
backlog at full speed. Prints 99th percentiles and failures of both.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.harness.results import record
from bench.harness.running import drained, installation, poll_backlog, site_of
from bench.harness.stack import service_folder
from testing.background import running
from testing.service.drainer import drainer_held
from testing.service.running import Connection

LINKS = 20_000
# The pause between two requests of a client, because this measures latency, not throughput.
PAUSE_SECONDS = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=150_000, help="clicks in each backlog")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with (
        service_folder() as folder,
        # On two cores the drainer's priority dominates the result; this uses the priority that the service sets.
        installation(folder, WEB_CONCURRENCY="1", API_CONCURRENCY="1") as service,
    ):
        from bench.load.plain_links import plain_links

        ids = plain_links(LINKS)
        idle, busy = Figures(), Figures()
        for _ in range(options.rounds):
            _beside(service, ids, options.clicks, idle, busy)
        ratios = idle.compare(busy)
    record("clicks-beside-drain", ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in ratios.items()))


@dataclass
class Figures:
    """Latencies (ms) of successful requests, and the number of failed ones, by kind."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def compare(self, busy: Figures) -> dict[str, float]:
        """Print and return the ratios of the 99th percentiles by kind."""
        ratios = {}
        for kind, times in sorted(self.times.items()):
            alone, beside = _p99(times), _p99(busy.times[kind])
            ratios[kind] = beside / alone
            print(
                f"{kind:18} p99 alone {alone:7.1f} ms ({len(times)} requests, {self.failures[kind]} failed),"
                f" beside a drain {beside:7.1f} ms ({len(busy.times[kind])}, {busy.failures[kind]} failed):"
                f" {ratios[kind]:.2f}"
            )
        return ratios


def _p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)] if times else float("nan")


def _beside(service: Any, ids: list[int], clicks: int, idle: Figures, busy: Figures) -> None:
    from bench.load.backlog import write_backlog
    from bench.load.traffic import Traffic

    site = site_of(service)
    with drainer_held(service):
        write_backlog(site.clicks_dir, Traffic(ids, seed=time.time_ns()), clicks)
        with _clients(service, idle):
            poll_backlog(site, max(3.0, clicks / 20_000))
    with _clients(service, busy):
        seconds = drained(site)
    print(f"  {clicks / seconds:8,.0f} clicks/s beside the clients", flush=True)


@contextmanager
def _clients(service: Any, figures: Figures) -> Iterator[None]:
    key = service.owner.api_key
    edited = service.create_link(key)
    capped = service.create_link(key, restrictions={"maxClicks": 1_000_000})
    active = False

    def create(client: Any) -> int:
        body = {"originalUrl": "https://example.com/made"}
        return int(client.call("POST", "/api/urls", body, X_API_Key=key).status)

    def edit(client: Any) -> int:
        nonlocal active
        active = not active
        response = client.call("PUT", f"/api/urls/{edited['_id']}", {"isActive": active}, X_API_Key=key)
        return int(response.status)

    def follow(client: Any) -> int:
        return int(client.call("GET", f"/{capped['shortCode']}").status)

    stop = threading.Event()
    kinds = {"creating a link": create, "editing a link": edit, "a capped link": follow}
    threads = [
        threading.Thread(target=_repeat, args=(service.port, kind, work, figures, stop))
        for kind, work in kinds.items()
    ]
    with running(threads, stop):
        yield


def _repeat(
    port: int, kind: str, work: Callable[[Any], int], figures: Figures, stop: threading.Event
) -> None:
    with closing(Connection(port)) as client:
        while not stop.wait(PAUSE_SECONDS):
            started = time.perf_counter()
            status = work(client)
            if status in (200, 201, 302):
                figures.times[kind].append((time.perf_counter() - started) * 1000)
            else:
                figures.failures[kind] += 1


if __name__ == "__main__":
    main()
