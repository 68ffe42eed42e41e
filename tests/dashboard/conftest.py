from __future__ import annotations

import pytest
from playwright.sync_api import expect

from testing.browser import address as address
from testing.browser import browse as browse
from testing.browser import chromium as chromium
from testing.service.polling import DEADLINE


@pytest.fixture(autouse=True)
def deadline_of_expectations() -> None:
    """As long as that of the page: the machine may be busy."""
    expect.set_options(timeout=1000 * DEADLINE)
