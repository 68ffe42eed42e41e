"""Keys with scopes, by the API."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from accounts.models import Workspace
from domains.models import Domain

MINIMAL: dict[str, Any] = {"name": "Import", "scopes": ["urls:write"]}
UNKNOWN = "01890000-0000-7000-8000-000000000000"


def domain(owner: Workspace, host: str = "go.example") -> Domain:
    return Domain.objects.create(owner=owner, domain=host, host=host, status="active")


def create(client: APIClient, **fields: Any) -> dict[str, Any]:
    response = client.post("/api/keys", MINIMAL | fields)
    assert response.status_code == 201, response.content
    key: dict[str, Any] = response.json()["data"]["key"]
    return key


def changes(client: APIClient) -> list[tuple[str, Any, Any]]:
    """The history of keys, oldest first."""
    listed = client.get("/api/audit").json()["data"]["changes"]
    return [
        (change["action"], change["before"], change["after"])
        for change in reversed(listed)
        if change["action"].startswith("key.")
    ]


def only(client: APIClient) -> dict[str, Any]:
    [key] = client.get("/api/keys").json()["data"]["keys"]
    return dict(key)


def refused(response: Any, status: int, code: str) -> bool:
    return (response.status_code, response.json()["code"]) == (status, code)
