"""Helpers for bulk calls and their responses."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpResponse
from rest_framework.test import APIClient

from testing.polling import eventually

URL = "https://example.com/page"
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def create_many(client: APIClient, urls: list[Any]) -> list[dict[str, Any]]:
    response = client.post("/api/urls/bulk", {"urls": urls})
    found = any(result["status"] == 200 for result in response.json().get("data", {}).get("results", []))
    verdicts = results(response, "created or found" if found else "created")
    assert len(verdicts) == len(urls)
    return verdicts


def post_when_admitted(client: APIClient, path: str, body: Any, **request: Any) -> HttpResponse:
    """Repeats a bulk call that was refused only because the account has too many others in progress."""

    def attempt() -> HttpResponse | None:
        response: HttpResponse = client.post(path, body, **request)
        is_refused = response.status_code == 429 and response.json()["code"] == "too_many_at_once"
        return None if is_refused else response

    return cast("HttpResponse", eventually(attempt))


def imported(
    client: APIClient, content: str, *, dry_run: bool = False, **fields: Any
) -> list[dict[str, Any]]:
    response = client.post("/api/urls/import", {"content": content, "dryRun": dry_run, **fields})
    data = response.json().get("data", {})
    return results(
        response,
        "can be imported; nothing was written" if dry_run else "were imported",
        name="row",
        first=1,
        format=data.get("format"),
        hostChanges=data.get("hostChanges"),
        dryRun=dry_run,
    )


def results(
    response: HttpResponse, done: str, *, name: str = "index", first: int = 0, **other_keys: Any
) -> list[dict[str, Any]]:
    """The results in request order. Asserts that the response has no other keys than ``beside``."""
    assert response.status_code == 200, response.content
    body = response.json()
    verdicts: list[dict[str, Any]] = body["data"]["results"]
    good = sum(result["success"] for result in verdicts)
    assert [result[name] for result in verdicts] == list(range(first, first + len(verdicts)))
    assert body == {
        "success": True,
        "message": f"{good} of {len(verdicts)} URLs {done}.",
        "data": {**other_keys, "results": verdicts, "succeeded": good, "failed": len(verdicts) - good},
    }
    return verdicts
