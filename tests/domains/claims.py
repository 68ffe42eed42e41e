"""Claims of domains."""

from __future__ import annotations

from rest_framework.test import APIClient


def names(client: APIClient) -> list[str]:
    response = client.get("/api/domains")
    assert response.status_code == 200
    return [domain["fullDomain"] for domain in response.json()["data"]["domains"]]
