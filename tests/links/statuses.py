"""The statuses of links in their list."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient


def listed(client: APIClient, **query: Any) -> dict[str, str]:
    response = client.get("/api/urls", {"limit": 100, **query})
    assert response.status_code == 200, response.json()
    data = response.json()["data"]
    urls = {url["title"]: url["status"] for url in data["urls"]}
    assert data["pagination"]["total"] == len(urls)
    return urls
