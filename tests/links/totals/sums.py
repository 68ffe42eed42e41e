"""The statistics of an account, and a recount."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from testing.analytics.clicks import drain


def stats(api: APIClient) -> dict[str, Any]:
    response = api.get("/api/urls/stats")
    assert response.status_code == 200, response.content
    return response.json()


def sums(api: APIClient) -> tuple[int, int, int]:
    """Links, active links and clicks. Asserts that both places of the response agree."""
    drain()
    response = stats(api)
    nested = response["data"]["stats"]
    assert (response["totalLinks"], response["totalClicks"]) == (nested["totalUrls"], nested["totalClicks"])
    return nested["totalUrls"], nested["activeUrls"], nested["totalClicks"]
