"""What the log of a running service has instead of a line for each request of an outage."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing

import pytest

from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Connection, Service, eventually

pytestmark = pytest.mark.slow

REQUESTS = 300


def counted(service: Service, beginning: str) -> tuple[int, int]:
    """How many lines begin like this, and how many events they stand for."""
    # Other processes may write tracebacks.
    lines = [json.loads(line) for line in service.stderr.splitlines() if line.startswith("{")]
    counts = [line.get("count", 1) for line in lines if line["message"].startswith(beginning)]
    return len(counts), sum(counts)


def request(service: Service, path: str) -> set[int]:
    with closing(Connection(service.port)) as connection:
        return {connection.call("GET", path).status for _ in range(REQUESTS)}


def test_unavailable_responses_are_counted(make_service: Callable[..., Service]) -> None:
    unreachable = "postgres://nobody@127.0.0.1:1/none"
    service = make_service(DATABASE_URL=unreachable, SECRET_KEY=SECRET_KEY, LOG_FORMAT="json")
    service.launch()
    eventually(lambda: service.has_all_workers() if "Waiting for the database" in service.stderr else False)
    assert request(service, "/unknown") == {503}
    line = "Service Unavailable: /unknown"
    eventually(lambda: counted(service, line)[1] == REQUESTS)
    assert counted(service, line)[0] < REQUESTS / 3


def test_clicks_that_the_journal_does_not_take_are_counted(
    make_service: Callable[..., Service], make_database: Callable[[], str]
) -> None:
    service = make_service(
        DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY, LOG_FORMAT="json", **LONG_TIMEOUTS
    )
    service.start()
    link = service.create_link(service.owner.api_key)
    service.stop()
    # Nothing can be created in a file.
    journal = service.var_dir / "clicks"
    shutil.rmtree(journal)
    journal.touch()
    service.start()
    assert request(service, f"/{link['shortCode']}") == {302}
    line = "Write to the click journal failed; storing the click in the database"
    eventually(lambda: counted(service, line)[1] == REQUESTS)
    assert counted(service, line)[0] < REQUESTS / 3
