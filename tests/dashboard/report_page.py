"""The report page in Chromium: how tests open it, and what they read on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connections
from playwright.sync_api import Locator, Page

from testing.background import running
from testing.clicks import drain

MARCH = "range=custom&start=2026-03-01&end=2026-03-31&zone=UTC"


def url_of(address: str, link: str, query: str = "") -> str:
    return f"{address}/dashboard/links/{link}/report?{query}"


def total(page: Page, key: str) -> Locator:
    """``key``: clicks, unique, scans, refused or notCounted."""
    return page.locator(f"[data-total={key}] strong")


def table(page: Page, name: str) -> Locator:
    return page.get_by_role("table", name=name, exact=True)


def rows(page: Page, name: str) -> list[list[str]]:
    """The texts of the cells, row by row."""
    cells: list[list[str]] = (
        table(page, name)
        .locator("tbody tr")
        .evaluate_all(
            "rows => rows.map(row => [...row.querySelectorAll('th, td')].map(cell => cell.textContent.trim()))"
        )
    )
    return cells


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
