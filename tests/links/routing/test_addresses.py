"""Every URL to which a link can lead passes the checks of `originalUrl`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from bans.models import Ban
from bans.services import ban_host, lift_ban
from domains.models import Domain
from links.models import Link, Route
from links.operators import affected_by_host, find_links
from testing.accounts.admin import Operator
from testing.cases import for_each
from testing.links.calls import whole
from testing.links.many import URL, create_many, imported
from testing.links.routing_fields import RULES, SPLIT
from testing.refusals import broken_rules
from tests.links.creation import everything_written

pytestmark = pytest.mark.django_db(transaction=True)

MakeLink = Callable[..., dict[str, Any]]

BANNED = "https://sub.evil.example/page"


def fields_to(url: str) -> dict[str, dict[str, Any]]:
    """A body for each field with a URL, by the path of the field."""
    return {
        "targetUrl": {"targetUrl": url},
        "notStartedUrl": {"notStartedUrl": url},
        "expiredUrl": {"expiredUrl": url},
        "rules.1.url": {"rules": [RULES[0], {**RULES[1], "url": url}]},
        "split.0.url": {"split": [{**SPLIT[0], "url": url}, SPLIT[1]]},
        "preview.imageUrl": {"preview": {"imageUrl": url}},
    }


PATHS = [*fields_to(URL)]
REFUSED = {
    "http://sho.rt/code": "loop",
    "https://SHO.RT./": "loop",
    "https://go.customer.example/code": "loop",
    "https://go.customer.example./": "loop",
    BANNED: "banned_destination",
    "https://evil.example./": "banned_destination",
}


@pytest.fixture(autouse=True)
def refused_hosts(stranger: NewAccount) -> None:
    Domain.objects.create(owner=stranger.workspace, domain="customer.example", subdomain="go",
                          host="go.customer.example", status="active")  # fmt: skip
    ban_host(host="evil.example")


@pytest.mark.slow
@for_each("path", PATHS)
@for_each("url", REFUSED)
def test_every_url_is_checked_on_every_way(url: str, path: str, api: APIClient, make_link: MakeLink) -> None:
    fields, broken = fields_to(url)[path], [(path, REFUSED[url])]
    link = make_link()
    written = everything_written()
    assert broken_rules(api.post("/api/urls", {"originalUrl": URL, **fields})) == broken
    assert broken_rules(api.put(f"/api/urls/{link['_id']}", fields)) == broken
    [created] = create_many(api, [{"originalUrl": URL, **fields}])
    body = {"urls": [{"_id": link["_id"], **fields}]}
    [updated] = api.post("/api/urls/bulk-update", body).json()["data"]["results"]
    row = json.dumps({"originalUrl": URL, **fields})
    dry, real = imported(api, row, dry_run=True)[0], imported(api, row)[0]
    for verdict in (created, updated, dry, real):
        assert [(error["field"], error["code"]) for error in verdict["errors"]] == broken
    assert everything_written() == written
    assert not Route.objects.exists()


def test_original_url_is_still_checked_if_there_is_a_target(api: APIClient) -> None:
    body = {"originalUrl": BANNED, "targetUrl": URL}
    assert broken_rules(api.post("/api/urls", body)) == [("originalUrl", "banned")]
    body = {"originalUrl": "http://sho.rt/x", "targetUrl": BANNED}
    assert broken_rules(api.post("/api/urls", body)) == [("originalUrl", "loop")]


def test_all_refused_urls_are_reported(api: APIClient) -> None:
    body = {
        "originalUrl": BANNED,
        "expiredUrl": "https://go.customer.example/",
        "split": SPLIT,
        "targetUrl": BANNED,
    }
    assert broken_rules(api.post("/api/urls", body)) == [
        ("originalUrl", "banned"),
        ("targetUrl", "banned_destination"),
        ("expiredUrl", "loop"),
    ]


def test_clearing_the_target_checks_the_original_url(api: APIClient, make_link: MakeLink) -> None:
    link = make_link("https://later.example/", targetUrl=URL)
    ban_host(host="later.example")
    path = f"/api/urls/{link['_id']}"
    assert broken_rules(api.put(path, {"targetUrl": None})) == [("targetUrl", "banned_destination")]
    assert api.put(path, {"targetUrl": URL, "title": "x"}).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_unchanged_url_that_was_banned_later_can_be_sent_back(
    path: str, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(**fields_to("https://later.example/a")[path])
    body = whole(api, link)
    ban_host(host="later.example")
    assert api.put(f"/api/urls/{link['_id']}", {**body, "title": "x"}).status_code == 200
    # Another URL on the host is new.
    changes = fields_to("https://later.example/b")[path]
    assert broken_rules(api.put(f"/api/urls/{link['_id']}", changes)) == [(path, "banned_destination")]


@pytest.mark.parametrize("path", PATHS)
def test_a_ban_of_any_host_stops_the_link_until_it_is_lifted(
    path: str, make_link: MakeLink, visitor: Client, api: APIClient
) -> None:
    link = make_link(**fields_to("https://a.later.example/")[path])
    plain = make_link()

    def statuses() -> list[int]:
        return [visitor.get(f"/{each['shortCode']}").status_code for each in (link, plain)]

    before = statuses()
    assert 410 not in before
    ban = ban_host(host="later.example")
    assert statuses() == [410, before[1]]
    [stored] = Link.objects.filter(public_id=link["_id"]).with_bans()
    assert stored.ban_reason == "other"
    lift_ban(ban=ban)
    assert statuses() == before
    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["isActive"] is True


@pytest.mark.parametrize("path", PATHS)
def test_a_click_of_a_limited_link_is_not_claimed_if_a_branch_is_banned(
    path: str, make_link: MakeLink, visitor: Client
) -> None:
    """The claim itself decides, even if the worker has not heard of the ban."""
    fields = fields_to("https://later.example/")[path]
    link = make_link(**fields, restrictions={"maxClicks": 5, "maxClicksPerVisitor": 5})
    Ban.objects.create(host="later.example")
    with connection.cursor() as cursor:
        cursor.execute("SELECT links_claim(id, ARRAY[]::bytea[]) FROM links_link")
        assert cursor.fetchall() == [("banned",)]
    assert visitor.get(f"/{link['shortCode']}").status_code == 410


def test_a_link_that_has_not_started_gives_no_click(make_link: MakeLink) -> None:
    make_link(startsAt="2099-01-01T00:00:00Z", restrictions={"maxClicks": 5, "maxClicksPerVisitor": 5})
    with connection.cursor() as cursor:
        cursor.execute("SELECT links_claim(id, ARRAY[]::bytea[]) FROM links_link")
        assert cursor.fetchall() == [("not_started",)]
        cursor.execute("SELECT clicks FROM links_clickcounter")
        assert cursor.fetchall() == [(0,)]


# Searches


@pytest.mark.parametrize("path", PATHS)
def test_lists_and_operators_find_a_link_by_each_url(
    path: str, api: APIClient, strange_api: APIClient, make_link: MakeLink, operator: Operator
) -> None:
    link = make_link(**fields_to("https://Needle.example/Über?x")[path])
    make_link()

    def ids(client: APIClient, text: str) -> list[str]:
        listed = client.get("/api/urls", {"search": text}).json()["data"]["urls"]
        return [url["_id"] for url in listed]

    for text in ("needle.example", "https://needle.example/%C3%9Cber?x"):
        assert ids(api, text) == [link["_id"]]
        assert ids(strange_api, text) == []
        assert [str(stored.public_id) for stored in find_links(Link.objects.all(), text)] == [link["_id"]]
    if path not in ("notStartedUrl", "expiredUrl", "preview.imageUrl"):
        assert ids(api, "Needle.example/Über") == [link["_id"]]
    affected = affected_by_host("needle.example")
    assert affected is not None
    assert (affected.links, affected.accounts) == (1, 1)
    page = operator.get("/admin/links/link/", {"q": "needle.example"}).content.decode()
    assert link["shortCode"] in page


def test_removed_url_is_no_longer_found(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(**fields_to("https://needle.example/")["rules.1.url"])
    assert api.put(f"/api/urls/{link['_id']}", {"rules": None}).status_code == 200
    assert api.get("/api/urls", {"search": "needle"}).json()["data"]["urls"] == []


def test_the_admin_shows_the_fields_of_a_routed_link(make_link: MakeLink, operator: Operator) -> None:
    make_link(targetUrl="https://example.com/moved", rules=RULES)
    page = operator.get(f"/admin/links/link/{Link.objects.get().pk}/change/").content.decode()
    assert "https://example.com/moved" in page
    assert "https://example.com/de" in page
