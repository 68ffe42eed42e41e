"""Waiting for what Playwright reports: requests, dialogs and messages arrive only while it is called."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from playwright.sync_api import Page

from testing.polling import DEADLINE

T = TypeVar("T")


def wait_until(page: Page, condition: Callable[[], T], describe: Callable[[], object] = lambda: None) -> T:
    """Poll the condition until it is true, and return its value. ``describe``: what a failure shows."""
    deadline = time.monotonic() + DEADLINE
    while not (result := condition()):
        assert time.monotonic() < deadline, describe()
        page.wait_for_timeout(20)
    return result
