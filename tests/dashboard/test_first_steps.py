"""The first steps of an owner without links, and the bookmarklet, in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from accounts.services import NewAccount
from links.models import Link
from testing.accounts.accounts import PASSWORD
from testing.pages.browser import another_site

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
DESTINATION = "https://example.com/first"


def test_refused_address_stays_in_the_field(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/start")
        page.get_by_label("Destination URL").fill("http://sho.rt/loop")
        page.get_by_role("button", name="Shorten").click()
        expect(page.get_by_role("alert")).to_be_visible()
        page.reload()
        expect(page.get_by_label("Destination URL")).to_have_value("http://sho.rt/loop")
        page.get_by_label("Destination URL").fill(DESTINATION)
        page.get_by_role("button", name="Shorten").click()
        expect(page.get_by_role("heading", name="Your short link")).to_be_visible()
        assert visit.errors(400) == []
    assert [link.original_url for link in Link.objects.all()] == [DESTINATION]


def test_first_steps_with_the_link_of_somebody_else(
    signed_in: Callable[..., Any], address: str, stranger: NewAccount, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION)
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/start?link={link['_id']}")
        expect(page.get_by_role("alert")).to_have_text("This link does not exist or was deleted.")
        assert page.get_by_text(link["shortUrl"]).count() == 0
        page.goto(f"{address}/dashboard/start?link={quote('../auth/me', safe='')}")
        expect(page.get_by_role("alert")).to_be_visible()
        assert visit.errors(404) == []


def test_bookmarklet_creates_a_link_to_another_page(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit, another_site("Elsewhere") as elsewhere:
        page = visit.page
        page.goto(f"{address}/dashboard/new")
        page.locator("summary", has_text="Create links from any page").click()
        bookmarklet = page.get_by_role("button", name="Shorten this page")
        code = bookmarklet.get_attribute("href")
        assert code is not None
        # On this page it would do nothing but violate the policy.
        bookmarklet.click()
        expect(page.get_by_text("Drag it to your bookmarks")).to_be_visible()
        assert page.url == f"{address}/dashboard/new"

        visited = f"{elsewhere}/page?a=1&b=%20#part"
        page.goto(visited)
        # Chromium runs a bookmark like a script of the page.
        with page.context.expect_page() as opened:
            page.evaluate(code.removeprefix("javascript:"))
        expect(opened.value.get_by_label("Destination URL")).to_have_value(visited)
        opened.value.get_by_role("button", name="Create link").click()
        expect(opened.value.locator("form.editor[data-link]")).to_be_visible()
        assert page.url == visited
        assert visit.errors() == []
    assert [link.original_url for link in Link.objects.all()] == [visited]


def test_address_of_a_bookmarklet_survives_the_sign_in(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    with browse() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new?url={quote(DESTINATION + '?a=1&b=2', safe='')}")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("E-mail address").fill(alice.user.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_label("Destination URL")).to_have_value(DESTINATION + "?a=1&b=2")
        assert visit.errors(401) == []


def test_bookmarklet_keeps_the_draft_of_another_link(signed_in: Callable[..., Any], address: str) -> None:
    """A draft hid the address of the bookmarklet in the same tab."""
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new")
        page.get_by_label("Destination URL").fill("https://example.com/draft")
        page.goto(f"{address}/dashboard/new?url={quote(DESTINATION, safe='')}")
        expect(page.get_by_label("Destination URL")).to_have_value(DESTINATION)
        page.get_by_role("button", name="New link").click()
        expect(page.get_by_label("Destination URL")).to_have_value("https://example.com/draft")
        assert visit.errors() == []
