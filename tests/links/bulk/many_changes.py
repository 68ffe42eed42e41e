"""Calls that change or delete many links."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from testing.links.many import results


def delete(client: APIClient, *ids: str) -> list[dict[str, Any]]:
    return results(client.post("/api/urls/bulk-delete", {"ids": ids}), "deleted")
