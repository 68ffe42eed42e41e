"""Warnings about the set-up in the log of a service with several workers: each is logged once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from redirects.request_guard import HOSTS
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Connection, Service

pytestmark = pytest.mark.slow

ROUNDS = 20


@pytest.fixture(scope="module")
def service(make_database: Callable[[], str]) -> Iterator[Service]:
    processes = {"WEB_CONCURRENCY": "2", "API_CONCURRENCY": "2"}
    with one_host(make_database(), BASE_URL="http://sho.rt", **processes, **LONG_TIMEOUTS) as started:
        yield started


def lines(service: Service, text: str) -> list[str]:
    return [line for line in service.stderr.splitlines() if text in line]


def test_an_unknown_host_is_one_line_a_minute_and_invented_ones_are_bounded(service: Service) -> None:
    began = time.monotonic()
    for _ in range(ROUNDS):
        with closing(Connection(service.port)) as connection:
            for path in ("/", "/spring", "/spring/", "/not/a/code", "/api/urls"):
                assert connection.call("GET", path, Host="unset.example").status == 404

    minutes = 1 + int((time.monotonic() - began) / 60)
    assert 1 <= len(lines(service, "Requests arrive for unset.example, which is neither")) <= minutes

    with closing(Connection(service.port)) as connection:
        for number in range(200):
            assert connection.call("GET", "/spring", Host=f"{number}.invented.example").status == 404

    minutes = 1 + int((time.monotonic() - began) / 60)
    assert 0 < len(lines(service, ".invented.example, which is neither")) <= minutes * HOSTS


def test_an_untrusted_proxy_is_one_line_an_hour(service: Service) -> None:
    code = service.create_link(service.owner.api_key)["shortCode"]
    for number in range(ROUNDS):
        with closing(Connection(service.port)) as connection:
            for path in (f"/{code}", "/nothing", "/api/urls"):
                connection.call("GET", path, Host="sho.rt", X_Forwarded_For=f"198.51.100.{number}")

    [line] = lines(service, "X-Forwarded-For")
    assert re.search(
        r" WARNING common\.host\.limited_warnings: X-Forwarded-For from a loopback address is ignored", line
    )
    assert "127.0.0.1" not in line
