"""Calls of the export, and what they return."""

from __future__ import annotations

import csv
import io
from typing import Any

from rest_framework.test import APIClient


def export(client: APIClient, **query: Any) -> str:
    response = client.get("/api/urls/export", query)
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content).decode()


def rows(client: APIClient, **query: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export(client, **query), newline="")))
