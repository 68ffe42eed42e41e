"""Copies of links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.rights import Scope
from accounts.services import NewAccount
from domains.models import Domain
from links.models import ClickCounter, Link
from testing.accounts.keys import scoped_client
from testing.links.calls import put, whole

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/spring"
SETTINGS = {
    "title": "Spring",
    "description": "For the team",
    "tags": ["Mail", "sale"],
    "expiresAt": "2031-01-01T00:00:00Z",
    "password": "open sesame",
    "utm": {"source": "mail"},
    "restrictions": {"maxClicks": 5, "allowedCountries": ["DE"]},
    "redirectType": 301,
    "isActive": False,
    "targetUrl": "https://example.com/target",
    "startsAt": "2030-01-01T00:00:00Z",
    "notStartedUrl": "https://example.com/soon",
    "expiredUrl": "https://example.com/late",
    "fallbackUrl": "https://example.com/dead",
    "healthCheck": "weekly",
    "forwardQuery": True,
    "referrerPolicy": "no-referrer",
    "rules": [{"url": "https://example.com/de", "conditions": [{"type": "country", "values": ["DE"]}]}],
    "split": [{"name": name, "url": f"https://example.com/{name}", "weight": 30} for name in "ab"],
    "preview": {"title": "Card"},
}
# What belongs to one link.
OWN = {"_id", "shortCode", "shortUrl", "customCode", "externalId", "clickCount", "createdAt", "updatedAt"}


def duplicate(client: APIClient, link: dict[str, Any], status: int = 201, **fields: Any) -> dict[str, Any]:
    response = client.post(f"/api/urls/{link['_id']}/duplicate", fields)
    assert response.status_code == status, response.content
    if status != 201:
        refusal: dict[str, Any] = response.json()
        return refusal
    copied: dict[str, Any] = response.json()["data"]["url"]
    assert response["Location"] == f"/api/urls/{copied['_id']}"
    assert response["ETag"] == client.get(response["Location"])["ETag"]
    return copied


def without_ids(link: dict[str, Any]) -> dict[str, Any]:
    entries = {
        name: [{key: entry[key] for key in entry if key != "_id"} for entry in link[name]]
        for name in ("rules", "split")
    }
    return {name: link[name] for name in link if name not in OWN} | entries


def test_a_copy_has_all_settings_and_nothing_that_is_the_links_own(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    link = make_link(
        originalUrl=URL, customCode="spring", externalId="1", domainId=str(brand.public_id), **SETTINGS
    )
    ClickCounter.objects.update(clicks=4)
    source = whole(api, link)
    copied = whole(api, duplicate(api, link))
    assert without_ids(copied) == without_ids(source)
    own = ("customCode", "externalId", "clickCount")
    assert [copied[name] for name in own] == [None, None, 0]
    assert {entry["_id"] for entry in copied["split"]}.isdisjoint(entry["_id"] for entry in source["split"])
    assert len(set(Link.objects.values_list("password", flat=True))) == 1
    assert whole(api, link) == source


def test_sent_fields_replace_those_of_the_copy(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL, **SETTINGS)
    changes = {
        "title": "Summer",
        "customCode": "summer",
        "externalId": "2",
        "password": None,
        "utm": None,
        "targetUrl": "https://example.com/summer",
    }
    copied = whole(api, duplicate(api, link, **changes))
    expected = {**changes, "utm": {}, "hasPassword": False, "tags": ["Mail", "sale"]}
    assert {name: copied[name] for name in expected if name != "password"} == {
        name: value for name, value in expected.items() if name != "password"
    }


def test_another_url_of_the_copy_is_where_it_leads(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL, targetUrl="https://example.com/target")
    other = "https://example.com/other"
    copied = whole(api, duplicate(api, link, originalUrl=other))
    assert (copied["originalUrl"], copied["targetUrl"]) == (other, None)


def test_the_rules_are_those_of_a_creation(api: APIClient, make_link: MakeLink, brand: Domain) -> None:
    link = make_link(originalUrl=URL, domainId=str(brand.public_id), expiresAt="2031-01-01")
    make_link(customCode="taken", externalId="1")
    for fields, status, code in (
        ({"customCode": "taken", "domainId": "base"}, 409, "code_taken"),
        ({"customCode": "admin"}, 409, "code_reserved"),
        ({"externalId": "1"}, 409, "external_id_taken"),
        ({"domainId": "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"}, 404, "not_found"),
        ({"startsAt": "2032-01-01"}, 400, "validation_error"),
        ({"titel": "x"}, 400, "unknown_field"),
    ):
        assert duplicate(api, link, status, **fields)["code"] == code, fields
    Domain.objects.update(status="pending")
    assert duplicate(api, link, 409)["code"] == "domain_not_active"
    assert Link.objects.count() == 2


def test_the_quota_counts_copies(settings: Settings, api: APIClient, make_link: MakeLink) -> None:
    settings.LINK_QUOTAS = {"free": 2, "pro": 2, "enterprise": 2}
    link = make_link(originalUrl=URL)
    duplicate(api, link)
    assert duplicate(api, link, 429)["code"] == "quota_exceeded"
    assert Link.objects.count() == 2


def test_only_editors_and_keys_that_may_read_copy_a_link(
    alice: NewAccount, api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(originalUrl=URL)
    assert duplicate(strange_api, link, 404)["message"] == "URL not found."
    writer = scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE)
    assert duplicate(writer, link, 403)["data"]["scope"] == "urls:read"
    only_own = scoped_client(alice.workspace, alice.user, Scope.URLS_READ, Scope.URLS_WRITE, only_own=True)
    duplicate(only_own, link, 404)
    assert Link.objects.count() == 1


def test_a_link_is_also_named_by_its_external_id(api: APIClient, make_link: MakeLink) -> None:
    make_link(originalUrl=URL, externalId="order 1")
    response = api.post("/api/urls/ext_order%201/duplicate", {})
    assert response["Location"] == f"/api/urls/{response.json()['data']['url']['_id']}"


def test_a_repeated_call_with_a_key_makes_one_copy(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL)
    put(api, link, title="a")
    headers = {"idempotency-key": "1"}
    first, second = (api.post(f"/api/urls/{link['_id']}/duplicate", {}, headers=headers) for _ in range(2))
    assert (first.json(), first["Location"]) == (second.json(), second["Location"])
    assert Link.objects.count() == 2


def test_a_copy_can_be_used_although_its_link_is_over(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(URL, isArchived=True, startsAt="2019-01-01", expiresAt="2020-01-01")
    copy = duplicate(api, link)
    stored = whole(api, copy)
    assert (stored["isArchived"], stored["status"]) == (False, "active")
    assert (stored["startsAt"], stored["expiresAt"]) == (None, None)
