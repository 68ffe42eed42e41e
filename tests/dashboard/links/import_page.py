"""The import of links in Chromium: files, and how tests open the page and read it."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

from playwright.sync_api import Locator, Page, expect

from testing.pages.browser import Visit


def csv_of(rows: list[list[Any]], *names: str) -> str:
    file = StringIO(newline="")
    csv.writer(file).writerows([names, *rows])
    return file.getvalue()


def plain(count: int) -> str:
    """Rows without codes, so that a row that is imported twice makes a second link."""
    return csv_of([[f"https://example.com/{number}"] for number in range(count)], "originalUrl")


def open_import(visit: Visit, address: str) -> Page:
    visit.page.goto(f"{address}/dashboard/import")
    expect(visit.page.get_by_role("heading", name="Import links")).to_be_visible()
    return visit.page


def choose(page: Page, content: str | bytes, name: str = "links.csv") -> None:
    buffer = content.encode() if isinstance(content, str) else content
    page.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/csv", "buffer": buffer}]
    )


def status(page: Page) -> Locator:
    return page.locator(".import [role=status]")
