from __future__ import annotations

import pytest
from playwright.sync_api import expect

from testing.pages.browser import address as address
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium
from testing.pages.dashboard import signed_in as signed_in
from testing.polling import DEADLINE


@pytest.fixture(autouse=True)
def deadline_of_expectations() -> None:
    """Wait as long as the page does: the machine may be busy."""
    expect.set_options(timeout=1000 * DEADLINE)
