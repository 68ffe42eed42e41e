"""Processes that stop in the middle of a transaction: one, all in the background, or a host, as a paused VM does."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from testing.service.frozen import audit, follow, frozen_in_a_transaction, host_frozen_in_transactions
from testing.service.hosts import two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, clicks_of, eventually

ALL = ["drain_clicks", "housekeeping", "follow_changes", "recheck_domains"]
# The database ends an idle transaction after 10 seconds; the machine may be busy. Without that limit, the delay would
# last until the process continues.
SECONDS = 120


@pytest.mark.parametrize("commands", [["drain_clicks"], ALL], ids=["the drainer", "all background processes"])
def test_a_frozen_transaction_delays_requests_for_seconds_and_loses_no_click(
    service: Service, api_key: str, commands: list[str]
) -> None:
    counted, deleted = service.create_link(api_key), service.create_link(api_key)
    capped = service.create_link(api_key, restrictions={"maxClicks": 100})
    for link in (counted, deleted):
        follow(service, link, 5)
        eventually(lambda link=link: clicks_of(service, api_key, link) == 5)

    with frozen_in_a_transaction(service, deleted, commands) as pids:
        started = time.monotonic()
        body = {"originalUrl": "https://example.com/made-meanwhile"}
        eventually(lambda: service.call("POST", "/api/urls", body, X_API_Key=api_key).status == 201)
        path = f"/api/urls/{counted['_id']}"
        eventually(lambda: service.call("PUT", path, {"isActive": False}, X_API_Key=api_key).status == 200)
        eventually(lambda: service.call("PUT", path, {"isActive": True}, X_API_Key=api_key).status == 200)
        eventually(
            lambda: service.call("DELETE", f"/api/urls/{deleted['_id']}", X_API_Key=api_key).status == 200
        )
        eventually(lambda: service.call("GET", f"/{capped['shortCode']}").status == 302)
        assert time.monotonic() - started < SECONDS
        follow(service, counted, 7)

    eventually(lambda: clicks_of(service, api_key, counted) == 12)
    assert clicks_of(service, api_key, capped) == 1
    assert [service.child(command) for command in commands] == pids
    assert audit(service) == "0 differences.\n"


def test_a_frozen_host_delays_the_others_for_seconds_and_loses_no_click(
    make_database: Callable[[], str],
) -> None:
    with two_hosts(make_database(), **LONG_TIMEOUTS) as (frozen, other):
        key = frozen.owner.api_key
        followed, edited, counted = (frozen.create_link(key) for _ in range(3))
        for host, link in ((frozen, followed), (other, counted)):
            follow(host, link, 5)
            eventually(lambda link=link: clicks_of(other, key, link) == 5)

        with host_frozen_in_transactions(frozen, key, followed, edited) as follows:
            started = time.monotonic()
            body = {"originalUrl": "https://example.com/made-meanwhile"}
            eventually(lambda: other.call("POST", "/api/urls", body, X_API_Key=key).status == 201)
            path = f"/api/urls/{edited['_id']}"
            eventually(lambda: other.call("PUT", path, {"isActive": False}, X_API_Key=key).status == 200)
            assert other.call("GET", f"/{edited['shortCode']}").status == 410
            follow(other, counted, 7)
            eventually(lambda: clicks_of(other, key, counted) == 12)
            assert time.monotonic() - started < SECONDS

        eventually(lambda: clicks_of(other, key, followed) == 5 + follows)
        eventually(frozen.is_healthy)
        follow(frozen, counted, 1)
        eventually(lambda: clicks_of(other, key, counted) == 13)
        assert audit(other) == "0 differences.\n"
