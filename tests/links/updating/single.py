"""A link with every field, and what tests read and change of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from testing.links.calls import address

URL = "https://example.com/page"
MakeLink = Callable[..., dict[str, Any]]
FULL = {
    "customCode": "spring",
    "title": "Title",
    "description": "Description",
    "tags": ["One", "two"],
    "expiresAt": "2030-12-31T23:59:59.123456Z",
    "utm": {"source": "s", "medium": "m", "campaign": "c", "term": "t", "content": "o"},
    "restrictions": {
        "maxClicks": 9,
        "allowedCountries": ["DE", "AT"],
        "blockedCountries": ["FR"],
        "allowedDevices": ["mobile"],
    },
    "redirectType": 301,
}


def read(api: APIClient, link: dict[str, Any]) -> dict[str, Any]:
    response = api.get(address(link))
    assert response.status_code == 200, response.content
    assert response.json().keys() == {"success", "data"}
    assert response.json()["data"].keys() == {"url"}
    return response.json()["data"]["url"]


def update(api: APIClient, link: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    response = api.put(address(link), body)
    assert response.status_code == 200, response.content
    body = response.json()
    assert body.keys() - {"warnings"} == {"success", "message", "data"}
    assert (body["success"], body["message"]) == (True, "URL updated successfully.")
    assert body["data"].keys() == {"url"}
    return body["data"]["url"]


def row_of(link: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The link's complete row."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l::text, (SELECT array_agg(c::text ORDER BY c.id) FROM links_code c WHERE c.link_id = l.id)"
            " FROM links_link l WHERE public_id = %s",
            [link["_id"]],
        )
        return cursor.fetchall()


def without(link: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in link.items() if name not in names}


@pytest.fixture
def link(make_link: MakeLink) -> dict[str, Any]:
    return make_link(URL, password="open sesame", **FULL)
