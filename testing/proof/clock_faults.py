"""The database's clock goes 40 days ahead and comes back, while two hosts serve and count."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import psycopg

from testing.service.frozen import audit, follow
from testing.service.hosts import two_hosts
from testing.service.housekeeping import housekeeping_once
from testing.service.moved_clock import MovedClock
from testing.service.running import Service, clicks_of, eventually

AHEAD = timedelta(days=40)
CLICKS = 20


def ahead_and_back(database: str, folder: Path, *, with_hosts: bool) -> tuple[int, list[str]]:
    """The number of clicks, and what went wrong.

    ``with_hosts``: the clocks of all hosts move with the database's, so that nothing can tell that they are wrong.
    """
    clock = MovedClock(folder, database)
    moved = clock.environment if with_hosts else {}
    problems = []
    with two_hosts(database, **moved) as hosts:
        key = hosts[0].owner.api_key
        link = hosts[0].create_link(key)
        followed = 0

        def follow_and_count() -> None:
            nonlocal followed
            for host in hosts:
                follow(host, link, CLICKS)
                followed += CLICKS
            eventually(lambda: clicks_of(hosts[0], key, link) == followed)
            for host in hosts:
                _keep_house(host)

        follow_and_count()
        now = datetime.now(UTC)
        if with_hosts:
            clock.set(now + AHEAD)
        else:
            clock.move_database(AHEAD.total_seconds())
            eventually(lambda: _clock_part(hosts[0]).startswith("-"))
        follow_and_count()
        if with_hosts:
            clock.set(datetime.now(UTC))
        else:
            clock.move_database(0)
        follow_and_count()
        if (differences := audit(hosts[0])) != "0 differences.\n":
            problems.append(differences.strip())
        closed = _closed_day(database)
        if not with_hosts and closed > now.date():
            problems.append(f"days were closed up to {closed}")
        repaired = hosts[0].manage("audit_counters", "--repair").stdout.splitlines()
        if repaired[-1] != "0 differences." or (repaired[-2] == "0 repaired." and with_hosts):
            problems.append(f"after the repair: {repaired}")
        if (closed := _closed_day(database)) > now.date():
            problems.append(f"days are still closed up to {closed}")
        follow_and_count()
        if (differences := audit(hosts[0])) != "0 differences.\n":
            problems.append(f"after the repair: {differences.strip()}")
    return followed, problems


def _keep_house(host: Service) -> None:
    done = housekeeping_once(host.environment)
    if done.returncode:
        raise RuntimeError(done.stderr)


def _clock_part(host: Service) -> str:
    part: str = host.call_internal("/readyz").json()["clock"]
    return part


def _closed_day(database: str) -> date:
    with psycopg.connect(database) as connection:
        [(day,)] = connection.execute("SELECT day FROM analytics_closedday").fetchall()
    assert isinstance(day, date)
    return day
