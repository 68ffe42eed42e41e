"""The links in reach of a key that is limited to a domain, or to the links that it created."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import ScopedKey
from accounts.rights.scopes import Scope
from accounts.services import NewAccount
from domains.models import Domain
from links.models import ClickCounter, Link
from testing.keys import scoped_client

URL = "https://example.com/"
OUTSIDE = "outside"


class Site(NamedTuple):
    """Links that the limited ``client`` reaches, by title, and the main key's client ``api``."""

    client: APIClient
    api: APIClient
    domain: Domain
    other: Domain
    reached: list[str]
    outside: list[str]


def create(client: APIClient, title: str, **fields: Any) -> str:
    response = client.post("/api/urls", {"originalUrl": URL, "title": title, **fields})
    assert response.status_code == 201, response.content
    identifier: str = response.json()["data"]["url"]["_id"]
    return identifier


@pytest.fixture(params=["domain", "own", "both"])
def site(request: pytest.FixtureRequest, alice: NewAccount, api: APIClient) -> Site:
    domain, other = (
        Domain.objects.create(owner=alice.workspace, domain=host, host=host, status="active")
        for host in ("go.example", "other.example")
    )
    limits: dict[str, Any] = {}
    if request.param != "own":
        limits["domain_id"] = domain.pk
    if request.param != "domain":
        limits["only_own"] = True
    client = scoped_client(alice.workspace, alice.user, **limits)
    another = scoped_client(alice.workspace, alice.user, **limits)
    name = {"domainId": str(domain.public_id)}
    reached = [create(client, "first", **name, tags=["a"]), create(client, "second", **name)]
    outside = [create(api, OUTSIDE), create(api, OUTSIDE, domainId=str(other.public_id), tags=["a"])]
    same_domain = create(another, "third", **name)
    (reached if request.param == "domain" else outside).append(same_domain)
    if request.param == "own":
        reached.append(create(client, "elsewhere"))
    return Site(client, api, domain, other, reached, outside)


def listed(client: APIClient, **query: Any) -> list[str]:
    body = client.get("/api/urls", query).json()["data"]
    assert body["pagination"]["total"] >= len(body["urls"])
    return [link["_id"] for link in body["urls"]]


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


@pytest.mark.parametrize(
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
def test_links_outside_the_limits_are_unknown(method: str, path: str, body: Any, site: Site) -> None:
    def call(identifier: str) -> Any:
        sent = json.loads(json.dumps(body).replace("{}", identifier)) if body else body
        return getattr(site.client, method)(path.format(identifier), sent)

    unknown = call("01890000-0000-7000-8000-000000000000")
    for identifier in site.outside:
        before = list(Link.objects.filter(public_id=identifier).values())
        response = call(identifier)
        assert (response.status_code, response.content) == (404, unknown.content)
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


def by_domain(site: Site) -> bool:
    return ScopedKey.objects.filter(domain_id__isnull=False).exists()


def test_new_links_are_on_the_domain_of_the_key(site: Site) -> None:
    titles = {"single": {}, "named": {"domainId": str(site.domain.public_id)}}
    for title, fields in titles.items():
        create(site.client, title, **fields)
    bulk = [{"originalUrl": URL, "title": "many"}, {"originalUrl": URL, "title": "many"}]
    assert site.client.post("/api/urls/bulk", {"urls": bulk}).json()["data"]["succeeded"] == 2
    expected = site.domain.pk if by_domain(site) else None
    assert Link.objects.get(title="named").domain_id == site.domain.pk
    created = Link.objects.filter(title__in=["single", "many"])
    assert list(created.values_list("domain_id", flat=True)) == [expected] * 3
    assert len(listed(site.client, search="many")) == 2


@pytest.mark.parametrize("named", ["base", "other"])
def test_a_key_of_a_domain_creates_no_links_elsewhere(named: str, site: Site) -> None:
    fields = {"originalUrl": URL, "domainId": "base" if named == "base" else str(site.other.public_id)}
    before = Link.objects.count()
    statuses = [
        site.client.post("/api/urls", fields).status_code,
        site.client.post("/api/urls/bulk", {"urls": [fields]}).json()["data"]["succeeded"],
    ]
    assert statuses == ([404, 0] if by_domain(site) else [201, 1])
    assert Link.objects.count() - before == (0 if by_domain(site) else 2)


def test_imports_go_to_the_domain_of_the_key(site: Site) -> None:
    content = f"originalUrl,title\n{URL},imported\n"
    sent = {"content": content, "dryRun": False}
    site.client.post("/api/urls/import", sent | {"domainId": str(site.domain.public_id)})
    assert len(listed(site.client, search="imported")) == 1
    response = site.client.post("/api/urls/import", sent | {"domainId": str(site.other.public_id)})
    assert response.status_code == (404 if by_domain(site) else 200)
    on_default = site.client.post("/api/urls/import", sent | {"domainId": "base"})
    assert on_default.json()["data"]["succeeded"] == (0 if by_domain(site) else 1)


def test_a_key_of_a_domain_sees_no_other_domain(site: Site) -> None:
    domains = [domain["_id"] for domain in site.client.get("/api/domains").json()["data"]["domains"]]
    available = [
        domain["id"] for domain in site.client.get("/api/urls/domains/available").json()["data"]["domains"]
    ]
    own, other = str(site.domain.public_id), str(site.other.public_id)
    if by_domain(site):
        assert (domains, available) == ([own], [own])
        assert site.client.get(f"/api/domains/{other}").status_code == 404
        assert site.client.get("/api/urls/stats").json()["customDomains"] == 1
    else:
        assert (domains, available) == ([own, other], ["base", own, other])


def test_links_know_the_key_that_created_them(alice: NewAccount, api: APIClient) -> None:
    client = scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE)
    key = ScopedKey.objects.get()
    create(client, "single")
    client.post("/api/urls/bulk", {"urls": [{"originalUrl": URL, "title": "many"}]})
    content = f"originalUrl,title\n{URL},imported\n"
    client.post("/api/urls/import", {"content": content, "dryRun": False})
    create(api, "main")
    routed = {
        "rules": [{"url": "https://example.org/", "conditions": [{"type": "device", "values": ["mobile"]}]}]
    }
    create(client, "routed", **routed)
    assert dict(Link.objects.values_list("title", "key_id")) == {
        **dict.fromkeys(("single", "many", "imported", "routed"), key.pk),
        "main": None,
    }


def test_a_limit_can_be_set_after_the_links_were_created(
    alice: NewAccount, bearer: APIClient, api: APIClient
) -> None:
    client = scoped_client(alice.workspace, alice.user, Scope.URLS_READ, Scope.URLS_WRITE)
    own = create(client, "own")
    create(api, OUTSIDE)
    assert len(listed(client)) == 2
    path = f"/api/keys/{ScopedKey.objects.get().public_id}"
    assert bearer.patch(path, {"onlyOwn": True}).status_code == 200
    assert listed(client) == [own]
    assert bearer.post(f"{path}/rotate", {"graceSeconds": 60}).status_code == 200
    assert listed(client) == [own]
