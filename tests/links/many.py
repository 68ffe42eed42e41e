"""Calls with many links, and what they answer."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.test import APIClient

URL = "https://example.com/page"
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def create_many(client: APIClient, urls: list[Any]) -> list[dict[str, Any]]:
    found = results(client.post("/api/urls/bulk", {"urls": urls}), "created")
    assert len(found) == len(urls)
    return found


def imported(
    client: APIClient, content: str, *, dry_run: bool = False, **fields: Any
) -> list[dict[str, Any]]:
    response = client.post("/api/urls/import", {"content": content, "dryRun": dry_run, **fields})
    return results(
        response,
        "can be imported; nothing was written" if dry_run else "were imported",
        name="row",
        first=1,
        format=response.json().get("data", {}).get("format"),
        dryRun=dry_run,
    )


def results(
    response: HttpResponse, done: str, *, name: str = "index", first: int = 0, **beside: Any
) -> list[dict[str, Any]]:
    """One for each, in the order sent, and nothing else around them but ``beside``."""
    assert response.status_code == 200, response.content
    body = response.json()
    found: list[dict[str, Any]] = body["data"]["results"]
    good = sum(each["success"] for each in found)
    assert [each[name] for each in found] == list(range(first, first + len(found)))
    assert body == {
        "success": True,
        "message": f"{good} of {len(found)} URLs {done}.",
        "data": {**beside, "results": found, "succeeded": good, "failed": len(found) - good},
    }
    return found
