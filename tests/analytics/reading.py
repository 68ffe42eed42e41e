"""Reads reports through the API."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient


def report(api: APIClient, link: str, part: str = "", **query: object) -> dict[str, Any]:
    response = api.get(f"/api/analytics/{link}{part}", query)
    assert response.status_code == 200, response.content
    body = response.json()
    assert body.keys() == {"success", "data"}
    assert body["success"] is True
    return body["data"]
