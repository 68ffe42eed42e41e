"""A start, an end, a period and a schedule take effect on every worker of two hosts within a second, also when
daylight-saving time starts or ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from testing.service.clients.memory import status_and_location
from testing.service.hosts import WorkerConnection, one_to_each_worker, two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.moved_clock import MovedClock
from testing.service.running import Service

pytestmark = pytest.mark.slow

WORKERS = 2
BERLIN = ZoneInfo("Europe/Berlin")
# At 02:00 of the wall clock it becomes 03:00, and at 03:00 it becomes 02:00 again.
SUMMER = datetime(2027, 3, 28, 1, tzinfo=UTC)
WINTER = datetime(2027, 10, 31, 1, tzinfo=UTC)
HALF_AN_HOUR = timedelta(minutes=30)
# Every worker caches the links this long before the boundary. Then the clock is set to shortly before it.
EARLIER, SHORTLY = timedelta(minutes=10), timedelta(seconds=4)
# When the visitors of all workers follow all links, in seconds after the boundary.
VISITS = (-2, -0.1, 1)
TARGET, OTHER = "https://example.com/page", "https://example.com/other"

Seen = tuple[int, str | None]
STAYS, MATCHES = (302, TARGET), (302, OTHER)


class Boundary(NamedTuple):
    """``schedules``: times of the wall clock, and what visitors see before and after the moment."""

    moment: datetime
    schedules: dict[tuple[str, str], tuple[Seen, Seen]]


BOUNDARIES = [
    Boundary(
        SUMMER,
        {
            ("03:00", "05:00"): (STAYS, MATCHES),
            ("02:30", "04:00"): (STAYS, MATCHES),
            ("01:00", "02:00"): (MATCHES, STAYS),
            ("01:00", "02:30"): (MATCHES, STAYS),
            ("02:00", "02:59"): (STAYS, STAYS),
            ("01:00", "05:00"): (MATCHES, MATCHES),
        },
    ),
    Boundary(
        SUMMER + HALF_AN_HOUR,
        {
            ("03:30", "05:00"): (STAYS, MATCHES),
            ("01:00", "03:30"): (MATCHES, STAYS),
            ("04:30", "05:00"): (STAYS, STAYS),
        },
    ),
    Boundary(
        WINTER,
        {
            ("02:00", "02:30"): (STAYS, MATCHES),
            ("02:30", "03:00"): (MATCHES, STAYS),
            ("03:00", "04:00"): (STAYS, STAYS),
            ("01:00", "05:00"): (MATCHES, MATCHES),
        },
    ),
    Boundary(
        WINTER + HALF_AN_HOUR,
        {
            ("02:30", "04:00"): (STAYS, MATCHES),
            ("02:00", "02:30"): (MATCHES, STAYS),
            ("03:30", "04:00"): (STAYS, STAYS),
        },
    ),
]


def test_boundaries_take_effect_within_a_second_on_every_worker_of_two_hosts(
    make_database: Callable[[], str], tmp_path: Path
) -> None:
    database = make_database()
    clock = MovedClock(tmp_path, database)
    clock.set(BOUNDARIES[0].moment - EARLIER)
    concurrency = {"WEB_CONCURRENCY": str(WORKERS), "API_CONCURRENCY": "1"}
    with (
        two_hosts(database, **concurrency, **clock.environment, **LONG_TIMEOUTS) as hosts,
        ExitStack() as opened,
    ):
        connections = [connection for host in hosts for connection in one_to_each_worker(host, opened)]
        for boundary in BOUNDARIES:
            clock.set(boundary.moment - EARLIER)
            links = create_links(hosts[0], boundary)
            for code, (before, _), answer in answers(connections, links):
                assert answer == before, (boundary.moment, code)
            pass_boundary(clock, boundary.moment, connections, links)


def pass_boundary(
    clock: MovedClock, boundary: datetime, connections: list[WorkerConnection], links: Links
) -> None:
    """Assert that all workers answer as before it until the boundary, and as after it from a second later."""
    moment = boundary.timestamp() - clock.set(boundary - SHORTLY)
    for seconds in VISITS:
        time.sleep(max(0, moment + seconds - time.time()))
        for code, (before, after), answer in answers(connections, links):
            if seconds > 0:
                assert answer == after, (boundary, code)
            elif time.time() < moment:
                assert answer == before, (boundary, code)


Links = dict[str, tuple[Seen, Seen]]


def answers(
    connections: list[WorkerConnection], links: Links
) -> Iterator[tuple[str, tuple[Seen, Seen], Seen]]:
    """Follow every link on every worker. Yield the code, what visitors see before and after, and the answer."""
    for connection in connections:
        for code, expected in links.items():
            yield code, expected, status_and_location(connection, code)


def create_links(host: Service, boundary: Boundary) -> Links:
    """Return what visitors of each link see before and after the boundary, by code."""
    # In the wall clock's offset, as an owner in Berlin would write it.
    text = boundary.moment.astimezone(BERLIN).isoformat()
    day = f"{boundary.moment.astimezone(BERLIN):%a}".lower()
    capped = {"restrictions": {"maxClicks": 1_000_000}}
    links: list[tuple[dict[str, Any], Seen, Seen]] = [
        ({"startsAt": text}, (404, None), STAYS),
        ({"startsAt": text, "notStartedUrl": OTHER}, MATCHES, STAYS),
        ({"startsAt": text, **capped}, (404, None), STAYS),
        ({"expiresAt": text}, STAYS, (410, None)),
        ({"expiresAt": text, "expiredUrl": OTHER}, STAYS, MATCHES),
        ({"expiresAt": text, **capped}, STAYS, (410, None)),
        (rule("time", {"from": text}), STAYS, MATCHES),
        (rule("time", {"until": text}), MATCHES, STAYS),
    ]
    for (since, until), (before, after) in boundary.schedules.items():
        schedule = {"days": [day], "from": since, "until": until, "timezone": BERLIN.key}
        links.append((rule("schedule", schedule), before, after))
    key = host.owner.api_key
    return {
        host.create_link(key, originalUrl=TARGET, **fields)["shortCode"]: (before, after)
        for fields, before, after in links
    }


def rule(kind: str, value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a link with a rule that depends on the time, and one that depends on the visitor."""
    conditions = [{"type": kind, "values": [value]}]
    mobile = [{"type": "device", "values": ["mobile"]}]
    return {
        "rules": [
            {"name": "Mobile", "url": OTHER, "conditions": mobile},
            {"name": "Time", "url": OTHER, "conditions": conditions},
        ]
    }
