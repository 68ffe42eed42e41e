"""Keys with limits, and links within and outside them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.accounts.keys import scoped_client

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
