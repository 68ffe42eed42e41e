"""Loss of the primary or of the standby, and two primaries. Every acknowledged write exists exactly once, and nothing
else hangs.
"""

from __future__ import annotations

import time
from contextlib import closing

import psycopg

from bench.faults.result import Result
from testing.service.clients.creators import Creator
from testing.service.hosts import one_host, two_hosts
from testing.service.postgresql.standbys import primary_and_standby
from testing.service.running import Connection, Service, eventually

DESTINATION = "https://example.com/page"
WAITING = 12
EDITS, VISITS, KEYS = 100, 20, 10


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


def split_brain() -> Result:
    """The former primary lives on and is the first of the URL."""
    problems: list[str] = []
    with primary_and_standby() as pair, two_hosts(pair.url) as hosts:
        here, there = hosts
        key = here.owner.api_key
        link = here.create_link(key)
        path, code = f"/api/urls/{link['_id']}", link["shortCode"]
        pair.wait_for_standby()
        for host in hosts:
            assert host.call("GET", f"/{code}").status == 302
        pair.promote()
        promoted_at, is_noticed, slowest = time.monotonic(), 0.0, 0.0
        for number in range(EDITS):
            host, other = (here, there) if number % 2 else (there, here)
            destination = f"https://example.com/{number}"
            eventually(lambda: _edit(host, path, destination, key))  # noqa: B023 # called at once
            acknowledged_at = time.monotonic()
            is_noticed = is_noticed or acknowledged_at - promoted_at
            problems += _wrong(host, code, destination)
            eventually(lambda: not _wrong(other, code, destination, visits=1))  # noqa: B023 # called at once
            slowest = max(slowest, time.monotonic() - acknowledged_at)
        credentials = {"email": here.owner.email, "password": here.owner.password}
        token = here.call("POST", "/api/auth/login", credentials).json()["token"]
        for number in range(KEYS):
            host = hosts[number % 2]
            rotated = host.call("POST", "/api/auth/regenerate-api-key", Authorization=f"Bearer {token}")
            for each in hosts:
                if (status := each.call("GET", path, X_API_Key=key).status) != 401:
                    problems.append(f"a revoked key got {status}")
            key = rotated.json()["apiKey"]
        for host in hosts:
            eventually(host.is_ready)
        with psycopg.connect(pair.primary.url) as database:
            on_former = database.execute(
                "SELECT count(*) FROM links_link WHERE target_url IS NOT NULL"
            ).fetchone()
        if on_former != (0,):
            problems.append("an acknowledged edit is on the former primary")
    return Result(
        f"two primaries and two hosts: edits again after {is_noticed:.1f} s, {EDITS} edits acknowledged,"
        f" {EDITS * VISITS:,} visits of the same host after them, the other host followed within {slowest:.1f} s,"
        f" {KEYS} keys revoked",
        problems,
    )


def _edit(host: Service, path: str, destination: str, key: str) -> bool:
    return host.call("PUT", path, {"targetUrl": destination}, X_API_Key=key).status == 200


def _wrong(host: Service, code: str, destination: str, *, visits: int = VISITS) -> list[str]:
    """The visits of the link that do not lead to this destination."""
    with closing(Connection(host.port)) as visitor:
        locations = [visitor.call("GET", f"/{code}").headers["Location"] for _ in range(visits)]
    return [f"{location} after {destination}" for location in locations if location != destination]
