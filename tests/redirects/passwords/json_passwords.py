"""Passwords that programs send in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from pages.refusals import Refusal
from testing.analytics.clicks import drain
from tests.redirects.passwords.protected_links import HERE

MakeLink = Callable[..., dict[str, Any]]
AGENT = "python-requests/2.32.0"


def post(
    path: str,
    body: Any,
    *,
    content_type: str = "application/json",
    address: str = HERE,
    agent: str = AGENT,
    **headers: str,
) -> HttpResponse:
    """Send a body as a program does: without cookies, and checked for forgery like every request."""
    program = Client(enforce_csrf_checks=True, headers={"host": "sho.rt", "user-agent": agent, **headers})
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return program.generic("POST", path, content, content_type, REMOTE_ADDR=address)


def counts(api: APIClient, link: dict[str, Any]) -> tuple[int, dict[str, int]]:
    """The clicks and the refusals of the link."""
    drain()
    report = api.get(f"/api/analytics/{link['_id']}").json()["data"]
    return report["totalClicks"], {reason: number for reason, number in report["refused"].items() if number}


def assert_refusal(response: HttpResponse, refusal: Refusal, **details: int) -> None:
    """The envelope of the API, with the reason that links have everywhere. ``details`` are further keys."""
    assert (response.status_code, response["Content-Type"]) == (refusal.status, "application/json")
    assert response.json() == {
        "success": False,
        "message": refusal.message,
        "reason": refusal.reason,
        "code": refusal.reason,
        **details,
    }
    assert response["Cache-Control"] == "no-store"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "Location" not in response
    assert response.cookies == {}
