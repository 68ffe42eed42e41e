"""The editor of a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from testing.pages.browser import Visit

MakeLink = Callable[..., dict[str, Any]]
DESTINATION = "https://example.com/page"


def open_link(visit: Visit, address: str, link: dict[str, Any]) -> Page:
    visit.page.goto(f"{address}/dashboard/links/{link['_id']}")
    expect(visit.page.locator("form.editor[data-link]")).to_be_visible()
    return visit.page


def unfold(page: Page, title: str) -> None:
    page.locator("summary", has_text=title).click()
