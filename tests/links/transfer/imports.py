"""Calls of the import."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from rest_framework.test import APIClient

from links.models import Link


def send(client: APIClient, content: str, **fields: Any) -> HttpResponse:
    return client.post("/api/urls/import", {"content": content, **fields})


def lines(*rows: dict[str, Any]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def whole(client: APIClient, code: str) -> dict[str, Any]:
    """The link with this code, as its owner reads it."""
    link = Link.objects.get(codes__code=code)
    fields: dict[str, Any] = client.get(f"/api/urls/{link.public_id}").json()["data"]["url"]
    return fields
