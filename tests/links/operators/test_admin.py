"""Operators find and ban links."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient
from selectolax.lexbor import LexborHTMLParser

from accounts.rights import Role
from accounts.services import NewAccount
from bans.services import ban_host
from common.host import cache_versions
from domains.models import Domain
from links.models import ClickCounter, Code, Link
from testing.accounts.admin import Operator
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.domains.domains import active_domain
from tests.links.operators.admin_pages import LINK_BANS, LINKS, MakeLink, codes


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    return active_domain(alice.workspace, "brand.example")


@pytest.mark.parametrize("links", [1, 3])
def test_a_list_takes_as_many_queries_however_long_it_is(
    operator: Operator, make_link: MakeLink, domain: Domain, links: int
) -> None:
    for _ in range(links):
        make_link(domainId=str(domain.public_id))
    link = Link.objects.order_by("pk")[0]
    searches = [str(link.public_id), link.short_code, "alice@example.com", "example.com/page"]
    # Session and operator; count and page.
    assert operator.queries(LINKS) == 4
    assert operator.queries(f"{LINKS}{link.pk}/change/") == 3
    assert [operator.queries(LINKS, q=search) for search in searches] == [6, 6, 6, 6]
    assert [operator.queries(LINKS, state=state) for state in ("off", "banned", "custom")] == [4, 4, 4]


@pytest.mark.parametrize("bans", [1, 3])
def test_the_list_of_link_bans_takes_as_many_queries_however_long_it_is(
    operator: Operator, make_link: MakeLink, bans: int
) -> None:
    for _ in range(bans):
        make_link()
    operator.act(LINKS, "ban_links", Link.objects.all())
    assert len(operator.rows(LINK_BANS)) == bans
    assert operator.queries(LINK_BANS) == 4


def test_links_are_found(
    operator: Operator, api: APIClient, make_link: MakeLink, strange_api: APIClient, domain: Domain
) -> None:
    summer = make_link("https://example.com/Sale?id=7", customCode="Summer", title="Everything must go")
    api.put(f"/api/urls/{summer['_id']}", {"customCode": "Winter"})
    branded = make_link("https://shop.example/", customCode="Summer2", domainId=str(domain.public_id))
    strange = strange_api.post("/api/urls", {"originalUrl": "https://bücher.example/ä"}).json()["data"]["url"]
    for search, matches in {
        "": [strange["shortCode"], "Summer2", "Winter"],
        "Winter": ["Winter"],
        "Summer": ["Summer2", "Winter"],  # a former code, and part of a code
        " Summer2 ": ["Summer2"],
        summer["shortCode"]: ["Winter"],
        branded["shortCode"]: ["Summer2"],
        summer["_id"]: ["Winter"],
        "example.com/sale": ["Winter"],
        "id=7": ["Winter"],
        "EVERYTHING": ["Winter"],
        "bücher": [strange["shortCode"]],
        "xn--bcher-kva": [strange["shortCode"]],
        "Mallory@example.com": [strange["shortCode"]],
        "alice@example.com": ["Summer2", "Winter"],
        "nobody@example.com": [],
        "quokka": [],
        "%": [],
        "'": [],
        "\\": [],
        "a' OR 1=1 --": [],
        "x" * 5000: [],
    }.items():
        assert codes(operator, q=search) == matches, search


def test_the_address_of_an_account_finds_the_links_of_its_own_workspaces(
    operator: Operator, alice: NewAccount, stranger: NewAccount, make_link: MakeLink
) -> None:
    """Not those of workspaces in which it has a lesser role."""
    marketing = team(alice)
    add_member(marketing, stranger, Role.ADMIN)
    shared = key_client_in(marketing, alice.api_key).post(
        "/api/urls", {"originalUrl": "https://example.com/"}
    )
    newest_first = [shared.json()["data"]["url"]["shortCode"], make_link()["shortCode"]][::-1]
    assert codes(operator, q="alice@example.com") == newest_first
    assert codes(operator, q="mallory@example.com") == []


def test_links_are_filtered(operator: Operator, api: APIClient, make_link: MakeLink, domain: Domain) -> None:
    off, banned, branded = make_link(), make_link(), make_link(domainId=str(domain.public_id))
    api.put(f"/api/urls/{off['_id']}", {"isActive": False})
    closed = {
        "scheduled": make_link(startsAt="2040-01-01"),
        "expired": make_link(expiresAt="2020-01-01"),
        "limit_reached": make_link(restrictions={"maxClicks": 1}),
    }
    ClickCounter.objects.filter(link__max_clicks=1).update(clicks=1)
    operator.act(LINKS, "ban_links", Link.objects.filter(short_code=banned["shortCode"]))
    for state, link in {"off": off, "banned": banned, "custom": branded, **closed}.items():
        assert codes(operator, state=state) == [link["shortCode"]]
    assert len(codes(operator, state="nonsense")) == 6


@pytest.mark.parametrize("lookup", ["password__startswith", "description", "owner__password__startswith"])
def test_other_link_fields_cannot_be_filtered(operator: Operator, lookup: str) -> None:
    assert operator.get("/admin/links/link/", {lookup: "a"}).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_the_list_shows_the_state_that_visitors_see(
    operator: Operator, make_link: MakeLink, domain: Domain, visitor: Client
) -> None:
    past, future = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(days=1)
    inactive = Domain.objects.create(
        owner=domain.owner, domain="old.example", host="old.example", status="inactive"
    )
    legal = make_link("https://legal.example/")
    states: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
        "active": (make_link(), {}, None),
        "disabled": (make_link(), {"is_active": False}, "disabled"),
        "banned": (make_link(), {}, "disabled"),
        "banned by host": (make_link("https://a.evil.example/"), {}, "disabled"),
        "banned (legal)": (legal, {"is_active": False}, "legal"),
        "domain inactive": (make_link(domainId=str(domain.public_id)), {"domain": inactive}, "disabled"),
        "scheduled": (make_link(), {"starts_at": future, "expires_at": past}, "not_started"),
        "expired": (make_link(), {"expires_at": past, "max_clicks": 0}, "expired"),
        "limit reached": (make_link(), {"max_clicks": 0}, "limit_reached"),
    }
    ban_host(host="evil.example", reason="")
    ban_host(host="legal.example", reason="Legal")
    banned = Link.objects.get(public_id=states["banned"][0]["_id"])
    operator.act(LINKS, "ban_links", [banned])
    for link, changes, _ in states.values():
        Link.objects.filter(public_id=link["_id"]).update(**changes)
    Code.objects.filter(link__domain=inactive, domain=domain).update(domain=inactive)
    cache_versions.bump_all()
    rows = {str(link.public_id): link for link in operator.rows(LINKS)}
    changelist = operator.see(LINKS).context["cl"]
    for name, (link, _, reason) in states.items():
        row = rows[link["_id"]]
        assert changelist.model_admin.state(row) == name.removesuffix(" by host")
        host = "sho.rt" if row.domain is None else row.domain.host
        answer = visitor.get(f"/{row.short_code}", headers={"host": host})
        assert (answer.status_code == 302, answer.get("X-Refusal-Reason")) == (reason is None, reason), name


def test_the_list_links_to_the_preview_and_cuts_long_texts_to_a_line(
    operator: Operator, make_link: MakeLink, domain: Domain
) -> None:
    destination = "https://example.com/" + "long/" * 60
    make_link(destination, title="a\nb" + "<i>" * 60, customCode="Summer", domainId=str(domain.public_id))
    tree = LexborHTMLParser(operator.see(LINKS).content.decode())
    cells = {node.attributes["class"]: node for node in tree.css("#result_list tbody td")}
    short = cells["field-short_url"].css_first("a")
    assert short.text() == "https://brand.example/Summer"
    assert short.attributes == {
        "href": "https://brand.example/Summer+",
        "target": "_blank",
        "rel": "noopener noreferrer",
    }
    shown = cells["field-short_destination"].css_first("bdi")
    assert (shown.text(), shown.attributes["title"]) == (destination[:59] + "…", destination)
    assert cells["field-short_title"].text() == "a b" + ("<i>" * 60)[:56] + "…"
