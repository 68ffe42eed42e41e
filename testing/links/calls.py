"""Calls of the API for one link."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient


def address(link: dict[str, Any]) -> str:
    return f"/api/urls/{link['_id']}"


def whole(client: APIClient, link: dict[str, Any]) -> dict[str, Any]:
    """The link as its owner reads it."""
    response = client.get(address(link))
    assert response.status_code == 200, response.content
    url: dict[str, Any] = response.json()["data"]["url"]
    return url


def put(client: APIClient, link: dict[str, Any], **fields: Any) -> Any:
    """The response to a change that succeeds."""
    response = client.put(address(link), fields)
    assert response.status_code == 200, response.json()
    return response


def rename(client: APIClient, link: dict[str, Any], code: str | None) -> Any:
    """The response to a change of the code, which may be refused."""
    return client.put(address(link), {"customCode": code})
