"""Two hosts reach their database through PgBouncer in session mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, eventually
from tests.deploy.pgbouncer import pgbouncer

pytestmark = pytest.mark.slow


@pytest.fixture
def hosts(make_database: Callable[[], str], make_service: Callable[..., Service]) -> Iterator[list[Service]]:
    with pgbouncer(make_database(), mode="session") as url:
        hosts = [make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS) for _ in range(2)]
        # Started at the same time: one prepares the database while the other waits for the lock.
        for host in hosts:
            host.launch()
        for host in hosts:
            eventually(host.is_healthy)
        yield hosts


def test_in_session_mode_links_are_created_limited_counted_and_switched_off(hosts: list[Service]) -> None:
    (owner,) = [host.owner for host in hosts if (host.var_dir / "first_account.txt").exists()]
    here, there = hosts
    link = here.create_link(owner.api_key)
    limited = there.create_link(owner.api_key, restrictions={"maxClicks": 7})

    def follow(host: Service) -> list[int]:
        return [host.call("GET", f"/{limited['shortCode']}").status for _ in range(10)]

    with ThreadPoolExecutor(len(hosts)) as pool:
        statuses = Counter(status for statuses in pool.map(follow, hosts) for status in statuses)
    assert statuses == {302: 7, 410: 13}

    for host in hosts:
        assert [host.call("GET", f"/{link['shortCode']}").status for _ in range(5)] == [302] * 5
    path = f"/api/urls/{link['_id']}"
    read = {"X_API_Key": owner.api_key}
    eventually(lambda: there.call("GET", path, **read).json()["data"]["url"]["clickCount"] == 10)
    assert here.call("PUT", path, {"isActive": False}, **read).status == 200
    assert here.call("GET", f"/{link['shortCode']}").status == 410
    eventually(lambda: there.call("GET", f"/{link['shortCode']}").status == 410)
    kept = (
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with psycopg.connect(here.environment["DATABASE_URL"], autocommit=True) as connection:
        # A background process may hold one for a moment.
        eventually(lambda: connection.execute(kept).fetchone() == (0,))
