"""Links with rules, splits, starts and the like: where they lead, the same in both lanes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from links.destinations import lookup as destinations
from testing.cases import for_each
from testing.clock import Clock
from testing.redirects.visits import request, visit
from testing.visitors.addresses import AMERICAN
from testing.visitors.agents import MOBILE
from tests.redirects.routing.routed import (
    MOBILE_ONLY,
    SPRING,
    US,
    MakeRouted,
    condition,
    location_of,
    routing,
    rule,
)
from tests.redirects.routing.routed import make_routed as make_routed

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


def variant(number: int, weight: int) -> dict[str, Any]:
    return {
        "_id": f"{number:032x}",
        "number": number,
        "name": "",
        "href": f"https://{number}.example/",
        "weight": weight,
    }


GERMAN = condition("language", "de")
# Fields of the target, the path's query, changed request headers, the location, and the branch.
ROUTED: dict[str, tuple[dict[str, Any], str, dict[str, str | None], str, int]] = {
    "country": ({"routing": routing(rule(3, US))}, "", {}, "https://3.example/", 3),
    "no match": ({"routing": routing(rule(3, MOBILE_ONLY))}, "", {}, "https://example.com/page", 0),
    "device": ({"routing": routing(rule(15, MOBILE_ONLY))}, "", {"User-Agent": MOBILE}, "https://15.example/", 15),
    "language": ({"routing": routing(rule(2, GERMAN))}, "", {"Accept-Language": "de-AT, en;q=0.5"},
                 "https://2.example/", 2),
    "no language": ({"routing": routing(rule(2, GERMAN))}, "", {"Accept-Language": None},
                    "https://example.com/page", 0),
    "referrer": ({"routing": routing(rule(2, condition("referrerHost", "example.org")))}, "",
                 {"Referer": "https://news.example.org/"}, "https://2.example/", 2),
    "query": ({"routing": routing(rule(2, condition("query", {"name": "a", "value": "ä"})))}, "?a=%C3%A4", {},
              "https://2.example/", 2),
    "network": ({"routing": routing(rule(2, condition("network", "8.8.8.0/24")))}, "", {}, "https://2.example/", 2),
    "scan": ({"routing": routing(rule(2, condition("scanned")))}, "?qr=1", {}, "https://2.example/", 2),
    "constant": ({"routing": routing(rule(9, condition("time", {"from": "2020-01-01T00:00:00Z"})))}, "", {},
                 "https://9.example/", 9),
    "split": ({"routing": routing(split=[variant(4, 99), variant(5, 1)]), "link_id": 7}, "", {},
              "https://4.example/", 4),
    "forwarded": ({"routing": routing(forward=True)}, "?a=1&b=%22&qr=1", {}, "https://example.com/page?a=1&b=%22", 0),
    "forwarded to a rule": ({"routing": routing(rule(1, US), forward=True), "redirect_type": 301}, "?a=1", {},
                            "https://1.example/?a=1", 1),
    "policy": ({"referrer_policy": "no-referrer"}, "", {}, "https://example.com/page", 0),
    "policy of a rule": ({"referrer_policy": "origin", "routing": routing(rule(1, US))}, "", {},
                         "https://1.example/", 1),
    "allowed device": ({"allowed_devices": ("desktop",)}, "", {}, "https://example.com/page", 0),
    "rules and restrictions": ({"allowed_devices": ("desktop",), "allowed_countries": ("US",),
                                "routing": routing(rule(1, US))}, "", {}, "https://1.example/", 1),
    "started": ({"starts_at": datetime(2020, 1, 1, tzinfo=UTC)}, "", {}, "https://example.com/page", 0),
    "preview": ({"preview": orjson.dumps(SPRING).decode()}, "", {}, "https://example.com/page", 0),
}  # fmt: skip


@for_each("method", ["GET", "HEAD"])
@for_each(
    ("fields", "query", "changed", "location", "branch"), ROUTED.values(), ids=ROUTED
)  # fmt: skip
def test_both_lanes_lead_to_the_same_branch(
    make_routed: MakeRouted,
    fields: dict[str, Any],
    query: str,
    changed: dict[str, str | None],
    location: str,
    branch: int,
    method: str,
) -> None:
    data = request(make_routed(**fields) + query, changed, method)

    by_view = visit(data, AMERICAN, in_lane=True)

    assert location_of(by_view) == location
    assert [record.flags >> 4 for record in by_view.records] == [branch]
    policy = fields.get("referrer_policy")
    header = f"\r\nReferrer-Policy: {policy}\r\n".encode()
    assert (header in by_view.response) == (policy is not None)


LATER = datetime(2099, 1, 1, tzinfo=UTC)
# Fields of the target, changed headers, status, reason of the record, and location of an answer that Django gives.
REFUSALS: dict[str, tuple[dict[str, Any], dict[str, str | None], int, str, str]] = {
    "not started": ({"starts_at": LATER}, {}, 404, "not_started", ""),
    "not started, elsewhere": ({"starts_at": LATER, "not_started_url": "https://soon.example/",
                                "referrer_policy": "no-referrer"}, {}, 302, "not_started", "https://soon.example/"),
    "expired": ({"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}, {}, 410, "expired", ""),
    "expired, elsewhere": ({"expires_at": datetime(2020, 1, 1, tzinfo=UTC), "expired_url": "https://over.example/"},
                           {}, 302, "expired", "https://over.example/"),
    "used up, elsewhere": ({"max_clicks": 0, "expired_url": "https://over.example/", "referrer_policy": "origin"},
                           {}, 302, "limit_reached", "https://over.example/"),
    "disabled": ({"is_active": False, "expired_url": "https://over.example/",
                  "not_started_url": "https://soon.example/"}, {}, 410, "disabled", ""),
    "disabled before the start": ({"is_active": False, "starts_at": LATER, "not_started_url": "https://soon.example/"},
                                  {}, 410, "disabled", ""),
    "banned": ({"is_active": False, "ban_reason": "other", "expired_url": "https://over.example/"}, {}, 410,
               "disabled", ""),
    "banned by law": ({"is_active": False, "ban_reason": "legal", "expired_url": "https://over.example/"}, {}, 451,
                      "legal", ""),
    "country with rules": ({"blocked_countries": ("US",), "routing": routing(rule(1, US))}, {}, 403, "country", ""),
    "device with rules": ({"allowed_devices": ("mobile",), "routing": routing(rule(1, US))}, {}, 403, "device", ""),
    "password with rules": ({"password": "argon2$nothing", "routing": routing(rule(1, US))}, {}, 401, "password", ""),
}  # fmt: skip


@for_each("accept", ["text/html", "application/json"])
@for_each(
    ("fields", "changed", "status", "reason", "location"), REFUSALS.values(), ids=REFUSALS
)  # fmt: skip
def test_a_refusal_names_its_reason(
    make_routed: MakeRouted,
    fields: dict[str, Any],
    changed: dict[str, str | None],
    status: int,
    reason: str,
    location: str,
    accept: str,
) -> None:
    data = request(make_routed(**fields), {**changed, "Accept": accept})

    by_view = visit(data, AMERICAN, in_lane=reason in ("country", "device"))
    assert by_view.response.startswith(b"HTTP/1.1 %d " % status)
    assert [(record.reason, record.flags >> 4) for record in by_view.records] == [(reason, 0)]
    assert location_of(by_view) == location
    header = f"\r\nX-Refusal-Reason: {reason}\r\n".encode()
    assert (header in by_view.response) == (not location)
    if location:
        policy = re.findall(rb"\r\nReferrer-Policy: ([^\r]*)", by_view.response)
        assert [value.decode() for value in policy] == [*filter(None, [fields.get("referrer_policy")])]


def test_every_other_refusal_names_its_reason(
    visitor: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("links.guess_counts.monotonic", Clock())
    assert visitor.get("/unknown")["X-Refusal-Reason"] == "not_found"
    assert visitor.put("/unknown")["X-Refusal-Reason"] == "method_not_allowed"
    assert visitor.get("/unknown", headers={"host": "nobody.example"})["X-Refusal-Reason"] == "not_found"
    settings.UNKNOWN_CODE_LIMIT = 1
    visitor.get("/unknown")
    assert visitor.get("/unknown")["X-Refusal-Reason"] == "rate_limited"


def test_refusals_of_passwords_name_their_reason(make_link: MakeLink) -> None:
    path = f"/{make_link(password='open sesame')['shortCode']}"
    browser = Client(enforce_csrf_checks=True, headers={"host": "sho.rt", "user-agent": MOBILE})

    assert refusal_of(browser.post(path, {"password": "open sesame"})) == (403, "csrf")
    assert refusal_of(browser.post(path, "[]", "application/json")) == (400, "bad_request")
    wrong = [refusal_of(browser.post(path, {"password": "guess"}, "application/json")) for _ in range(20)]
    assert wrong[0] == (401, "password")
    assert wrong[-1] == (429, "rate_limited")


def test_an_internal_error_names_its_reason(make_link: MakeLink, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/{make_link()['shortCode']}"
    monkeypatch.setattr(destinations, "read_target", lambda _host, _code: 1 // 0)
    browser = Client(raise_request_exception=False, headers={"host": "sho.rt", "user-agent": MOBILE})

    assert refusal_of(browser.get(path)) == (500, "internal_error")


@pytest.mark.parametrize(
    "unreadable",
    [
        routing(rule(1, condition("weather", "rain"))),
        routing(rule(1, condition("network", "everywhere"))),
        routing(rule(1, condition("schedule", {"days": ["mon"]}))),
        "{",
        "[]",
    ],
)
def test_unreadable_routing_makes_a_link_unavailable(make_routed: MakeRouted, unreadable: str) -> None:
    data = request(make_routed(routing=unreadable))

    refused = visit(data, AMERICAN, in_lane=False)
    assert refused.response.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nX-Refusal-Reason: unavailable\r\n" in refused.response
    assert refused.records == []


def refusal_of(response: HttpResponse) -> tuple[int, str]:
    return response.status_code, response["X-Refusal-Reason"]
