"""Calls of the import."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from rest_framework.test import APIClient


def send(client: APIClient, content: str, **fields: Any) -> HttpResponse:
    return client.post("/api/urls/import", {"content": content, **fields})


def lines(*rows: dict[str, Any]) -> str:
    return "\n".join(json.dumps(row) for row in rows)
