"""The report page in Chromium: how tests open it, and what they read on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Locator, Page, expect

from analytics.models import Kind
from testing.analytics.clicks import drain
from testing.analytics.facts import Fact, record
from testing.background import running

MakeLink = Callable[..., dict[str, Any]]
MARCH = "range=custom&start=2026-03-01&end=2026-03-31&zone=UTC"
NEWS = "https://www.news.example/today"
FACTS = [
    Fact("2026-02-27T10:00Z", visitor="a", count=4),
    Fact("2026-03-02T10:20Z", visitor="a", referrer=NEWS, language="pt", region="Brandenburg"),
    Fact("2026-03-02T11:10Z", visitor="b", device="mobile", browser="Safari", operating_system="iOS"),
    Fact("2026-03-08T23:30Z", "SG", "Singapore", visitor="c", count=3),
    Fact("2026-03-09T00:30Z", "unknown", "unknown", device="unknown", visitor="d"),
    Fact("2026-03-09T01:00Z", kind=Kind.CRAWLER, count=5),
    Fact("2026-03-09T02:00Z", kind=Kind.REFUSED, reason="country", count=2),
]


def url_of(address: str, link: str, query: str = "") -> str:
    return f"{address}/dashboard/links/{link}/report?{query}"


def total(page: Page, key: str) -> Locator:
    """``key``: clicks, unique, scans, asked, refused or notCounted."""
    return page.locator(f"[data-total={key}] strong")


def table(page: Page, name: str) -> Locator:
    return page.get_by_role("table", name=name, exact=True)


def show(page: Page, name: str) -> None:
    """Choose the tab of this table, if it has one. The page draws its sections one after another."""
    expect(page.locator(".panels").first).to_be_visible()
    expect(page.locator(".report [aria-busy=true]")).to_have_count(0)
    tab = page.get_by_role("tab", name=name, exact=True)
    if tab.count():
        tab.click()


def rows(page: Page, name: str) -> list[list[str]]:
    """The texts of the cells, row by row."""
    show(page, name)
    cells: list[list[str]] = (
        table(page, name)
        .locator("tbody tr")
        .evaluate_all(
            "rows => rows.map(row => [...row.querySelectorAll('th, td')].map(cell => cell.textContent.trim()))"
        )
    )
    return cells


def wait_for_hours(page: Page) -> None:
    """The hours of the week are read after all else, once they are in view."""
    page.locator(".heat").scroll_into_view_if_needed()
    expect(page.locator(".heat figcaption")).to_have_text(re.compile(r"\w"))


@contextmanager
def clicks_are_counted() -> Iterator[None]:
    """Count clicks in the background, as the service's drainers do."""
    stop = Event()

    def count() -> None:
        try:
            while not stop.wait(0.05):
                drain()
        finally:
            connections.close_all()

    with running([Thread(target=count)], stop):
        yield


@pytest.fixture
def link(make_link: MakeLink) -> str:
    identifier = make_link(customCode="spring", title="Spring sale")["_id"]
    record(identifier, FACTS)
    return identifier


def open_steps(page: Page) -> None:
    page.get_by_text("Show as a table").click()
    expect(table(page, "Clicks over time")).to_be_visible()
