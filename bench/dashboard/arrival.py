"""The time from a redirect until the open report shows its click."""

from __future__ import annotations

import random
import time
from contextlib import closing
from typing import NamedTuple

from playwright.sync_api import BrowserContext, Page, expect

from bench.dashboard.site import HOST
from testing.pages.chromium import CHROME
from testing.service.connection import Connection

DEADLINE_SECONDS = 30
# Longer than the report waits between two requests, so that clicks arrive at any time in between.
_MAX_PAUSE_SECONDS = 1.0
# Notes when the page first shows each number of clicks.
_OBSERVE = """
() => {
    const shown = document.querySelector("[data-total=clicks] strong");
    window.arrivals = {};
    const note = () => (window.arrivals[shown.textContent.replace(/\\D/g, "")] ??= Date.now());
    note();
    new MutationObserver(note).observe(shown, { characterData: true, childList: true, subtree: true });
}
"""


class Arrivals(NamedTuple):
    """Seconds."""

    median: float
    p95: float
    slowest: float


def arrivals(context: BrowserContext, report: str, port: int, code: str, clicks: int) -> Arrivals:
    """Follow the link ``clicks`` times while its report is open, one click at a time."""
    pause = random.Random(1)
    page = context.new_page()
    page.goto(report)
    expect(page.locator(".freshness[data-state=live]")).to_be_visible()
    page.evaluate(_OBSERVE)
    seconds = []
    with closing(Connection(port)) as connection:
        for _ in range(clicks):
            time.sleep(pause.uniform(0, _MAX_PAUSE_SECONDS))
            expected = max(_shown(page)) + 1
            response = connection.call("GET", f"/{code}", Host=HOST, **{"User-Agent": CHROME})
            started = time.time()
            if response.status != 302:
                raise SystemExit(f"The redirect has the status {response.status}.")
            seconds.append(_wait_for(page, expected) / 1000 - started)
    page.close()
    seconds.sort()
    return Arrivals(seconds[len(seconds) // 2], seconds[int(0.95 * len(seconds))], seconds[-1])


def _shown(page: Page) -> dict[int, int]:
    """The numbers of clicks that the page has shown, and the time of each in milliseconds since 1970."""
    noted: dict[str, int] = page.evaluate("() => window.arrivals")
    return {int(number): moment for number, moment in noted.items()}


def _wait_for(page: Page, expected: int) -> int:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while (moment := _shown(page).get(expected)) is None:
        if time.monotonic() > deadline:
            raise SystemExit(f"The report does not show click {expected:,}: {max(_shown(page)):,}.")
        time.sleep(0.02)
    return moment
