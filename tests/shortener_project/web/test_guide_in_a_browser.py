"""The pages of the documentation in Chromium: on phones and desktops, in both colour schemes, and without scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testing.pages.axe import SCHEMES, load_axe, problems_of
from testing.pages.browser import address as address
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
WIDTHS = (390, 1280)
PAGES = [
    "/api/docs/guide",
    "/api/docs/guide/routing",
    "/api/docs/guide/tasks",
    "/api/docs/guide?q=retry",
    "/api/docs/operations",
    "/api/docs/operations/updateDomain",
    "/api/docs/errors",
    "/api/docs/errors/validation_error",
    "/api/docs/nothing",
]


def test_the_documentation_fits_phones_and_has_no_serious_problems(
    browse: Callable[[], Any], address: str
) -> None:
    problems = []
    with browse() as visit:
        page = visit.page
        for path in PAGES:
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                page.goto(f"{address}{path}")
                load_axe(page)
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    problems.append(f"{path}, {width} px: too wide")
                for scheme in SCHEMES:
                    problems += [
                        f"{path}, {scheme}, {width} px: {found}" for found in problems_of(page, scheme)
                    ]
        assert visit.errors(404) == []
    assert problems == []


def test_the_search_is_a_form_that_the_policy_allows(browse: Callable[[], Any], address: str) -> None:
    with browse() as visit:
        page = visit.page
        page.goto(f"{address}/api/docs/guide/webhooks")
        page.get_by_label("Search the documentation").fill("idempotency")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{address}/api/docs/guide?q=idempotency")
        page.get_by_role("link", name="Guide: Retries and limits").click()
        page.wait_for_url(f"{address}/api/docs/guide#retries-and-limits")
        assert visit.errors() == []
