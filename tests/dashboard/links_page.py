"""The list of links in Chromium: links for it, and what tests read on the page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page
from rest_framework.test import APIClient


@pytest.fixture
def links(api: APIClient) -> None:
    """Alice's 60 links. The list shows 50 of them."""
    urls = [
        {
            "originalUrl": f"https://example.com/{number}",
            "customCode": f"code{number:02}",
            "title": f"Title {number:02}",
            "tags": ["even"] if number % 2 == 0 else [],
        }
        for number in range(60)
    ]
    response = api.post("/api/urls/bulk", {"urls": urls})
    assert response.json()["data"]["succeeded"] == 60


def rows(page: Page) -> Any:
    return page.locator("tr[data-link]")


def status(page: Page) -> Any:
    return page.locator(".pages [role=status]")
