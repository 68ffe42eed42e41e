"""A program follows links of a running service: through the event loop, an API worker, and back on one connection."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Connection, eventually

pytestmark = pytest.mark.slow

DESTINATION = "https://example.com/page"


def test_a_program_opens_links_with_and_without_a_slash_and_a_password(
    make_database: Callable[[], str],
) -> None:
    with (
        one_host(make_database(), **LONG_TIMEOUTS) as service,
        closing(Connection(service.port)) as connection,
    ):
        key = service.owner.api_key
        plain, locked = (service.create_link(key, **fields) for fields in ({}, {"password": "open sesame"}))
        statuses = []
        for _ in range(3):
            for path in (f"/{plain['shortCode']}/", f"/{locked['shortCode']}/"):
                statuses.append(connection.call("GET", path).status)
            for password in ("wrong", "open sesame"):
                response = connection.call("POST", f"/{locked['shortCode']}", {"password": password})
                statuses.append(response.status)
                if response.status == 401:
                    assert response.json()["code"] == "password"
                else:
                    assert response.headers["Location"] == DESTINATION
        assert statuses == [302, 401, 401, 303] * 3

        def clicks() -> list[int]:
            read = (
                service.call("GET", f"/api/urls/{link['_id']}", X_API_Key=key) for link in (plain, locked)
            )
            return [response.json()["data"]["url"]["clickCount"] for response in read]

        eventually(lambda: clicks() == [3, 3])
