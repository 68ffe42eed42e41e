"""Calls that change or delete many links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework.test import APIClient

from testing.links.many import results

MakeLink = Callable[..., dict[str, Any]]


def delete(client: APIClient, *ids: str) -> list[dict[str, Any]]:
    return results(client.post("/api/urls/bulk-delete", {"ids": ids}), "deleted")


def update(client: APIClient, *urls: dict[str, Any]) -> list[dict[str, Any]]:
    return results(client.post("/api/urls/bulk-update", {"urls": urls}), "updated")


def update_all(client: APIClient, ids: list[str], data: dict[str, Any]) -> list[dict[str, Any]]:
    return results(client.post("/api/urls/bulk-update", {"ids": ids, "data": data}), "updated")
