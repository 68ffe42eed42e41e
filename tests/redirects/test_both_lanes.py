"""One meaning, two doors: whatever the fast lane answers, stock gunicorn and the Django view would have answered."""

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
from links.destination_cache import UNKNOWN_SECONDS
from tests.conftest import FIREFOX
from tests.redirects.doors import CLIENT, fast, lane_for, ordinary, request
from tests.redirects.test_access import GOOGLEBOT, MOBILE, TABLET
from tests.redirects.test_follow import AMERICAN, CUSTOM_HOST, FUTURE, PAST, custom_domain

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]

BRITISH = "81.2.69.160"
PROXY = "10.0.0.7"
UTM = {"source": "news", "medium": "mail"}

# Links that are known and ask nothing of their visitor.
PLAIN_LINKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "302": {"redirectType": 302},
    "301": {"redirectType": 301},
    "expires later": {"expiresAt": FUTURE},
    "expires later, 301": {"expiresAt": FUTURE, "redirectType": 301},
    "tags": {"utm": UTM},
    "custom code": {"customCode": "spring"},
    "allowed here": {"restrictions": {"allowedCountries": ["US", "GB"]}},
    "not blocked here": {"restrictions": {"blockedCountries": ["JP"]}, "redirectType": 301},
    "destination with everything": {"originalUrl": "https://exämple.com:8443/ä b?x=1&y=%20#fragment"},
    "longest destination": {"originalUrl": "https://example.com/" + "a" * 2028},
}
# Links for whose visitors the Django view decides.
OTHER_LINKS: dict[str, dict[str, Any]] = {
    "expired": {"expiresAt": PAST},
    "limited": {"restrictions": {"maxClicks": 5}},
    "not allowed here": {"restrictions": {"allowedCountries": ["JP"]}},
    "blocked here": {"restrictions": {"blockedCountries": ["US"]}},
    "devices": {"restrictions": {"allowedDevices": ["desktop"]}},
    "password": {"password": "secret"},
    "password and limit": {"password": "secret", "restrictions": {"maxClicks": 5}},
}
# Header fields of simple requests, of a plain link.
SIMPLE: dict[str, dict[str, str | None]] = {
    "usual": {},
    "only a host": dict.fromkeys(
        ("User-Agent", "Accept", "Accept-Language", "Accept-Encoding", "Connection")
    ),
    "no agent": {"User-Agent": None},
    "empty agent": {"User-Agent": ""},
    "telephone": {"User-Agent": MOBILE},
    "tablet": {"User-Agent": TABLET},
    "crawler": {"User-Agent": GOOGLEBOT},
    "preview": {"User-Agent": "WhatsApp/2.23.20.0"},
    "tool": {"User-Agent": "curl/8.5.0"},
    "endless agent": {"User-Agent": "Mozilla/5.0 " + "x" * 2000},
    "referrer": {"Referer": "https://news.example.org/item?id=4711"},
    "empty referrer": {"Referer": ""},
    "endless referrer": {"Referer": "https://example.org/" + "x" * 2000},
    "padded referrer": {"Referer": "   https://example.org/   "},
    "escaped referrer": {"Referer": "https://example.org/%C3%A4"},
    "prefetch": {"Sec-Purpose": "prefetch"},
    "prerender": {"Sec-Purpose": "prefetch;prerender"},
    "old prefetch": {"Purpose": "prefetch"},
    "oldest prefetch": {"X-Moz": "prefetch"},
    "other purpose": {"Sec-Purpose": "something"},
    "prefetching crawler": {"Sec-Purpose": "prefetch", "User-Agent": GOOGLEBOT},
    "opted out": {"Sec-GPC": "1"},
    "do not track": {"DNT": "1"},
    "both": {"Sec-GPC": "1", "DNT": "1"},
    "neither": {"Sec-GPC": "0", "DNT": "0"},
    "DNT differs": {"Sec-GPC": "0", "DNT": "1"},
    "DNT is true": {"DNT": "true"},
    "closes": {"Connection": "close"},
    "CLOSES": {"Connection": "Close"},
    "keeps": {"Connection": "Keep-Alive"},
    "says nothing": {"Connection": None},
    "host with port": {"Host": "sho.rt:80"},
    "upper case host": {"Host": "SHO.RT"},
    "host with a dot": {"Host": "sho.rt."},
    "lower case names": {"Host": None, "host": "sho.rt", "User-Agent": None, "user-agent": MOBILE},
    "UPPER CASE NAMES": {"Host": None, "HOST": "sho.rt", "REFERER": "https://example.org/", "DNT": "1"},
    "JSON": {"Accept": "application/json"},
    "cookies": {"Cookie": "a=b; c=d"},
    "key": {"X-API-Key": "sl_live_nothing", "Authorization": "Bearer nothing"},
    "range": {
        "Range": "bytes=0-5",
        "If-None-Match": '"x"',
        "If-Modified-Since": "Sat, 21 Nov 2026 12:00:00 GMT",
    },
    "origin": {"Origin": "https://evil.example"},
    "forwarded by a stranger": {"X-Forwarded-For": AMERICAN},
    "forwarded host": {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"},
    "forwarded scheme": {"X-Forwarded-Proto": "https"},
    "other scheme": {"X-Forwarded-Ssl": "on"},
    "cache control": {"Cache-Control": "no-cache", "Pragma": "no-cache"},
    "no space": {"Host": None, "Host:sho.rt\r\nX-Nothing": "x"},
    "keep-alive field": {"Keep-Alive": "timeout=5", "TE": "trailers"},
    "method override": {"X-HTTP-Method-Override": "POST"},
    "rewritten path": {"X-Original-URL": "/admin", "X-Rewrite-URL": "/admin"},
}
# Requests that are not simple beyond doubt.
NOT_SIMPLE: dict[str, dict[str, str | None]] = {
    "no host": {"Host": None},
    "empty host": {"Host": ""},
    "another host": {"Host": "evil.example"},
    "host with a name": {"Host": "user@sho.rt"},
    "two hosts": {"Host": "sho.rt\r\nHost: sho.rt"},
    "two hosts, differently written": {"Host": "sho.rt\r\nHOST: evil.example"},
    "two agents": {"User-Agent": "a\r\nUser-Agent: b"},
    "two referrers": {"Referer": "a\r\nReferer: b"},
    "latin-1": {"User-Agent": "Mözilla"},
    "tab": {"User-Agent": "Mozilla\tFirefox"},
    "control character": {"X-Nothing": "a\x01b"},
    "no value": {"X-Nothing\r\nX-Other": ""},
    "folded": {"X-Nothing": "a\r\n b"},
    "space before colon": {"X-Nothing ": "a"},
    "underscore": {"X_Forwarded_For": AMERICAN},
    "connection of two": {"Connection": "keep-alive, close"},
    "upgrade": {"Connection": "Upgrade", "Upgrade": "websocket"},
    "h2c": {"Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQCAAAAAAIAAAAA"},
    "expectation": {"Expect": "100-continue"},
    "body": {"Content-Length": "0"},
    "chunks": {"Transfer-Encoding": "identity"},
    "content type": {"Content-Type": "text/plain"},
    "two schemes": {"X-Forwarded-Proto": "https", "X-Forwarded-Ssl": "off"},
    "too many fields": {f"X-Field-{number}": "x" for number in range(70)},
    "too long": {"X-Nothing": "x" * 5000},
}


def path_of(link: dict[str, Any], query: str = "") -> str:
    return f"/{link['customCode'] or link['shortCode']}{query}"


def check_same(data: bytes, client: str = CLIENT) -> None:
    at_once = fast(data, client)
    assert at_once is not None
    assert at_once == ordinary(data, client)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("fields", PLAIN_LINKS.values(), ids=PLAIN_LINKS)
def test_known_plain_links_have_the_same_answer_and_record_through_both_lanes(
    make_link: MakeLink, fields: dict[str, Any], method: str
) -> None:
    link = make_link(**fields)

    check_same(request(path_of(link), method=method), AMERICAN)


@pytest.mark.parametrize("fields", OTHER_LINKS.values(), ids=OTHER_LINKS)
def test_links_that_ask_something_are_left_to_the_view(make_link: MakeLink, fields: dict[str, Any]) -> None:
    link = make_link(**fields)

    assert fast(request(path_of(link)), AMERICAN) is None


@pytest.mark.parametrize("changed", SIMPLE.values(), ids=SIMPLE)
def test_simple_requests_have_the_same_answer_and_record_through_both_lanes(
    make_link: MakeLink, changed: dict[str, str | None]
) -> None:
    link = make_link()

    for client in (CLIENT, "2001:db8::9", "::ffff:203.0.113.9"):
        check_same(request(path_of(link), changed), client)


@pytest.mark.parametrize("changed", NOT_SIMPLE.values(), ids=NOT_SIMPLE)
def test_requests_that_are_not_simple_are_left_to_gunicorn(
    make_link: MakeLink, changed: dict[str, str | None]
) -> None:
    link = make_link()

    assert fast(request(path_of(link), changed)) is None


@pytest.mark.parametrize(
    "query", ["?qr=1", "?qr=1&a=b", "?a=b&qr=1", "?qr=2", "?", "?a?b", "?%C3%A4", "?url=//evil.example"]
)
def test_queries_change_nothing_but_that_a_scan_is_told_from_a_click(make_link: MakeLink, query: str) -> None:
    link = make_link()

    check_same(request(path_of(link, query)))


@pytest.mark.parametrize(
    ("method", "suffix", "version"),
    [
        ("POST", "", "1.1"),
        ("PUT", "", "1.1"),
        ("OPTIONS", "", "1.1"),
        ("get", "", "1.1"),
        ("GET", "", "1.0"),
        ("GET", "", "2.0"),
        ("GET", "/", "1.1"),
        ("GET", "#x", "1.1"),
        ("GET", "?a#x", "1.1"),
        ("GET", "?\xe4", "1.1"),
        ("GET", "%41", "1.1"),
        ("GET", " ", "1.1"),
        ("GET", "?a b", "1.1"),
        ("GET", ";x", "1.1"),
    ],
)
def test_other_request_lines_are_left_to_gunicorn(
    make_link: MakeLink, method: str, suffix: str, version: str
) -> None:
    link = make_link()

    assert fast(request(path_of(link, suffix), method=method, version=version)) is None


def test_an_absolute_target_is_left_to_gunicorn(make_link: MakeLink) -> None:
    link = make_link()

    assert fast(request(f"http://sho.rt{path_of(link)}")) is None


@pytest.mark.parametrize("rest", [b"x", b"\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_what_is_more_than_one_head_is_left_to_gunicorn(make_link: MakeLink, rest: bytes) -> None:
    data = request(path_of(make_link()))

    assert fast(data + rest) is None


def test_every_beginning_of_a_request_is_left_alone(make_link: MakeLink) -> None:
    data = request(path_of(make_link()))

    assert [end for end in range(len(data)) if fast(data[:end]) is not None] == []


@pytest.mark.parametrize("code", ["unknown", "spring/", "ab", "a" * 51, "a-b", ""])
def test_unknown_codes_are_left_to_the_view(make_link: MakeLink, code: str) -> None:
    assert fast(request(f"/{code}")) is None


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
def test_the_visitor_behind_a_trusted_proxy_is_the_same_through_both_lanes(
    make_link: MakeLink, settings: Settings, forwarded: str
) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    link = make_link(restrictions={"allowedCountries": ["US"]})
    plain = make_link()

    for client in (PROXY, CLIENT):
        data = request(path_of(plain), {"X-Forwarded-For": forwarded, "X-Forwarded-Proto": "https"})
        check_same(data, client)
    data = request(path_of(link), {"X-Forwarded-For": forwarded})
    at_once = fast(data, PROXY)
    if at_once is not None:
        assert at_once == ordinary(data, PROXY)
    assert (at_once is not None) == (b" 302 " in ordinary(data, PROXY).answer.split(b"\r\n")[0])


def test_a_customers_host_answers_for_its_own_codes_only(alice: NewAccount, make_link: MakeLink) -> None:
    domain = custom_domain(alice)
    there = make_link(domainId=str(domain.public_id))
    here = make_link()

    check_same(request(path_of(there), {"Host": CUSTOM_HOST}))
    check_same(request(path_of(there), {"Host": f"{CUSTOM_HOST.upper()}:443"}))
    assert fast(request(path_of(here), {"Host": CUSTOM_HOST})) is None
    assert fast(request(path_of(there))) is None


def test_links_of_a_domain_that_is_not_active_are_left_to_the_view(
    alice: NewAccount, make_link: MakeLink
) -> None:
    domain = custom_domain(alice)
    link = make_link(domainId=str(domain.public_id))
    domain.status = DomainStatus.INACTIVE
    domain.save()

    assert fast(request(path_of(link), {"Host": CUSTOM_HOST})) is None


def test_a_link_leaves_the_fast_lane_the_moment_it_is_over(make_link: MakeLink) -> None:

    with time_machine.travel("2098-12-31T23:59:59.5Z", tick=False) as moment:
        data = request(path_of(make_link(expiresAt=FUTURE)))
        lane = lane_for(data)
        assert fast(data, lane=lane) is not None
        moment.shift(0.5)
        assert fast(data, lane=lane) is None
        assert lane.asks_for(data, time.time()) is None
        assert b" 410 " in ordinary(data).answer.split(b"\r\n")[0]


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
def test_a_change_is_in_force_by_every_code_when_it_is_answered(
    api: APIClient, make_link: MakeLink, change: dict[str, Any], code: str
) -> None:
    link = make_link(customCode="former")
    assert api.put(f"/api/urls/{link['_id']}", {"customCode": "custom"}).status_code == 200
    data = request(f"/{link['shortCode'] if code == 'short' else code}")
    ordinary(data)
    lane = lane_for(data)
    before = fast(data, AMERICAN, lane)
    assert before is not None

    assert api.put(f"/api/urls/{link['_id']}", change).status_code == 200

    assert fast(data, AMERICAN, lane) is None
    now = ordinary(data, AMERICAN)
    assert now.answer != before.answer
    assert fast(data, AMERICAN) in (None, now)


def test_a_deleted_link_is_gone_and_an_unknown_code_known_when_that_is_answered(
    api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    there, missing = request(path_of(link)), request("/spring")
    lanes = [lane_for(there), lane_for(missing)]
    assert fast(there, lane=lanes[0]) is not None
    assert b" 404 " in ordinary(missing).answer.split(b"\r\n")[0]

    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    make_link(customCode="spring")

    assert fast(there, lane=lanes[0]) is None
    assert lanes[1].asks_for(missing, time.time()) is not None
    assert b" 404 " in ordinary(there).answer.split(b"\r\n")[0]
    assert b" 302 " in ordinary(missing).answer.split(b"\r\n")[0]


@pytest.mark.parametrize("fields", OTHER_LINKS.values(), ids=OTHER_LINKS)
def test_that_a_link_is_left_to_the_view_is_remembered(make_link: MakeLink, fields: dict[str, Any]) -> None:
    data = request(path_of(make_link(**fields)))

    assert lane_for(data).asks_for(data, time.time() + 3600) is None


def test_that_a_code_is_unknown_is_believed_for_a_moment(db: None) -> None:
    data = request("/unknown")
    before = time.time()
    lane = lane_for(data)
    after = time.time()

    assert lane.asks_for(data, before + UNKNOWN_SECONDS / 2) is None
    assert lane.asks_for(data, after + UNKNOWN_SECONDS) == ("sho.rt", "unknown")


def test_the_agent_of_the_usual_request_is_a_person() -> None:
    assert FIREFOX.encode() in request("/x")
