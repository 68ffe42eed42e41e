"""Refusals have the same response and record in both lanes."""

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
from domains.models import DomainStatus
from fastlane.handoff.link_lookups import lookup
from testing.cases import for_each
from testing.fastlane.lanes import fast, lane_for
from testing.redirects.following import CUSTOM_HOST, custom_domain
from testing.redirects.visits import CLIENT, django, request
from testing.visitors.addresses import AMERICAN
from tests.fastlane.lanes.links_of_lanes import ACCEPTS, PROXY, REFUSED_LINKS, SIMPLE, check_same, path_of

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


@for_each("changed", SIMPLE.values(), ids=SIMPLE)
@for_each("path", ["unknown code", "refused link"])
def test_simple_requests_have_the_same_refusal_and_record_in_both_lanes(
    make_link: MakeLink, changed: dict[str, str | None], path: str
) -> None:
    link = make_link(**REFUSED_LINKS["not allowed here"])
    data = request("/unknown" if path == "unknown code" else path_of(link), changed)

    for client in (AMERICAN, "2001:db8::9", f"::ffff:{AMERICAN}"):
        check_same(data, client)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("fields", REFUSED_LINKS.values(), ids=REFUSED_LINKS)
def test_refused_visitors_have_the_same_response_and_record_in_both_lanes(
    make_link: MakeLink, fields: dict[str, Any], method: str
) -> None:
    link = make_link(**fields)

    for accept in ACCEPTS:
        data = request(path_of(link), {"Accept": accept}, method)
        check_same(data, AMERICAN)
        assert b"HTTP/1.1 403 " in django(data, AMERICAN).response


@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_unknown_codes_are_json_for_programs_in_both_lanes(accept: str | None, method: str) -> None:
    check_same(request("/unknown", {"Accept": accept}, method))


@pytest.mark.parametrize("code", ["unknown", "refused"])
def test_refusals_over_tls_have_hsts_in_both_lanes(
    make_link: MakeLink, settings: Settings, code: str
) -> None:
    make_link(customCode="refused", **REFUSED_LINKS["not allowed here"])
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    settings.SECURE_HSTS_SECONDS = 1000
    for client, scheme in ((PROXY, "https"), (PROXY, "http"), (CLIENT, "https")):
        fields = {"X-Forwarded-For": AMERICAN, "X-Forwarded-Proto": scheme}
        by_fast_lane, by_view = (lane(request(f"/{code}", fields), client) for lane in (fast, django))
        assert by_fast_lane is not None
        # The middleware read the setting when the application was loaded.
        expected = by_view.response.replace(b"max-age=0", b"max-age=1000")
        assert by_fast_lane._replace(response=expected) == by_view._replace(response=expected)
        assert by_fast_lane.response == expected
        assert (b"Strict-Transport-Security" in expected) == ((client, scheme) == (PROXY, "https"))


def test_an_answer_that_ends_the_connection_is_the_same_whoever_decided_that(make_link: MakeLink) -> None:
    make_link(customCode="spring")
    make_link(customCode="refused", **REFUSED_LINKS["not allowed here"])
    for path in ("/spring", "/spring+", "/refused", "/refused+", "/unknown"):
        data, closing_request = request(path), request(path, {"Connection": "close"})
        with time_machine.travel(time.time(), tick=False):
            lane, now = lane_for(data), time.time()
            answer = lane.answer(data, AMERICAN, now, closes=True)
            assert answer == lane.answer(closing_request, AMERICAN, now)
        assert answer is not None
        assert (answer[2], answer[1].count(b"\r\nConnection: close\r\n")) == (True, 1)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("url", ["https://example.com/lost?x=1", None])
def test_unknown_codes_of_a_domain_have_the_same_response_and_record_in_both_lanes(
    alice: NewAccount, url: str | None, method: str
) -> None:
    domain = custom_domain(alice)
    domain.not_found_url = url
    domain.save()

    for changed in ({}, {"Connection": "close"}, {"Accept": "application/json"}, {"DNT": "1"}):
        data = request("/unknown", {"Host": CUSTOM_HOST, **changed}, method)
        check_same(data)
        assert (b"\r\nLocation: https://example.com/lost?x=1\r\n" in django(data).response) == bool(url)


def test_the_fast_lane_declines_unknown_codes_of_other_hosts(alice: NewAccount) -> None:
    domain = custom_domain(alice)
    domain.status = DomainStatus.INACTIVE
    domain.save()

    assert fast(request("/unknown", {"Host": CUSTOM_HOST})) is None
    assert fast(request("/unknown", {"Host": "unset.example"})) is None


def test_unknown_codes_evict_no_links(make_link: MakeLink, settings: Settings) -> None:
    settings.DESTINATIONS_KEPT = 4
    data = request(path_of(make_link()))
    lane = lane_for(data)
    for number in range(20):
        lane.store("sho.rt", f"unknown{number}", lookup("sho.rt", f"unknown{number}") or b"")

    assert fast(data, lane=lane) is not None


def test_a_former_link_is_unknown_in_the_fast_lane(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(customCode="spring")
    data = request("/spring")
    lane = lane_for(data)
    assert fast(data, lane=lane) is not None
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200

    with time_machine.travel(time.time(), tick=False):
        key = lane.lookup_key(data, time.time())
        assert key is not None
        lane.store(*key, lookup(*key) or b"")
        by_fast_lane = fast(data, lane=lane)
    assert by_fast_lane is not None
    assert by_fast_lane == django(data)
