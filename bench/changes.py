"""python -m bench.changes [--rounds N] [--outage SECONDS]: whether anybody is sent where a link led before.

Two hosts on one database, each with two workers that redirect. After each change that host A's API has answered,
every worker of A is asked at once, and none may answer as before; meanwhile those of B, until they know, and how long
that takes is told. Then nobody can reach the database for a while, under visitors: known links are followed, unknown
ones answer 503, and when it is back, all is as it should be.
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

from bench.stack import home

WORKERS = 2
DESTINATION = "https://example.com/page"
SECRET_KEY = "s" * 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--outage", type=int, default=60)
    given = parser.parse_args()
    with home() as folder, ExitStack() as stack:
        # They read the settings.
        from bench.running import installation  # noqa: PLC0415
        from shortener_project.embedded_postgres import EmbeddedPostgres  # noqa: PLC0415
        from tests.service.hosts import one_to_each_worker  # noqa: PLC0415

        concurrency = {"WEB_CONCURRENCY": str(WORKERS), "API_CONCURRENCY": "1", "SECRET_KEY": SECRET_KEY}
        here = stack.enter_context(installation(folder, **concurrency))
        url = EmbeddedPostgres(here.var_dir).url
        (folder / "other/service").mkdir(parents=True)
        there = stack.enter_context(installation(folder / "other", DATABASE_URL=url, **concurrency))
        doors = [one_to_each_worker(service, stack) for service in (here, there)]
        failed = _changes(here, *doors, given.rounds) + _outage(here, url, doors[0], given.outage)
    sys.exit(failed > 0)


def _changes(here: Any, near: list[Any], far: list[Any], rounds: int) -> int:
    from tests.service.memory import CHANGES, expected_status, seen  # noqa: PLC0415

    key = here.owner.api_key
    link = here.create_link(key)
    draw = random.Random(20261121)
    fields: dict[str, Any] = {"isActive": True, "expiresAt": None, "password": None, "redirectType": 302}
    stale, delays = 0, []

    def all_know(expected: int) -> float:
        """When the last of the far workers did, in seconds of the monotonic clock."""
        for door in far:
            while seen(door, link["shortCode"])[0] != expected:
                pass
        return max(door.answered_at for door in far)

    with ThreadPoolExecutor(1) as beside:
        for _ in range(rounds):
            change = draw.choice(CHANGES)
            fields |= change
            for door in (*near, *far):
                door.go_home()
            assert here.ask("PUT", f"/api/urls/{link['_id']}", change, X_API_Key=key).status == 200
            answered = time.monotonic()
            expected = expected_status(fields)
            known = beside.submit(all_know, expected)
            stale += sum(seen(door, link["shortCode"])[0] != expected for door in near)
            delays.append((known.result() - answered) * 1000)
    print(
        f"{rounds} changes, {WORKERS} workers a host: {stale} stale answers on the same host; on the other the last"
        f" worker knew after {statistics.median(delays):.1f} ms (median), {max(delays):.1f} ms at most"
    )
    return stale


def _outage(here: Any, url: str, doors: list[Any], seconds: int) -> int:
    from tests.service.memory import seen, without  # noqa: PLC0415
    from tests.service.running import eventually  # noqa: PLC0415
    from tests.service.visitors import Visitors  # noqa: PLC0415

    key = here.owner.api_key
    links = [here.create_link(key) for _ in range(100)]
    unseen, codes = links.pop()["shortCode"], [link["shortCode"] for link in links]
    for code in codes:
        assert [seen(door, code)[0] for door in doors] == [302] * WORKERS
    with Visitors(here.port, codes, DESTINATION).at_work() as visitors:
        with without(url):
            wrong, until = 0, time.monotonic() + seconds
            while time.monotonic() < until:
                wrong += any(seen(door, unseen)[0] != 503 for door in doors)
                time.sleep(0.5)
        back = time.monotonic()
        eventually(lambda: seen(doors[0], unseen)[0] == 302)
        resumed = time.monotonic() - back
        change = {"isActive": False}
        eventually(
            lambda: here.ask("PUT", f"/api/urls/{links[0]['_id']}", change, X_API_Key=key).status == 200
        )
        wrong += any(seen(door, codes[0])[0] != 410 for door in doors)
    # The link that was switched off at the end is no failure.
    failures = [each for each in visitors.failures if not each.startswith("410")]
    print(
        f"database gone for {seconds} s: {visitors.followed:,} known links followed, {len(failures)} failures;"
        f" {wrong} wrong answers for an unknown one; resumed after {resumed:.2f} s"
    )
    print(*failures[:20], sep="\n")
    return wrong + len(failures)


if __name__ == "__main__":
    main()
