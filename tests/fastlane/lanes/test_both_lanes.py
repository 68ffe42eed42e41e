"""Both lanes agree: the fast lane sends the same responses, and writes the same records, as the Django view."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate
from ipaddress import ip_network
from typing import Any

import pytest
import time_machine
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import DomainStatus
from fastlane.handoff.link_lookups import lookup
from links.destinations.cache import UNKNOWN_SECONDS
from testing.cases import for_each
from testing.fastlane.lanes import fast, health_check, lane_for
from testing.redirects.following import CUSTOM_HOST, FUTURE, PAST, custom_domain
from testing.redirects.visits import CLIENT, django, request
from testing.visitors.addresses import AMERICAN, BRITISH
from testing.visitors.agents import FIREFOX
from tests.fastlane.lanes.links_of_lanes import (
    ACCEPTS,
    NOT_SIMPLE,
    OTHER_LINKS,
    PLAIN_LINKS,
    PROXY,
    REFUSED_LINKS,
    SIMPLE,
    UTM,
    assert_same,
    path_of,
)

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@for_each("fields", PLAIN_LINKS.values(), ids=PLAIN_LINKS)
def test_plain_links_have_the_same_response_and_record_in_both_lanes(
    make_link: MakeLink, fields: dict[str, Any], method: str
) -> None:
    link = make_link(**fields)

    assert_same(request(path_of(link), method=method), AMERICAN)


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
        assert_same(data, client)
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


def test_the_check_of_haproxy_has_the_same_response_from_event_loop_and_view() -> None:
    data = b"GET /healthz HTTP/1.0\r\n\r\n"
    by_fast_lane, by_view = health_check(data), django(data)
    assert by_fast_lane is not None
    assert (by_fast_lane.response, by_fast_lane.kept_alive) == (by_view.response, by_view.kept_alive)


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


@for_each("changed", SIMPLE.values(), ids=SIMPLE)
@pytest.mark.slow
def test_simple_requests_have_the_same_response_and_record_in_both_lanes(
    make_link: MakeLink, changed: dict[str, str | None]
) -> None:
    link = make_link()

    for client in (CLIENT, "2001:db8::9", "::ffff:203.0.113.9"):
        assert_same(request(path_of(link), changed), client)


@for_each("changed", NOT_SIMPLE.values(), ids=NOT_SIMPLE)
def test_the_fast_lane_declines_requests_that_are_not_simple(
    make_link: MakeLink, changed: dict[str, str | None]
) -> None:
    link = make_link()

    assert fast(request(path_of(link), changed)) is None


@pytest.mark.parametrize(
    "query", ["?qr=1", "?qr=1&a=b", "?a=b&qr=1", "?qr=2", "?", "?a?b", "?%C3%A4", "?url=//evil.example"]
)
def test_a_query_string_only_distinguishes_scans_from_clicks(make_link: MakeLink, query: str) -> None:
    link = make_link()

    assert_same(request(path_of(link, query)))


@pytest.mark.parametrize(
    ("method", "suffix", "version"),
    [
        ("POST", "", "1.1"),
        ("PUT", "", "1.1"),
        ("OPTIONS", "", "1.1"),
        ("get", "", "1.1"),
        ("GET", "", "1.0"),
        ("GET", "", "2.0"),
        ("GET", "//", "1.1"),
        ("GET", "#x", "1.1"),
        ("GET", "?a#x", "1.1"),
        ("GET", "?\xe4", "1.1"),
        ("GET", " ", "1.1"),
        ("GET", "?a b", "1.1"),
        ("GET", ";x", "1.1"),
    ],
)
def test_the_fast_lane_declines_other_request_lines(
    make_link: MakeLink, method: str, suffix: str, version: str
) -> None:
    link = make_link()

    assert fast(request(path_of(link, suffix), method=method, version=version)) is None


def test_the_fast_lane_declines_absolute_targets(make_link: MakeLink) -> None:
    link = make_link()

    assert fast(request(f"http://sho.rt{path_of(link)}")) is None


@pytest.mark.parametrize("rest", [b"x", b"\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_the_fast_lane_declines_more_than_one_head(make_link: MakeLink, rest: bytes) -> None:
    data = request(path_of(make_link()))

    assert fast(data + rest) is None


def test_the_fast_lane_declines_every_incomplete_request(make_link: MakeLink) -> None:
    data = request(path_of(make_link()))

    assert [end for end in range(len(data)) if fast(data[:end]) is not None] == []


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "code", ["unknown", "spring/", "ab", "a" * 255, "a-b", "wp-login.php", "%75nknown", "unknown?qr=1", "..."]
)
def test_unknown_codes_have_the_same_response_and_record_in_both_lanes(code: str, method: str) -> None:
    assert_same(request(f"/{code}", method=method))


@pytest.mark.parametrize("code", ["a" * 256, "a%2Fb", "", ".", "..", "favicon.ico", "sw.js", "Admin"])
def test_the_fast_lane_declines_paths_that_are_no_codes(code: str) -> None:
    assert fast(request(f"/{code}")) is None


@pytest.mark.slow
@for_each("changed", SIMPLE.values(), ids=SIMPLE)
@for_each("path", ["unknown code", "refused link"])
def test_simple_requests_have_the_same_refusal_and_record_in_both_lanes(
    make_link: MakeLink, changed: dict[str, str | None], path: str
) -> None:
    link = make_link(**REFUSED_LINKS["not allowed here"])
    data = request("/unknown" if path == "unknown code" else path_of(link), changed)

    for client in (AMERICAN, "2001:db8::9", f"::ffff:{AMERICAN}"):
        assert_same(data, client)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("fields", REFUSED_LINKS.values(), ids=REFUSED_LINKS)
def test_refused_visitors_have_the_same_response_and_record_in_both_lanes(
    make_link: MakeLink, fields: dict[str, Any], method: str
) -> None:
    link = make_link(**fields)

    for accept in ACCEPTS:
        data = request(path_of(link), {"Accept": accept}, method)
        assert_same(data, AMERICAN)
        assert b"HTTP/1.1 403 " in django(data, AMERICAN).response


@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_unknown_codes_are_json_for_programs_in_both_lanes(accept: str | None, method: str) -> None:
    assert_same(request("/unknown", {"Accept": accept}, method))


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
        assert_same(data)
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


def test_a_custom_domain_serves_only_its_own_codes(alice: NewAccount, make_link: MakeLink) -> None:
    domain = custom_domain(alice)
    there = make_link(domainId=str(domain.public_id))
    here = make_link()

    assert_same(request(path_of(there), {"Host": CUSTOM_HOST}))
    assert_same(request(path_of(there), {"Host": f"{CUSTOM_HOST.upper()}:443"}))
    for data in (request(path_of(here), {"Host": CUSTOM_HOST}), request(path_of(there))):
        assert_same(data)
        assert b" 404 " in django(data).response.split(b"\r\n")[0]


def test_the_fast_lane_declines_links_of_inactive_domains(alice: NewAccount, make_link: MakeLink) -> None:
    domain = custom_domain(alice)
    link = make_link(domainId=str(domain.public_id))
    domain.status = DomainStatus.INACTIVE
    domain.save()

    assert fast(request(path_of(link), {"Host": CUSTOM_HOST})) is None


def test_an_expired_link_leaves_the_fast_lane_at_once(make_link: MakeLink) -> None:

    with time_machine.travel("2098-12-31T23:59:59.5Z", tick=False) as moment:
        data = request(path_of(make_link(expiresAt=FUTURE)))
        lane = lane_for(data)
        assert fast(data, lane=lane) is not None
        moment.shift(0.5)
        assert fast(data, lane=lane) is None
        key = lane.lookup_key(data, time.time())
        assert key is not None
        lane.store(*key, lookup(*key) or b"")
        assert fast(data, lane=lane) is None
        assert lane.lookup_key(data, time.time()) is None
        assert b" 410 " in django(data).response.split(b"\r\n")[0]


def test_the_date_field_shows_the_second_of_the_answer(make_link: MakeLink) -> None:
    data = request(path_of(make_link()))
    lane, second = lane_for(data), int(time.time())

    # The clock may also be set back.
    for moment in (second + 0.2, second + 0.9, second + 1.5, second + 2.0, second - 60.0):
        answer = lane.answer(data, CLIENT, moment)
        assert answer is not None
        assert f"\r\nDate: {formatdate(int(moment), usegmt=True)}\r\n".encode() in answer[1]


CHANGES: dict[str, dict[str, Any]] = {
    "disabled": {"isActive": False},
    "expired": {"expiresAt": PAST},
    "password": {"password": "secret"},
    "limit": {"restrictions": {"maxClicks": 1}},
    "301": {"redirectType": 301},
    "utm": {"utm": UTM},
    "blocked": {"restrictions": {"blockedCountries": ["US"]}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("code", ["short", "custom", "former"])
def test_a_change_applies_to_every_code_once_the_api_has_replied(
    api: APIClient, make_link: MakeLink, change: dict[str, Any], code: str
) -> None:
    link = make_link(customCode="former")
    assert api.put(f"/api/urls/{link['_id']}", {"customCode": "custom"}).status_code == 200
    data = request(f"/{link['shortCode'] if code == 'short' else code}")
    django(data)
    lane = lane_for(data)
    before = fast(data, AMERICAN, lane)
    assert before is not None

    assert api.put(f"/api/urls/{link['_id']}", change).status_code == 200

    assert fast(data, AMERICAN, lane) is None
    now = django(data, AMERICAN)
    assert now.response != before.response
    assert fast(data, AMERICAN) in (None, now)


def test_deletions_and_new_codes_take_effect_once_the_api_has_replied(
    api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    there, missing = request(path_of(link)), request("/spring")
    lanes = [lane_for(there), lane_for(missing)]
    assert fast(there, lane=lanes[0]) is not None
    assert b" 404 " in django(missing).response.split(b"\r\n")[0]

    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    make_link(customCode="spring")

    assert fast(there, lane=lanes[0]) is None
    assert fast(missing, lane=lanes[1]) is None
    assert lanes[1].lookup_key(missing, time.time()) is not None
    assert b" 404 " in django(there).response.split(b"\r\n")[0]
    assert b" 302 " in django(missing).response.split(b"\r\n")[0]


@pytest.mark.parametrize("fields", OTHER_LINKS.values(), ids=OTHER_LINKS)
def test_the_fast_lane_caches_that_it_declines_a_link(make_link: MakeLink, fields: dict[str, Any]) -> None:
    data = request(path_of(make_link(**fields)))

    assert lane_for(data).lookup_key(data, time.time() + 3600) is None


def test_an_unknown_code_is_cached_briefly(db: None) -> None:
    data = request("/unknown")
    # An entry that is newer than the time of a request by more than 50 ms is not valid.
    with time_machine.travel(time.time(), tick=False):
        now = time.time()
        lane = lane_for(data)

    assert lane.lookup_key(data, now + UNKNOWN_SECONDS / 2) is None
    assert lane.lookup_key(data, now + UNKNOWN_SECONDS) == ("sho.rt", "unknown")
