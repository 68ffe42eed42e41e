"""Reports as clients get them."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient


def report(api: APIClient, link: str, part: str = "", **query: object) -> dict[str, Any]:
    response = api.get(f"/api/analytics/{link}{part}", query)
    assert response.status_code == 200, response.content
    answer = response.json()
    assert answer.keys() == {"success", "data"}
    assert answer["success"] is True
    return answer["data"]
