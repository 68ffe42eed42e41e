"""Loss of the primary or of the standby. Every acknowledged write exists exactly once, and nothing else hangs."""

from __future__ import annotations

import time

import psycopg

from bench.faults.result import Result
from testing.service.clients.creators import Creator
from testing.service.hosts import one_host
from testing.service.postgresql.standbys import primary_and_standby
from testing.service.running import Connection

DESTINATION = "https://example.com/page"
WAITING = 12


def standby_takes_over() -> Result:
    with primary_and_standby() as pair, one_host(pair.url) as host:
        pair.wait_for_standby()
        with Creator(host, host.owner.api_key).running() as creator:
            creator.create_more(30)
            pair.kill_primary()
            lost_at = time.monotonic()
            pair.promote()
            creator.create_more(1)
            resumed = time.monotonic() - lost_at
            creator.create_more(30)
        with psycopg.connect(pair.standby.url) as database:
            rows = database.execute("SELECT original_url, short_code FROM links_link").fetchall()
    links = dict(rows)
    problems = [f"{url} is lost" for url, code in creator.acknowledged.items() if links.get(url) != code]
    if len(rows) != len(links):
        problems.append(f"{len(rows) - len(links)} links were created twice")
    return Result(
        f"synchronous standby promoted: {len(creator.acknowledged)} creations acknowledged, writes again after"
        f" {resumed:.1f} s",
        problems,
    )


def standby_lost() -> Result:
    problems = []
    with primary_and_standby() as pair, one_host(pair.url) as host:
        key = host.owner.api_key
        code = host.create_link(key)["shortCode"]
        assert host.call("GET", f"/{code}").status == 302
        pair.wait_for_standby()
        pair.stop_standby()
        waiting = [Connection(host.port) for _ in range(WAITING)]
        started = time.monotonic()
        for connection in waiting:
            connection.send_request("POST", "/api/urls", {"originalUrl": DESTINATION}, X_API_Key=key)
        for path, status in (("/healthz", 200), (f"/{code}", 302)):
            if (actual := host.call("GET", path).status) != status:
                problems.append(f"{path} returned {actual}")
        statuses = [connection.receive().status for connection in waiting]
        took = time.monotonic() - started
        problems += [f"a creation got {status}" for status in statuses if status != 503]
        for connection in waiting:
            connection.close()
    return Result(
        f"synchronous standby lost: {WAITING} creations got a response within {took:.1f} s", problems
    )
