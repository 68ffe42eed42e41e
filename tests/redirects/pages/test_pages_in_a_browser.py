"""The pages in Chromium: only a browser enforces the content security policy and follows a form's redirects."""

import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from redirects import refusals
from testing.analytics.clicks import clicks
from testing.pages.browser import address as address
from testing.pages.browser import another_site
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium
from testing.polling import DEADLINE

MakeLink = Callable[..., dict[str, Any]]

PASSWORD = "open sesame"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(scope="module")
def destination() -> Iterator[str]:
    """The destination of the links, on another origin."""
    with another_site("Destination") as site:
        yield f"{site}/page"


def test_a_link_redirects_to_its_destination(
    browse: Callable[[], Any], address: str, destination: str, api: APIClient, make_link: MakeLink
) -> None:
    fields = {"original_url": f"{destination}?a=1#top", "utm": {"source": "mail"}}
    links = [make_link(**fields, redirectType=redirect_type) for redirect_type in (301, 302)]

    with browse() as visit:
        for link in links:
            visit.page.goto(f"{address}/{link['shortCode']}")
            assert visit.page.url == f"{destination}?a=1&utm_source=mail#top"
            assert visit.page.title() == "Destination"
        assert visit.errors() == []

    assert [clicks(api, link) for link in links] == [1, 1]


def test_the_password_form_repeats_until_the_password_is_correct(
    browse: Callable[[], Any], address: str, destination: str, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(destination, password=PASSWORD)

    with browse() as visit:
        page = visit.page
        page.goto(f"{address}/{link['shortCode']}")
        assert page.title() == "Password required"
        assert page.get_by_role("alert").count() == 0

        page.get_by_label("Password", exact=True).fill("wrong")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url(f"{address}/{link['shortCode']}")
        page.get_by_role("alert").wait_for()
        assert page.get_by_role("alert").inner_text() == refusals.WRONG_PASSWORD.message
        assert page.title() == "Wrong password"
        assert page.get_by_label("Password", exact=True).input_value() == ""

        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url(destination)
        assert page.title() == "Destination"

        page.goto(f"{address}/{link['shortCode']}")
        assert page.url == destination
        assert visit.errors(401) == []

    assert clicks(api, link) == 2


def test_the_password_page_works_with_the_keyboard(
    browse: Callable[[], Any], address: str, destination: str, make_link: MakeLink
) -> None:
    link = make_link(destination, password=PASSWORD)

    with browse() as visit:
        page = visit.page
        page.goto(f"{address}/{link['shortCode']}")
        field, button = page.get_by_label("Password", exact=True), page.get_by_role("button")
        expect(field).to_be_focused(timeout=1000 * DEADLINE)
        page.keyboard.press("Tab")
        expect(button).to_be_focused(timeout=1000 * DEADLINE)
        page.keyboard.press("Shift+Tab")
        expect(field).to_be_focused(timeout=1000 * DEADLINE)

        page.keyboard.press("Enter")
        assert page.title() == "Password required"
        assert page.evaluate("document.querySelector('input:invalid').id") == "password"

        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(destination)
        assert visit.errors(401) == []


def test_the_longest_password_can_be_pasted(
    browse: Callable[[], Any], address: str, destination: str, make_link: MakeLink
) -> None:
    password = "\U0001f511" * 128
    link = make_link(destination, password=password)

    with browse() as visit:
        page = visit.page
        page.goto(f"{address}/{link['shortCode']}")
        expect(page.get_by_label("Password", exact=True)).to_be_focused(timeout=1000 * DEADLINE)
        page.keyboard.insert_text(password)
        page.keyboard.press("Enter")
        page.wait_for_url(destination)
        assert visit.errors(401) == []


def test_pages_fit_the_viewport_and_have_enough_contrast(
    browse: Callable[[], Any], address: str, make_link: MakeLink, tmp_path: Path
) -> None:
    make_link(customCode="locked", password=PASSWORD)
    make_link(customCode="outdated", expiresAt="2020-01-01T00:00:00Z")

    with browse() as visit:
        page = visit.page
        width, height = 320, 480
        page.set_viewport_size({"width": width, "height": height})
        for scheme, code in product(("light", "dark"), ("locked", "outdated", "unknown")):
            page.emulate_media(color_scheme=scheme)
            page.goto(f"{address}/{code}")
            page.screenshot(path=tmp_path / f"{code}-{scheme}.png")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate("document.documentElement.scrollHeight") <= height
            assert page.evaluate("getComputedStyle(document.body).display") == "grid"
            assert page.evaluate(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
            assert contrast(page, "h1") >= 7
            assert contrast(page, "p") >= 7
        assert visit.errors(401, 404, 410) == []


def contrast(page: Page, selector: str) -> float:
    """WCAG 2's ratio between an element's colour and that of its card, as computed by the browser."""
    colours = """selector => [
        getComputedStyle(document.querySelector(selector)).color,
        getComputedStyle(document.querySelector('main')).backgroundColor,
    ]"""
    lighter, darker = sorted(map(luminance, page.evaluate(colours, selector)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = [int(number) / 255 for number in re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour).groups()]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
