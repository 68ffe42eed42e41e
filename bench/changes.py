"""python -m bench.changes [--rounds N] [--outage SECONDS]: stale redirects after a change, and redirects without the
database.

Two hosts share a database; each has two redirect workers. After each change through the API of host A, every worker of
A gets a request immediately, and none may return the old response. Meanwhile the workers of B get requests until they
know the change, and the bench prints how long that takes. Then the database is unreachable for a while under load:
cached links must redirect, unknown links must get 503, and afterwards everything must work again.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from bench.harness.running import installation
from bench.harness.stack import service_folder
from local_postgres import EmbeddedPostgres
from testing.service.clients.memory import CHANGES, UNCHANGED, expected, status_and_location, without
from testing.service.clients.visitors import Visitors
from testing.service.hosts import one_to_each_worker
from testing.service.running import eventually

WORKERS = 2
DESTINATION = "https://example.com/page"
SECRET_KEY = "shortener-" + "s" * 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--outage", type=int, default=60)
    options = parser.parse_args()
    with service_folder() as folder, ExitStack() as stack:
        concurrency = {"WEB_CONCURRENCY": str(WORKERS), "API_CONCURRENCY": "1", "SECRET_KEY": SECRET_KEY}
        here = stack.enter_context(installation(folder, **concurrency))
        url = EmbeddedPostgres(here.var_dir).url
        (folder / "other/service").mkdir(parents=True)
        there = stack.enter_context(installation(folder / "other", DATABASE_URL=url, **concurrency))
        connections = [one_to_each_worker(service, stack) for service in (here, there)]
        failed = _changes(here, *connections, options.rounds) + _outage(
            here, url, connections[0], options.outage
        )
    sys.exit(failed > 0)


def _changes(here: Any, near: list[Any], far: list[Any], rounds: int) -> int:
    key = here.owner.api_key
    link = here.create_link(key)
    draw = random.Random(20261121)
    fields = dict(UNCHANGED)
    stale, delays = 0, []

    def all_know(response: tuple[int, str | None]) -> float:
        """The time when the last worker of the other host knew the change, in seconds of the monotonic clock."""
        for connection in far:
            while status_and_location(connection, link["shortCode"]) != response:
                pass
        return max(connection.responded_at for connection in far)

    with ThreadPoolExecutor(1) as beside:
        for _ in range(rounds):
            change = draw.choice(CHANGES)
            fields |= change
            for connection in (*near, *far):
                connection.return_to_worker()
            assert here.call("PUT", f"/api/urls/{link['_id']}", change, X_API_Key=key).status == 200
            changed_at = time.monotonic()
            response = expected(fields, DESTINATION)
            known = beside.submit(all_know, response)
            stale += sum(
                status_and_location(connection, link["shortCode"]) != response for connection in near
            )
            delays.append((known.result() - changed_at) * 1000)
    print(
        f"{rounds} changes, {WORKERS} workers a host: {stale} stale responses on the same host; on the other the last"
        f" worker knew after {statistics.median(delays):.1f} ms (median), {max(delays):.1f} ms at most"
    )
    return stale


def _outage(here: Any, url: str, connections: list[Any], seconds: int) -> int:
    key = here.owner.api_key
    links = [here.create_link(key) for _ in range(100)]
    unseen, codes = links.pop()["shortCode"], [link["shortCode"] for link in links]
    for code in codes:
        assert [status_and_location(connection, code)[0] for connection in connections] == [302] * WORKERS
    with Visitors(here.port, codes, DESTINATION).running() as visitors:
        with without(url):
            wrong, until = 0, time.monotonic() + seconds
            while time.monotonic() < until:
                wrong += any(status_and_location(connection, unseen)[0] != 503 for connection in connections)
                time.sleep(0.5)
        back = time.monotonic()
        eventually(lambda: status_and_location(connections[0], unseen)[0] == 302)
        resumed = time.monotonic() - back
        change = {"isActive": False}
        eventually(
            lambda: here.call("PUT", f"/api/urls/{links[0]['_id']}", change, X_API_Key=key).status == 200
        )
        wrong += any(status_and_location(connection, codes[0])[0] != 410 for connection in connections)
    # The refusals of the link that was switched off are no failures.
    failures = [failure for failure in visitors.failures if not failure.startswith("410")]
    print(
        f"database unreachable for {seconds} s: {visitors.followed:,} cached links followed, {len(failures)} failures;"
        f" {wrong} wrong responses for an unknown one; normal again after {resumed:.2f} s"
    )
    print(*failures[:20], sep="\n")
    return wrong + len(failures)


if __name__ == "__main__":
    main()
