"""Requests with an Idempotency-Key."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from accounts.models import StoredResponse

LINK = {"originalUrl": "https://example.com/page", "title": "Spring", "customCode": "spring"}


def create(client: APIClient, key: str, body: Any = LINK, path: str = "/api/urls") -> Any:
    return client.post(path, body, headers={"idempotency-key": key})


def is_replayed(response: Any) -> bool:
    assert response.get("Idempotent-Replayed") in (None, "true")
    return "Idempotent-Replayed" in response


def count_stored() -> int:
    return StoredResponse.objects.count()
