"""The list of links in Chromium: pages, filters, order, keys and export."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from accounts.models import User
from accounts.rights import Role
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.domains.domains import active_domain
from testing.pages.dashboard import open_account_menu, wait_for_account
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows, status

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def long_link(make_link: MakeLink) -> None:
    make_link(f"https://example.com/{'x' * 1500}", title="W" * 200, tags=["y" * 50], customCode="z" * 50)


def titles(page: Page) -> list[str]:
    return page.locator("tr[data-link] .destination > a").all_inner_texts()


def test_the_list_shows_the_newest_links_page_by_page(
    signed_in: Callable[..., Any], address: str, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(status(page)).to_have_text("60 links")
        expect(rows(page)).to_have_count(50)
        assert titles(page)[0] == "Title 59"
        page.get_by_role("button", name="Next").click()
        expect(rows(page)).to_have_count(10)
        assert titles(page)[-1] == "Title 00"
        # The address keeps the page of the list.
        page.reload()
        expect(rows(page)).to_have_count(10)
        page.get_by_role("button", name="Previous").click()
        expect(rows(page)).to_have_count(50)
        assert visit.errors() == []


def test_rows_name_their_creators_once_some_are_of_other_members(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    User.objects.filter(pk=stranger.user.pk).update(first_name="Grace", last_name="Hopper")
    mine, theirs = (key_client_in(workspace, one.api_key) for one in (alice, stranger))
    mine.post("/api/urls", {"originalUrl": "https://example.com/"})
    with signed_in() as visit:
        page, creators = visit.page, visit.page.locator("td.of-creator .full")
        page.goto(f"{address}/dashboard/?workspace={workspace.public_id}")
        expect(rows(page)).to_have_count(1)
        wait_for_account(page)
        expect(creators).to_have_count(0)
        assert visit.errors() == []
    theirs.post("/api/urls", {"originalUrl": "https://example.com/"})
    with signed_in() as visit:
        page, creators = visit.page, visit.page.locator("td.of-creator .full")
        page.goto(f"{address}/dashboard/?workspace={workspace.public_id}")
        expect(creators).to_have_text(["Grace Hopper", "Ada Lovelace"])
        assert visit.errors() == []


def test_search_filters_while_one_types(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, links: None
) -> None:
    domain = active_domain(alice.workspace)
    Link.objects.filter(title__in=["Title 11", "Title 25"]).update(domain=domain)
    Link.objects.filter(title__startswith="Title 1").update(created_at=datetime(2026, 3, 31, 12, tzinfo=UTC))
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(50)
        # By keyboard: the slash goes to the search.
        page.keyboard.press("/")
        page.keyboard.type("title 4")
        expect(status(page)).to_have_text("10 links")
        expect(rows(page)).to_have_count(10)
        page.keyboard.type("2")
        expect(status(page)).to_have_text("1 link")
        assert titles(page) == ["Title 42"]
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_label("Tags", exact=True).fill("odd")
        page.keyboard.press("Enter")
        expect(page.get_by_text("No link matches these filters.")).to_be_visible()
        page.get_by_role("button", name="Show all links").click()
        expect(status(page)).to_have_text("60 links")
        # Both days are included, in the zone of the browser.
        expect(page.get_by_label("Created until")).to_be_visible()
        page.get_by_label("Created until").fill("2026-03-31")
        expect(status(page)).to_have_text("10 links")
        page.get_by_label("Created from").fill("2026-03-31")
        page.wait_for_url("**/dashboard/?until=2026-03-31&from=2026-03-31")
        page.reload()
        expect(status(page)).to_have_text("10 links")
        expect(rows(page)).to_have_count(10)
        assert titles(page)[0] == "Title 19"
        page.get_by_role("button", name="Filter", exact=True).click()
        page.locator("select[name=domain]").select_option("go.example")
        page.wait_for_url(f"**/dashboard/?until=2026-03-31&from=2026-03-31&domain={domain.public_id}")
        page.reload()
        expect(status(page)).to_have_text("1 link")
        expect(rows(page)).to_have_count(1)
        assert titles(page) == ["Title 11"]
        # Each filter is a chip with a button that removes it.
        page.get_by_role("button", name="Remove the filter: Domain").click()
        expect(status(page)).to_have_text("10 links")
        # Days whose year has not four digits in every time zone are no filters.
        page.goto(f"{address}/dashboard/?from=10000-01-01&until=9999-12-31")
        expect(status(page)).to_have_text("60 links")
        page.get_by_role("button", name="Filter", exact=True).click()
        expect(page.get_by_label("Created until")).to_have_value("")
        # Chromium reports a change for each digit of the year. Only the year loads the list.
        loads: list[str] = []
        page.on("request", lambda request: loads.append(request.url) if "/api/urls?" in request.url else None)
        page.get_by_label("Created until").focus()
        page.keyboard.type("03312026")
        expect(status(page)).to_have_text("10 links")
        assert len(loads) == 1
        assert visit.errors() == []


def test_the_list_is_sorted(signed_in: Callable[..., Any], address: str, links: None) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?tags=even")
        expect(status(page)).to_have_text("30 links")
        page.get_by_label("Sort by").select_option("Title, Z to A")
        page.wait_for_url("**/dashboard/?tags=even&sortBy=title&sortOrder=desc")
        expect(rows(page).first).to_contain_text("Title 58")
        page.get_by_label("Sort by").select_option("Title, A to Z")
        expect(rows(page).first).to_contain_text("Title 00")
        assert visit.errors() == []


def test_a_key_copies_the_short_link_of_the_row(
    signed_in: Callable[..., Any], address: str, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(50)
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("y")
        expect(page.get_by_text("Copied http://sho.rt/code58")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == "http://sho.rt/code58"
        page.keyboard.press("x")
        expect(page.get_by_text("1 link selected")).to_be_visible()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_contain_text("Copy the short link")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.keyboard.press("c")
        page.wait_for_url(f"{address}/dashboard/new")
        assert visit.errors() == []


def test_the_shown_links_can_be_exported(signed_in: Callable[..., Any], address: str, links: None) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/?search=title+07")
        expect(rows(page)).to_have_count(1)
        with page.expect_download() as saved:
            page.get_by_role("button", name="Export as CSV").click()
        assert re.fullmatch(r"urls-[\d-]+\.csv", saved.value.suggested_filename)
        content = saved.value.path().read_text()
        assert "Title 07" in content
        assert "Title 08" not in content
        assert visit.errors() == []


def test_a_stranger_sees_none_of_the_links(
    signed_in: Callable[..., Any], address: str, stranger: NewAccount, links: None
) -> None:
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(page.get_by_text("Make your first short link")).to_be_visible()
        assert rows(page).count() == 0
        assert visit.errors() == []


def test_a_row_tells_where_the_link_leads_and_what_it_can_do(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink, api: APIClient
) -> None:
    link = make_link("https://example.com/old", customCode="spring", title="Spring", tags=["sale"])
    moved = api.put(f"/api/urls/{link['_id']}", {"targetUrl": "https://www.example.com/new"})
    assert moved.status_code == 200
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        row = rows(page)
        expect(row).to_contain_text("Active")
        expect(row.get_by_role("button", name="Show links with the tag sale")).to_be_visible()
        row.get_by_role("button", name="More about sho.rt/spring").click()
        page.get_by_role("button", name="Switch off").click()
        expect(row.locator(".state")).to_have_text("Switched off")
        # By keyboard: the QR code of the row.
        page.keyboard.press("j")
        page.keyboard.press("q")
        dialog = page.get_by_role("dialog", name="QR code of sho.rt/spring")
        expect(dialog.get_by_role("img", name="QR code of the link")).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        row.get_by_role("button", name="More about sho.rt/spring").click()
        page.get_by_role("link", name="Duplicate").click()
        expect(page.get_by_label("Destination URL")).to_have_value("https://www.example.com/new")
        expect(page.get_by_label("Title")).to_have_value("Spring")
        expect(page.get_by_label("Code", exact=True)).to_have_value("")
        assert visit.errors() == []


def test_every_hit_can_be_selected(signed_in: Callable[..., Any], address: str, links: None) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        page.get_by_label("Select all links of this page").check()
        expect(page.get_by_text("50 links selected")).to_be_visible()
        page.get_by_role("button", name="Select all 60").click()
        expect(page.get_by_text("60 links selected")).to_be_visible()
        expect(page.get_by_role("button", name="Select all 60")).to_have_count(0)
        assert visit.errors() == []


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.usefixtures("long_link")
def test_the_page_fits_its_window(
    width: int, scheme: Any, signed_in: Callable[..., Any], address: str
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{address}/dashboard/")
        expect(rows(page)).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.errors() == []


def test_german_texts_are_shown_to_a_german_browser(
    signed_in: Callable[..., Any], address: str, links: None
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.set_extra_http_headers({"Accept-Language": "de"})
        page.goto(f"{address}/dashboard/")
        expect(status(page)).to_have_text("60 Links")
        expect(page.locator("html")).to_have_attribute("lang", "de")
        # So are the messages of the API.
        page.get_by_role("button", name="Neuer Link").click()
        expect(page.get_by_role("heading", name="Neuer Link")).to_be_visible()
        page.get_by_label("Ziel-URL").fill("ftp://example.com/")
        page.get_by_role("button", name="Link anlegen").click()
        expect(page.get_by_text("Die Adresse muss mit http:// oder https:// beginnen.")).to_be_visible()
        page.goto(f"{address}/dashboard/?page=1000000")
        expect(page.get_by_role("alert")).to_contain_text(
            "page: Vor der Seite dürfen höchstens 1.000.000 Einträge stehen."
        )
        page.goto(f"{address}/dashboard/")
        open_account_menu(page)
        page.get_by_label("Sprache").select_option("en")
        expect(status(page)).to_have_text("60 links")
        assert visit.errors(400) == []
