"""Previews in the event loop: the same responses as the Django view's, and nothing recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest
import time_machine
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.host.metrics import REGISTRY
from fastlane.fast.counts import Counts
from testing.cases import for_each
from testing.clock import Clock
from testing.fastlane.lanes import fast, lane_for
from testing.redirects.following import CUSTOM_HOST, custom_domain
from testing.redirects.visits import CLIENT, django, request
from testing.visitors.addresses import AMERICAN
from testing.visitors.agents import FIREFOX, TWITTERBOT
from tests.fastlane.lanes.links_of_lanes import (
    ACCEPTS,
    NOT_SIMPLE,
    OTHER_LINKS,
    PLAIN_LINKS,
    REFUSED_LINKS,
    SIMPLE,
    assert_same,
    path_of,
)

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]

PROXY = "10.0.0.7"
RULE = {
    "name": "Firefox",
    "url": "https://example.com/a?b=1&c='\"<>",
    "conditions": [{"type": "browser", "values": ["Firefox"]}],
}
ROUTED_LINKS: dict[str, dict[str, Any]] = {
    "rule": {"rules": [RULE]},
    "rule that does not match": {"rules": [{**RULE, "conditions": [{"type": "scanned"}]}]},
    "split": {"split": [{"name": name, "url": f"https://{name}.example/", "weight": 40} for name in "ab"]},
    "forwarded query": {"forwardQuery": True},
    "card": {"preview": {"title": "Sale"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@for_each(
    "fields", [*PLAIN_LINKS.values(), *REFUSED_LINKS.values(), *ROUTED_LINKS.values()],
)  # fmt: skip
def test_previews_are_the_same_in_both_lanes(
    make_link: MakeLink, fields: dict[str, Any], method: str
) -> None:
    path = f"{path_of(make_link(**fields))}+"

    for accept in ACCEPTS:
        data = request(path, {"Accept": accept}, method)
        assert_same(data, AMERICAN)
        assert django(data, AMERICAN).records == []


@for_each("changed", SIMPLE.values(), ids=SIMPLE)
@pytest.mark.slow
def test_simple_requests_have_the_same_preview_in_both_lanes(
    make_link: MakeLink, changed: dict[str, str | None]
) -> None:
    path = f"{path_of(make_link())}+"

    for client in (CLIENT, "2001:db8::9", "::ffff:203.0.113.9"):
        assert_same(request(path, changed), client)


@for_each("changed", NOT_SIMPLE.values(), ids=NOT_SIMPLE)
def test_the_fast_lane_declines_previews_that_are_not_simple(
    make_link: MakeLink, changed: dict[str, str | None]
) -> None:
    assert fast(request(f"{path_of(make_link())}+", changed)) is None


@pytest.mark.parametrize("fields", OTHER_LINKS.values(), ids=OTHER_LINKS)
def test_the_fast_lane_declines_previews_of_restricted_links(
    make_link: MakeLink, fields: dict[str, Any]
) -> None:
    assert fast(request(f"{path_of(make_link(**fields))}+"), AMERICAN) is None


@pytest.mark.parametrize("suffix", ["+?a=1", "+?qr=1", "+?", "++", "+/", "/+", "%2B", "+#x", " +"])
def test_the_fast_lane_declines_other_paths_with_a_plus(make_link: MakeLink, suffix: str) -> None:
    assert fast(request(path_of(make_link(), suffix))) is None


def test_a_plus_at_the_end_of_a_query_that_is_too_long_is_no_preview(make_link: MakeLink) -> None:
    """Without the plus, gunicorn would accept the request line."""
    path = path_of(make_link(), "?")
    data = request(path + "x" * (8191 - len(f"GET {path}+ HTTP/1.1")) + "+")

    assert len(data.partition(b"\r\n")[0]) == 8191
    assert fast(data) is None


@pytest.mark.parametrize("path", ["/api+", "/favicon.ico+", "/+", "/.+"])
def test_the_fast_lane_declines_previews_of_paths_that_are_no_codes(path: str) -> None:
    assert fast(request(path)) is None


def test_the_fast_lane_declines_a_preview_for_a_crawler_that_shows_cards(make_link: MakeLink) -> None:
    path = f"{path_of(make_link(**ROUTED_LINKS['card']))}+"

    assert fast(request(path, {"User-Agent": TWITTERBOT})) is None


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_previews_of_unknown_codes_are_the_same_in_both_lanes(
    alice: NewAccount, method: str, accept: str
) -> None:
    domain = custom_domain(alice)
    domain.not_found_url = "https://example.com/lost"
    domain.save()

    for host in ("sho.rt", CUSTOM_HOST):
        data = request("/unknown+", {"Host": host, "Accept": accept}, method)
        assert_same(data)
        assert len(django(data).records) == 1


def test_previews_over_tls_have_hsts_in_both_lanes(make_link: MakeLink, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    settings.SECURE_HSTS_SECONDS = 1000
    for fields in ({}, REFUSED_LINKS["not allowed here"]):
        path = f"{path_of(make_link(**fields))}+"
        data = request(path, {"X-Forwarded-For": AMERICAN, "X-Forwarded-Proto": "https"})
        by_fast_lane = fast(data, PROXY)
        assert by_fast_lane is not None
        # The middleware read the setting when the application was loaded.
        assert by_fast_lane.response == django(data, PROXY).response.replace(b"max-age=0", b"max-age=1000")


def test_a_change_applies_to_the_preview_once_the_api_has_replied(
    api: APIClient, make_link: MakeLink
) -> None:
    link = make_link("https://example.com/before")
    data = request(f"{path_of(link)}+")
    lane = lane_for(data)
    before = fast(data, lane=lane)
    assert before is not None
    assert b"https://example.com/before" in before.response

    assert api.put(f"/api/urls/{link['_id']}", {"targetUrl": "https://example.com/after"}).status_code == 200

    assert fast(data, lane=lane) is None
    assert_same(data)
    after = fast(data)
    assert after is not None
    assert b"https://example.com/after" in after.response


def test_above_the_limit_of_unknown_codes_both_lanes_refuse_previews(
    make_link: MakeLink, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.UNKNOWN_CODE_LIMIT = 60
    monkeypatch.setattr("links.guess_counts.monotonic", Clock())
    path = path_of(make_link())
    statuses = [outcome.response.split(b" ")[1] for _ in range(62) if (outcome := fast(request("/unknown+")))]
    assert statuses == [b"404"] * 60 + [b"429"] * 2

    by_fast_lane, by_view = (lane(request(f"{path}+")) for lane in (fast, django))

    assert by_fast_lane is not None
    # The wait may be shorter by the time of the second request.
    assert [b" 429 " in outcome.response for outcome in (by_fast_lane, by_view)] == [True, True]


def redirects_in_metrics() -> float:
    [family] = [metric for metric in REGISTRY.collect() if metric.name == "shortener_redirects"]
    return sum(sample.value for sample in family.samples if sample.name.endswith("_total"))


def test_previews_are_not_in_the_metrics_of_redirects(make_link: MakeLink) -> None:
    data = request(f"{path_of(make_link())}+", {"User-Agent": FIREFOX})
    before, counts = redirects_in_metrics(), Counts()
    with time_machine.travel(time.time(), tick=False):
        answer = lane_for(data).answer(data, CLIENT, time.time())
    assert answer is not None
    counts.add([answer[0], answer[0]], 0.001)
    counts.report()
    django(data)
    assert redirects_in_metrics() == before

    counts.add([answer[0], 302], 0.001)
    counts.report()
    assert redirects_in_metrics() == before + 1
