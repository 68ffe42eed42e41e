"""The cards, previews, password and click limit of links with rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from django.test import Client

from analytics.journal.pending import open_record, take_pending
from analytics.journal.records import COUNTED, decode
from analytics.models import Kind
from links.destinations import lookup as destinations
from links.destinations.lookup import Target, read_target
from testing.redirects.visits import django, lane_outcome, request, visit
from testing.visitors.addresses import AMERICAN
from testing.visitors.agents import GOOGLEBOT, MOBILE, TWITTERBOT
from tests.redirects.routing.routed import SPRING, US, MakeRouted, condition, location_of, routing, rule
from tests.redirects.routing.routed import make_routed as make_routed

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("agent", [TWITTERBOT, "facebookexternalhit/1.1", "WhatsApp/2.23.20.0"])
def test_crawlers_of_messengers_get_the_card(make_routed: MakeRouted, agent: str) -> None:
    path = make_routed(preview=orjson.dumps(SPRING).decode())
    data = request(path, {"User-Agent": agent})

    card = visit(data, AMERICAN, in_lane=False)
    assert card.response.startswith(b"HTTP/1.1 200 OK\r\n")
    for line in (
        f'<meta property="og:url" content="http://sho.rt{path}">',
        '<meta property="og:title" content="Spring">',
        '<meta property="og:description" content="All &lt;b&gt;about&lt;/b&gt; it">',
        '<meta property="og:image" content="https://example.com/spring.png">',
        '<meta name="twitter:card" content="summary_large_image">',
        '<meta name="twitter:title" content="Spring">',
    ):
        assert line.encode() in card.response
    assert b"https://example.com/page" not in card.response
    assert [(record.kind, record.reason, record.flags) for record in card.records] == [(Kind.CRAWLER, "", 0)]


def test_head_of_a_card_has_the_status_and_fields_of_get(make_routed: MakeRouted) -> None:
    path = make_routed(preview=orjson.dumps(SPRING).decode())
    agent: dict[str, str | None] = {"User-Agent": TWITTERBOT}

    by_get, by_head = (visit(request(path, agent, method), in_lane=False) for method in ("GET", "HEAD"))

    assert by_head.response.startswith(b"HTTP/1.1 200 OK\r\n")
    assert by_head.response == by_get.response.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    assert [record.kind for record in by_head.records] == [Kind.HEAD]


def test_other_crawlers_and_people_are_redirected_past_the_card(make_routed: MakeRouted) -> None:
    path = make_routed(preview=orjson.dumps(SPRING).decode())

    for changed, method in (
        ({"User-Agent": GOOGLEBOT}, "GET"),
        ({}, "GET"),
        ({}, "HEAD"),
        ({"Sec-Purpose": "prefetch"}, "GET"),
    ):
        assert location_of(django(request(path, changed, method))) == "https://example.com/page"
    visit(request(path), in_lane=True)


def test_a_link_with_a_password_never_shows_a_card(make_routed: MakeRouted) -> None:
    path = make_routed(preview=orjson.dumps(SPRING).decode(), password="argon2$nothing")

    refused = django(request(path, {"User-Agent": TWITTERBOT}))

    assert refused.response.startswith(b"HTTP/1.1 401 ")
    assert b"og:title" not in refused.response


def test_the_card_of_a_capped_link_claims_no_click(make_routed: MakeRouted) -> None:
    path = make_routed(preview=orjson.dumps(SPRING).decode(), max_clicks=1)

    assert b"og:title" in django(request(path, {"User-Agent": TWITTERBOT})).response


def test_the_preview_page_shows_the_visitors_branch(make_routed: MakeRouted, visitor: Client) -> None:
    path = make_routed(routing=routing(rule(1, US), forward=True))

    shown = visitor.get(f"{path}+?a=1", REMOTE_ADDR=AMERICAN)
    other = visitor.get(f"{path}+", headers={"accept": "application/json"})

    assert b"<code>https://1.example/?a=1</code>" in shown.content
    assert f'<a class="button" href="{path}?a=1" rel="nofollow">'.encode() in shown.content
    assert other.json() == {"success": True, "destination": "https://example.com/page"}


def test_the_query_survives_the_password_form(make_link: MakeLink, monkeypatch: pytest.MonkeyPatch) -> None:
    link = make_link(password="open sesame")
    target = read_target("sho.rt", link["shortCode"])
    assert isinstance(target, Target)
    routed = replace(target, routing=routing(rule(1, condition("query", {"name": "a"})), forward=True))
    monkeypatch.setattr(destinations, "read_target", lambda _host, _code: routed)
    browser = Client(headers={"host": "sho.rt", "user-agent": MOBILE})

    sent = browser.post(f"/{link['shortCode']}?a=1&b=2", {"password": "open sesame"})

    assert (sent.status_code, sent["Location"]) == (303, f"/{link['shortCode']}?a=1&b=2")
    assert browser.get(sent["Location"])["Location"] == "https://1.example/?a=1&b=2"


def test_the_click_limit_stays_exact_with_rules(make_link: MakeLink, monkeypatch: pytest.MonkeyPatch) -> None:
    link = make_link(restrictions={"maxClicks": 3})
    target = read_target("sho.rt", link["shortCode"])
    assert isinstance(target, Target)
    routed = replace(target, routing=routing(rule(12, US)), expired_url="https://over.example/")
    monkeypatch.setattr(destinations, "read_target", lambda _host, _code: routed)
    data = request(f"/{link['shortCode']}")

    outcomes = [django(data, AMERICAN) for _ in range(5)]

    assert list(map(location_of, outcomes)) == ["https://12.example/"] * 3 + ["https://over.example/"] * 2
    assert lane_outcome(data, AMERICAN) is None
    assert claimed_flags() == [12 << 4 | COUNTED] * 3


def claimed_flags() -> list[int]:
    return [decode(open_record(content)).flags for content in take_pending(10)]
