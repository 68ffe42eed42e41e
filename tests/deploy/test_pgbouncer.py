"""Two hosts that reach their database through PgBouncer, a connection of its own for each of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from threading import Thread

import psycopg
import pytest

from tests.deploy.pgbouncer import pgbouncer
from tests.service.hosts import SECRET_KEY
from tests.service.running import Service, eventually

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def hosts(make_database: Callable[[], str], make_service: Callable[..., Service]) -> Iterator[list[Service]]:
    with pgbouncer(make_database(), mode="session") as url:
        hosts = [make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY) for _ in range(2)]
        # At once: one of them prepares the database while the other waits for its lock.
        for host in hosts:
            host.launch()
        for host in hosts:
            eventually(host.is_well)
        yield hosts


def test_in_session_mode_links_are_made_limited_counted_and_switched_off(hosts: list[Service]) -> None:
    (owner,) = [host.owner for host in hosts if "e-mail" in host.stdout]
    here, there = hosts
    link = here.create_link(owner.api_key)
    limited = there.create_link(owner.api_key, restrictions={"maxClicks": 7})
    answers: Counter[int] = Counter()

    def follow(host: Service) -> None:
        for _ in range(10):
            answers[host.ask("GET", f"/{limited['shortCode']}").status] += 1

    threads = [Thread(target=follow, args=[host]) for host in hosts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {302: 7, 410: 13}

    for host in hosts:
        assert [host.ask("GET", f"/{link['shortCode']}").status for _ in range(5)] == [302] * 5
    path = f"/api/urls/{link['_id']}"
    read = {"X_API_Key": owner.api_key}
    eventually(lambda: there.ask("GET", path, **read).json()["data"]["url"]["clickCount"] == 10)
    assert here.ask("PUT", path, {"isActive": False}, **read).status == 200
    assert here.ask("GET", f"/{link['shortCode']}").status == 410
    eventually(lambda: there.ask("GET", f"/{link['shortCode']}").status == 410)
    with psycopg.connect(here.environment["DATABASE_URL"]) as connection:
        kept = connection.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        ).fetchone()
    assert kept == (0,)
