"""Links with codes, and what tests read of the codes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Code
from testing.domains.domains import active_domain
from testing.links.calls import rename

URL = "https://example.com/page"


def create(client: APIClient, code: str | None = None, **fields: Any) -> HttpResponse:
    return client.post("/api/urls", {"originalUrl": URL, "customCode": code, **fields})


def created(client: APIClient, code: str | None = None, **fields: Any) -> dict[str, Any]:
    response = create(client, code, **fields)
    assert response.status_code == 201, response.content
    return response.json()["data"]["url"]


def renamed(client: APIClient, link: dict[str, Any], code: str | None) -> None:
    response = rename(client, link, code)
    assert response.status_code == 200, response.content
    assert response.json()["data"]["url"]["customCode"] == code
    short_url = f"http://sho.rt/{code or link['shortCode']}"
    assert response.json()["data"]["url"]["shortUrl"] == short_url


def is_taken(response: HttpResponse, code: str) -> bool:
    return response.status_code == 409 and response.json() == {
        "success": False,
        "message": f"The code {code} is already in use.",
        "code": "code_taken",
    }


def delete(client: APIClient, link: dict[str, Any]) -> None:
    assert client.delete(f"/api/urls/{link['_id']}").status_code == 200


def codes() -> list[tuple[str | None, str, str, bool]]:
    """Every taken code: host, code, kind and whether it has a link."""
    rows = Code.objects.order_by("id").values_list("domain__host", "code", "kind", "link_id")
    return [(host, code, kind, link is not None) for host, code, kind, link in rows]


def destination_of(visitor: Client, code: str, host: str = "sho.rt") -> str | None:
    return visitor.get(f"/{code}", headers={"host": host}).headers.get("Location")


def days_pass(days: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE links_code SET held_until = held_until - %s * interval '1 day' WHERE kind = 'retired'",
            [days],
        )


@pytest.fixture
def brand(alice: NewAccount) -> Domain:
    return active_domain(alice.workspace, "brand.example")
