"""The links in reach of a key that is limited to a domain, or to the links that it created."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import ScopedKey
from accounts.services import NewAccount
from links.models import ClickCounter, Link
from testing.accounts.keys import scoped_client
from testing.cases import for_each
from tests.links.key_limits.limited_keys import OUTSIDE, Site, create, listed
from tests.links.key_limits.limited_keys import site as site


@pytest.mark.parametrize("outside", [0, 4])
def test_pages_are_the_same_wherever_the_links_are_in_the_order(
    outside: int, alice: NewAccount, api: APIClient
) -> None:
    """A page is read from all links in order if those within the limits are many, and are not all at the other end."""
    client = scoped_client(alice.workspace, alice.user, only_own=True)
    titles = ["b", "a", "b", "d", "c", "a", "f", "e", "g", "c"]
    ids = [create(client, title) for title in titles[:5]]
    others = [create(api, "0") for _ in range(outside)]
    ids += [create(client, title) for title in titles[5:]]
    for number, link in enumerate([*ids, *others]):
        ClickCounter.objects.filter(link__public_id=link).update(clicks=number * 7 % 5)
    clicks = {str(row.link.public_id): row.clicks for row in ClickCounter.objects.select_related("link")}
    keys: dict[str, Any] = {
        "createdAt": ids.index,
        "title": lambda link: (titles[ids.index(link)], ids.index(link)),
        "clickCount": lambda link: (clicks[link], ids.index(link)),
    }
    for sort, key in keys.items():
        for order in ("asc", "desc"):
            expected = sorted(ids, key=key, reverse=order == "desc")
            for limit in (1, 2, 3, 10):
                pages = [
                    listed(client, sortBy=sort, sortOrder=order, limit=limit, page=page)
                    for page in range(1, 12 // limit + 2)
                ]
                assert [link for page in pages for link in page] == expected
                assert all(len(page) == limit for page in pages[: 10 // limit])


def test_lists_have_only_the_links_within_the_limits(site: Site) -> None:
    assert listed(site.client) == site.reached[::-1]
    assert listed(site.client, sortOrder="asc") == site.reached
    assert listed(site.client, tags="a") == site.reached[:1]
    assert listed(site.client, search="second") == site.reached[1:2]
    assert listed(site.client, search=OUTSIDE) == []
    assert listed(site.client, isActive="false") == []
    assert listed(site.client, sortBy="title", sortOrder="asc", limit=1) == [
        min(site.reached, key=lambda link: Link.objects.get(public_id=link).title or "")
    ]


def test_pages_of_a_list(site: Site) -> None:
    pages = [site.client.get("/api/urls", {"limit": 1, "page": page}).json()["data"] for page in (1, 2, 9)]
    assert [[link["_id"] for link in page["urls"]] for page in pages] == [
        site.reached[-1:],
        site.reached[-2:-1],
        [],
    ]
    assert {page["pagination"]["total"] for page in pages} == {len(site.reached)}


def test_a_list_by_clicks(site: Site) -> None:
    ClickCounter.objects.filter(link__public_id=site.reached[0]).update(clicks=5)
    assert listed(site.client, sortBy="clickCount")[0] == site.reached[0]


def test_a_short_url_outside_the_limits_is_not_found_by_search(site: Site) -> None:
    for identifier in (*site.reached, *site.outside):
        address = site.api.get(f"/api/urls/{identifier}").json()["data"]["url"]["shortUrl"]
        expected = [identifier] if identifier in site.reached else []
        assert listed(site.client, search=address) == expected


def test_a_list_takes_the_same_number_of_queries_for_any_number_of_links(site: Site) -> None:
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            listed(site.client)
        counts.append(len(queries))
        create(site.client, "more", domainId=str(site.domain.public_id))
    is_of_domain = not ScopedKey.objects.filter(only_own=True).exists()
    assert counts == ([4, 4] if is_of_domain else [3, 3])


@for_each(
    ("method", "path", "body"),
    [
        ("get", "/api/urls/{}", None),
        ("put", "/api/urls/{}", {"title": "changed"}),
        ("put", "/api/urls/{}", {"customCode": "changed"}),
        ("delete", "/api/urls/{}", {}),
        ("post", "/api/urls/{}/simulate", {}),
        ("get", "/api/analytics/{}", None),
        ("get", "/api/analytics/{}/devices", None),
        ("get", "/api/analytics/{}/geographic", None),
        ("get", "/api/analytics/{}/clicks", None),
        ("get", "/api/qr-codes?urlId={}", None),
        ("post", "/api/qr-codes", {"urlId": "{}"}),
    ],
)
@pytest.mark.slow
def test_links_outside_the_limits_are_unknown(method: str, path: str, body: Any, site: Site) -> None:
    def call(identifier: str) -> Any:
        sent = json.loads(json.dumps(body).replace("{}", identifier)) if body else body
        return getattr(site.client, method)(path.format(identifier), sent)

    unknown = call("01890000-0000-7000-8000-000000000000")
    for identifier in site.outside:
        before = list(Link.objects.filter(public_id=identifier).values())
        response = call(identifier)
        assert (response.status_code, response.json()) == (404, unknown.json())
        assert list(Link.objects.filter(public_id=identifier).values()) == before
    assert call(site.reached[0]).status_code in (200, 201)


def test_bulk_calls_stay_within_the_limits(site: Site) -> None:
    ids = [site.reached[0], *site.outside]
    updated = site.client.post("/api/urls/bulk-update", {"ids": ids, "data": {"title": "changed"}}).json()
    assert [result["status"] for result in updated["data"]["results"]] == [200] + [404] * len(site.outside)
    renamed = site.client.post(
        "/api/urls/bulk-update",
        {"urls": [{"_id": link, "customCode": f"new{n}"} for n, link in enumerate(ids)]},
    ).json()
    assert [result["status"] for result in renamed["data"]["results"]] == [200] + [404] * len(site.outside)
    deleted = site.client.post("/api/urls/bulk-delete", {"ids": ids}).json()
    assert [result["status"] for result in deleted["data"]["results"]] == [200] + [404] * len(site.outside)
    assert set(map(str, Link.objects.values_list("public_id", flat=True))) == {
        *site.reached[1:],
        *site.outside,
    }


def test_totals_are_those_of_the_links_within_the_limits(site: Site) -> None:
    ClickCounter.objects.filter(link__public_id=site.reached[0]).update(clicks=3)
    ClickCounter.objects.filter(link__public_id=site.outside[0]).update(clicks=100)
    Link.objects.filter(public_id=site.reached[1]).update(is_active=False)
    body = site.client.get("/api/urls/stats").json()
    stats = body["data"]["stats"]
    number = len(site.reached)
    assert (body["totalLinks"], body["totalClicks"], stats["activeUrls"]) == (number, 3, number - 1)
    assert {link["_id"] for link in stats["topUrls"]} == set(site.reached)
    assert stats["topUrls"][0]["_id"] == site.reached[0]


def test_exports_have_only_the_links_within_the_limits(site: Site) -> None:
    for query in ("", "&search=example"):
        response = site.client.get(f"/api/urls/export?format=jsonl{query}")
        lines = b"".join(response.streaming_content).splitlines()
        assert [json.loads(line)["_id"] for line in lines] == site.reached[::-1]


def test_qr_codes_of_links_outside_the_limits_are_unknown(site: Site) -> None:
    inside = site.client.post("/api/qr-codes", {"urlId": site.reached[0]}).json()["data"]["qrCode"]["_id"]
    outside = [
        site.api.post("/api/qr-codes", {"urlId": link}).json()["data"]["qrCode"]["_id"]
        for link in site.outside
    ]
    assert [code["_id"] for code in site.client.get("/api/qr-codes").json()["data"]["qrCodes"]] == [inside]
    for code in outside:
        path = f"/api/qr-codes/{code}"
        assert [site.client.get(path).status_code, site.client.delete(path).status_code] == [404, 404]
    assert site.client.get(f"/api/qr-codes/{inside}").status_code == 200
    assert site.client.delete(f"/api/qr-codes/{inside}").status_code == 200
