"""Changes of the fields that decide where a link leads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework.test import APIClient

MakeLink = Callable[..., dict[str, Any]]


def put(client: APIClient, link: dict[str, Any], **changes: Any) -> dict[str, Any]:
    response = client.put(f"/api/urls/{link['_id']}", changes)
    assert response.status_code == 200, response.content
    url: dict[str, Any] = response.json()["data"]["url"]
    return url
