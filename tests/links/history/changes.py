"""The history of a link, and how tests restore a change."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from testing.links.calls import address


def page_of(api: APIClient, link: dict[str, Any], **query: Any) -> dict[str, Any]:
    response = api.get(f"{address(link)}/history", query)
    assert response.status_code == 200, response.json()
    return response.json()["data"]


def changes_of(api: APIClient, link: dict[str, Any]) -> list[dict[str, Any]]:
    return page_of(api, link)["changes"]


def restore(api: APIClient, link: dict[str, Any], change: dict[str, Any]) -> Any:
    return api.post(f"{address(link)}/history/{change['_id']}/restore")
