"""Whole links in the responses to writes, for clients that prefer them (RFC 7240)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from domains.models import Domain
from testing.links.calls import address, whole

WHOLE = {"prefer": "return=representation"}
FIELDS = {
    "originalUrl": "https://example.com/",
    "title": "Spring",
    "tags": ["a"],
    "utm": {"source": "mail"},
    "password": "open sesame",
    "restrictions": {"maxClicks": 3},
}


def test_a_creation_returns_what_a_read_does(api: APIClient, brand: Domain) -> None:
    body = {**FIELDS, "domainId": str(brand.public_id)}
    created = api.post("/api/urls", body, headers=WHOLE)
    url = created.json()["data"]["url"]
    assert (created.status_code, created["Preference-Applied"]) == (201, "return=representation")
    assert url == whole(api, url)
    assert created["ETag"] == api.get(address(url))["ETag"]
    assert len(api.post("/api/urls", FIELDS).json()["data"]["url"]) < len(url)


@pytest.mark.parametrize("method", ["put", "patch"])
@pytest.mark.parametrize("changes", [{"title": "new"}, {"customCode": "summer"}])
def test_an_update_returns_what_a_read_does(
    method: str, changes: dict[str, Any], api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    link = make_link()
    updated = getattr(api, method)(address(link), changes, headers=WHOLE)
    assert (updated.status_code, updated["Preference-Applied"]) == (200, "return=representation")
    assert updated.json()["data"]["url"] == whole(api, link)


def test_bulk_calls_return_what_reads_do_with_two_more_statements_at_most(
    api: APIClient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    bodies = [FIELDS | {"title": f"{number}", "password": None} for number in range(20)]
    created = api.post(
        "/api/urls/bulk", {"urls": [*bodies, {"title": "without a URL"}]}, headers=WHOLE
    ).json()
    urls = [result["url"] for result in created["data"]["results"] if result["success"]]
    assert (len(urls), created["data"]["failed"]) == (20, 1)
    assert urls == [whole(api, url) for url in urls]

    changes = {"ids": [url["_id"] for url in urls], "data": {"title": "new"}}
    api.post("/api/urls/bulk-update", changes)
    with django_assert_max_num_queries(13):
        updated = api.post("/api/urls/bulk-update", changes, headers=WHOLE)
    assert updated["Preference-Applied"] == "return=representation"
    assert [result["url"] for result in updated.json()["data"]["results"]] == [
        whole(api, url) for url in urls
    ]


@pytest.mark.parametrize(
    ("prefer", "applied"),
    [
        ("return=representation, handling=strict", "handling=strict, return=representation"),
        ('Return = "representation"; a=b', "return=representation"),
        ("return=minimal", None),
        ("return=representations", None),
    ],
)
def test_the_response_names_the_preferences_that_applied(
    prefer: str, applied: str | None, api: APIClient
) -> None:
    created = api.post("/api/urls", FIELDS, headers={"prefer": prefer})
    assert (created.status_code, created.get("Preference-Applied")) == (201, applied)


def test_a_repeated_request_gets_the_stored_response(api: APIClient) -> None:
    first = api.post("/api/urls", FIELDS, headers={**WHOLE, "idempotency-key": "a"})
    again = api.post("/api/urls", FIELDS, headers={"idempotency-key": "a"})
    assert (again.status_code, again.json()) == (201, first.json())
    assert "Preference-Applied" not in again
