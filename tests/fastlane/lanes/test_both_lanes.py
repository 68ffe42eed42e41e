"""Both lanes agree: stock gunicorn and the Django view send the same response as the fast lane."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from testing.cases import for_each
from testing.fastlane.lanes import fast, health_check
from testing.redirects.following import CUSTOM_HOST
from testing.redirects.visits import CLIENT, django, request
from testing.visitors.addresses import AMERICAN, BRITISH
from testing.visitors.agents import FIREFOX
from tests.fastlane.lanes.links_of_lanes import OTHER_LINKS, PLAIN_LINKS, PROXY, check_same, path_of

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@for_each("fields", PLAIN_LINKS.values(), ids=PLAIN_LINKS)
def test_plain_links_have_the_same_response_and_record_in_both_lanes(
    make_link: MakeLink, fields: dict[str, Any], method: str
) -> None:
    link = make_link(**fields)

    check_same(request(path_of(link), method=method), AMERICAN)


@pytest.mark.parametrize("fields", OTHER_LINKS.values(), ids=OTHER_LINKS)
def test_the_fast_lane_declines_restricted_links(make_link: MakeLink, fields: dict[str, Any]) -> None:
    link = make_link(**fields)

    assert fast(request(path_of(link)), AMERICAN) is None


@pytest.mark.parametrize(
    "forwarded",
    [
        AMERICAN,
        f"{AMERICAN}, {PROXY}",
        f"{BRITISH}, {AMERICAN}",
        f" {AMERICAN} ",
        f"{AMERICAN}:4711",
        "[2001:db8::5]:80",
        "2001:DB8::5",
        "nonsense",
        "",
        f"nonsense, {AMERICAN}",
        PROXY,
    ],
)
def test_the_visitor_behind_a_trusted_proxy_is_the_same_in_both_lanes(
    make_link: MakeLink, settings: Settings, forwarded: str
) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    link = make_link(restrictions={"allowedCountries": ["US"]})
    plain = make_link()

    for client in (PROXY, CLIENT):
        data = request(path_of(plain), {"X-Forwarded-For": forwarded, "X-Forwarded-Proto": "https"})
        check_same(data, client)
    data = request(path_of(link), {"X-Forwarded-For": forwarded})
    by_fast_lane = fast(data, PROXY)
    assert by_fast_lane is not None
    assert by_fast_lane == django(data, PROXY)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"Connection": "close"},
        {"Host": "127.0.0.1:8000"},
        {"Host": "SHO.RT."},
        {"X-Forwarded-Proto": "https"},
        {"User-Agent": None},
    ],
)
@pytest.mark.parametrize("query", ["", "?probe=1"])
def test_healthz_has_the_same_response_from_event_loop_and_view(
    settings: Settings, method: str, changed: dict[str, str | None], query: str
) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    settings.SECURE_HSTS_SECONDS = 1000
    for client in (CLIENT, PROXY):
        data = request(f"/healthz{query}", changed, method)
        by_fast_lane, by_view = health_check(data, client), django(data, client)
        assert by_fast_lane is not None
        # The middleware read the setting when the application was loaded.
        assert by_fast_lane.response.replace(b"max-age=1000", b"max-age=0") == by_view.response
        assert (by_fast_lane.records, by_fast_lane.kept_alive) == (by_view.records, by_view.kept_alive)


@pytest.mark.parametrize(
    ("path", "method", "changed"),
    [
        ("/healthz", "POST", {}),
        ("/healthz", "GET", {"Host": CUSTOM_HOST}),
        ("/healthz", "GET", {"Host": None}),
        ("/healthz", "GET", {"Content-Length": "5"}),
        ("/healthz/", "GET", {}),
        ("/healthzz", "GET", {}),
        ("/readyz", "GET", {}),
    ],
)
def test_the_event_loop_serves_no_other_health_request(
    path: str, method: str, changed: dict[str, str | None]
) -> None:
    assert health_check(request(path, changed, method)) is None


@pytest.mark.parametrize(("length", "is_served"), [(8190, True), (8191, False)])
def test_the_fast_lane_declines_a_request_line_that_gunicorn_rejects(
    make_link: MakeLink, length: int, is_served: bool
) -> None:
    path = path_of(make_link(), "?")
    data = request(path + "x" * (length - len(f"GET {path} HTTP/1.1")))

    assert len(data.partition(b"\r\n")[0]) == length
    assert (fast(data) is not None) == is_served


def test_the_default_user_agent_is_not_a_crawler() -> None:
    assert FIREFOX.encode() in request("/x")
