"""X-Forwarded-For from a local address that is not trusted: one warning an hour, and a line in the admin."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from common.host.limited_warnings import untrusted_proxy_addresses
from common.http.client_address import INTERNAL
from testing.accounts.admin import Operator
from testing.redirects.visits import request, visit
from tests.redirects.lanes.untrusted import FORWARDED
from tests.redirects.lanes.untrusted import separate_file as separate_file
from tests.redirects.lanes.untrusted import warned as warned

MakeLink = Callable[..., dict[str, Any]]

LOCAL = [
    "127.0.0.1",
    "::1",
    "10.0.0.7",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "fd00::7",
    "::ffff:10.0.0.9",
]
REMOTE = ["203.0.113.9", "8.8.8.8", "172.32.0.1", "2001:db8::9", "169.254.0.1", "nonsense"]


def by_following(make_link: MakeLink) -> Callable[[str, str | None], None]:
    path = f"/{make_link()['shortCode']}"

    def follow(peer: str, forwarded: str | None) -> None:
        visit(request(path, {"X-Forwarded-For": forwarded}), peer, in_lane=True)

    return follow


def through_django(make_link: MakeLink) -> Callable[[str, str | None], None]:
    visitor = Client(headers={"host": "sho.rt"})

    def call(peer: str, forwarded: str | None) -> None:
        headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
        assert visitor.get("/api/urls", headers=headers, REMOTE_ADDR=peer).status_code == 401

    return call


@pytest.fixture(params=[by_following, through_django])
def send(request: pytest.FixtureRequest, make_link: MakeLink) -> Callable[[str, str | None], None]:
    """Send a request from a peer, with or without the header."""
    send_request: Callable[[str, str | None], None] = request.param(make_link)
    return send_request


@pytest.mark.parametrize("peer", LOCAL)
def test_a_local_address_that_is_not_trusted_is_reported(
    send: Callable[[str, str | None], None], warned: Callable[[], list[str]], peer: str
) -> None:
    send(peer, FORWARDED)

    [message] = warned()
    kind = "loopback" if peer in ("127.0.0.1", "::1") else "private"
    assert message.startswith(f"X-Forwarded-For from a {kind} address is ignored, because")
    assert peer not in message


def test_the_log_names_the_address_only_if_it_may_contain_addresses(
    send: Callable[[str, str | None], None], warned: Callable[[], list[str]], settings: Settings
) -> None:
    settings.LOG_ADDRESSES = True
    send("::ffff:10.0.0.7", FORWARDED)

    [message] = warned()
    assert message.startswith("X-Forwarded-For from 10.0.0.7 is ignored, because")


@pytest.mark.parametrize("peer", REMOTE)
def test_other_addresses_are_not_reported(
    send: Callable[[str, str | None], None], warned: Callable[[], list[str]], peer: str
) -> None:
    send(peer, FORWARDED)

    assert warned() == []


@pytest.mark.parametrize("forwarded", [None, ""])
def test_without_the_header_nothing_is_reported(
    send: Callable[[str, str | None], None], warned: Callable[[], list[str]], forwarded: str | None
) -> None:
    send("10.0.0.7", forwarded)

    assert warned() == []


@pytest.mark.parametrize("log_addresses", [False, True])
def test_a_unix_socket_is_reported_until_any_proxy_is_trusted(
    send: Callable[[str, str | None], None],
    warned: Callable[[], list[str]],
    operator: Operator,
    settings: Settings,
    *,
    log_addresses: bool,
) -> None:
    settings.LOG_ADDRESSES = log_addresses
    for _ in range(2):
        send("", FORWARDED)

    [message] = warned()
    assert message.startswith("X-Forwarded-For from a Unix socket is ignored, because")
    [line] = problems(operator)
    assert line.startswith("X-Forwarded-For from a Unix socket is ignored, because")

    settings.TRUSTED_PROXIES = [ip_network("127.0.0.0/8")]
    assert problems(operator) == []


def test_a_trusted_unix_socket_is_not_reported(
    send: Callable[[str, str | None], None], warned: Callable[[], list[str]], settings: Settings
) -> None:
    settings.TRUSTED_PROXIES = [ip_network("127.0.0.0/8")]
    send("", FORWARDED)
    assert warned() == []


def test_trusted_proxies_are_not_reported(
    send: Callable[[str, str | None], None], warned: Callable[[], list[str]], settings: Settings
) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/24")]
    send("10.0.0.7", FORWARDED)
    assert warned() == []

    send("10.0.1.7", FORWARDED)
    assert len(warned()) == 1


def test_an_address_is_reported_once_an_hour(
    send: Callable[[str, str | None], None], warned: Callable[[], list[str]]
) -> None:
    with time_machine.travel("2030-01-01T12:00:00Z", tick=False) as clock:
        counts = []
        for number, minutes in enumerate((0, 1, 58, 1, 59, 1)):
            clock.shift(minutes * 60)
            send("10.0.0.7", f"198.51.100.{number}")
            counts.append(len(warned()))

    assert counts == [1, 1, 1, 2, 2, 3]


def test_both_share_the_warnings(make_link: MakeLink, warned: Callable[[], list[str]]) -> None:
    by_following(make_link)("10.0.0.7", FORWARDED)
    through_django(make_link)("10.0.0.7", FORWARDED)

    assert len(warned()) == 1


def test_the_internal_listener_reports_nothing(warned: Callable[[], list[str]]) -> None:
    Client().get(
        "/metrics", headers={"x-forwarded-for": FORWARDED}, REMOTE_ADDR="10.0.0.7", **{INTERNAL: True}
    )

    assert warned() == []


def problems(operator: Operator) -> list[str]:
    page = operator.see("")
    problems_shown: list[str] = page.context["problems"]
    assert all(problem in page.content.decode() for problem in problems_shown)
    return problems_shown


def test_an_address_is_shown_for_an_hour(send: Callable[[str, str | None], None]) -> None:
    with time_machine.travel("2030-01-01T12:00:00Z", tick=False) as clock:
        send("10.0.0.7", FORWARDED)
        clock.shift(3599)
        assert untrusted_proxy_addresses() == ["10.0.0.7"]
        clock.shift(1)
        assert untrusted_proxy_addresses() == []


def test_the_front_page_of_the_admin_names_the_address_until_it_is_trusted(
    send: Callable[[str, str | None], None], operator: Operator, settings: Settings
) -> None:
    assert problems(operator) == []
    send("10.0.0.7", FORWARDED)
    [line] = problems(operator)
    assert line.startswith(
        "X-Forwarded-For from 10.0.0.7 is ignored, because the address is not in TRUSTED_PROXIES"
    )

    settings.TRUSTED_PROXIES = [ip_network("10.0.0.7/32")]

    assert problems(operator) == []


def test_a_stranger_does_not_see_the_line(api: APIClient, make_link: MakeLink) -> None:
    through_django(make_link)("10.0.0.7", FORWARDED)

    for path in ("/admin/", "/", "/readyz"):
        assert b"10.0.0.7" not in api.get(path, headers={"host": "sho.rt"}).content
