"""A link that two people edit, or that changes while a user types: no input is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.services import NewAccount
from links.models import Link
from testing.pages.waiting import wait_until
from testing.polling import DEADLINE
from tests.dashboard.links.editor_page import open_link

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
DESTINATION = "https://example.com/page"


@pytest.fixture
def link(make_link: MakeLink) -> dict[str, Any]:
    return make_link(DESTINATION, title="Old", description="Old")


def somebody_saves(page: Page, address: str, alice: NewAccount, link: dict[str, Any], **fields: Any) -> None:
    saved = page.request.put(
        f"{address}/api/urls/{link['_id']}",
        headers={"X-API-Key": alice.api_key, "Host": "localhost"},
        data=fields,
    )
    assert saved.ok


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def conflict(page: Page) -> Locator:
    return page.locator("[data-state=conflict]")


def test_changes_of_two_people_are_merged(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, link: dict[str, Any]
) -> None:
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Title").fill("Mine")
        somebody_saves(page, address, alice, link, description="Theirs")
        save(page)
        expect(conflict(page)).to_contain_text("Description")
        expect(conflict(page)).to_contain_text("Ada Lovelace\u2069 saved this link at")
        expect(page.get_by_label("Title")).to_have_value("Mine")
        conflict(page).get_by_role("button", name="Load their changes and keep mine").click()
        expect(page.get_by_label("Description")).to_have_value("Theirs")
        expect(page.get_by_label("Title")).to_have_value("Mine")
        save(page)
        expect(page.get_by_text("Link saved")).to_be_visible()
        assert visit.errors(412) == []
    stored = Link.objects.get()
    assert (stored.title, stored.description) == ("Mine", "Theirs")


def test_overwriting_replaces_only_what_was_shown(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, link: dict[str, Any]
) -> None:
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Title").fill("Mine")
        somebody_saves(page, address, alice, link, title="Theirs")
        save(page)
        expect(conflict(page)).to_contain_text("Title")
        # Another save, before the user decides.
        somebody_saves(page, address, alice, link, description="Later")
        conflict(page).get_by_role("button", name="Save mine anyway").click()
        expect(conflict(page)).to_contain_text("Description")
        conflict(page).get_by_role("button", name="Save mine anyway").click()
        expect(page.get_by_text("Link saved")).to_be_visible()
        expect(conflict(page)).to_have_count(0)
        expect(page.get_by_label("Description")).to_have_value("Later")
        assert visit.errors(412) == []
    stored = Link.objects.get()
    assert (stored.title, stored.description) == ("Mine", "Later")


def test_draft_of_an_older_version_is_a_conflict(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, link: dict[str, Any]
) -> None:
    """A draft must not silently revert a change that another user has saved since."""
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Title").fill("Mine")
        somebody_saves(page, address, alice, link, description="Theirs")
        page.reload()
        expect(conflict(page)).to_contain_text("Description")
        expect(page.get_by_label("Title")).to_have_value("Mine")
        conflict(page).get_by_role("button", name="Load their changes and keep mine").click()
        save(page)
        expect(page.get_by_text("Link saved")).to_be_visible()
        # The draft is gone.
        page.reload()
        expect(page.get_by_label("Title")).to_have_value("Mine")
        expect(page.get_by_role("button", name="Discard")).to_have_count(0)
        assert visit.errors() == []
    stored = Link.objects.get()
    assert (stored.title, stored.description) == ("Mine", "Theirs")


def test_discarding_shows_what_somebody_else_saved(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, link: dict[str, Any]
) -> None:
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Title").fill("Mine")
        somebody_saves(page, address, alice, link, title="Theirs")
        save(page)
        expect(conflict(page)).to_be_visible()
        page.get_by_role("button", name="Discard").click()
        expect(conflict(page)).to_have_count(0)
        expect(page.get_by_label("Title")).to_have_value("Theirs")
        assert visit.errors(412) == []
    assert Link.objects.get().title == "Theirs"


def test_lost_response_of_an_own_change_is_no_conflict(
    signed_in: Callable[..., Any], address: str, link: dict[str, Any]
) -> None:

    def lose_response(route: Any) -> None:
        if route.request.method != "PUT":
            route.continue_()
            return
        route.fetch(timeout=1000 * DEADLINE)
        route.abort("connectionreset")
        page.unroute("**/api/urls/*")

    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.route("**/api/urls/*", lose_response)
        # The banner stays until the test has seen it: the page asks again after a few seconds.
        page.route("**/api/auth/me", lambda route: route.abort("connectionrefused"))
        page.get_by_label("Title").fill("Mine")
        save(page)
        expect(page.locator("[data-state=away]")).to_be_visible()
        page.unroute("**/api/auth/me")
        expect(page.get_by_label("Title")).to_have_value("Mine")
        save(page)
        expect(page.get_by_text("Link saved")).to_be_visible()
        expect(conflict(page)).to_have_count(0)
    assert Link.objects.get().title == "Mine"


@pytest.mark.parametrize("is_new", [False, True], ids=["edited", "created"])
def test_what_is_typed_while_a_slow_service_saves_is_kept(
    signed_in: Callable[..., Any], address: str, link: dict[str, Any], is_new: bool
) -> None:
    held: list[Any] = []

    def hold_change(route: Any) -> None:
        if route.request.method == "GET" or held:
            route.continue_()
        else:
            held.append(route)

    with signed_in() as visit:
        page = open_link(visit, address, link)
        if is_new:
            page.get_by_role("button", name="New link").click()
            page.get_by_label("Destination URL").fill(DESTINATION)
        page.get_by_label("Title").fill("First")
        page.route("**/api/urls**", hold_change)
        page.get_by_role("button", name="Create link" if is_new else "Save", exact=True).click()
        expect(page.locator("[data-state=slow]")).to_be_visible()
        page.get_by_label("Description").fill("Meanwhile")
        wait_until(page, lambda: held)
        held[0].continue_()
        expect(page.get_by_text("Link created" if is_new else "Link saved")).to_be_visible()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        expect(page.get_by_label("Title")).to_have_value("First")
        expect(page.get_by_label("Description")).to_have_value("Meanwhile")
        expect(page.locator("[data-state=slow]")).to_have_count(0)
        page.get_by_role("button", name="Dismiss").click()
        expect(page.get_by_text("Link created" if is_new else "Link saved")).to_have_count(0)
        save(page)
        expect(page.get_by_text("Link saved")).to_be_visible()
        assert visit.errors() == []
    stored = Link.objects.order_by("-pk")[0]
    assert (stored.title, stored.description) == ("First", "Meanwhile")


def test_deleted_link_keeps_what_was_typed(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, link: dict[str, Any]
) -> None:
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Title").fill("Mine")
        deleted = page.request.delete(
            f"{address}/api/urls/{link['_id']}", headers={"X-API-Key": alice.api_key, "Host": "localhost"}
        )
        assert deleted.ok
        save(page)
        expect(page.get_by_role("alert")).to_have_text("URL not found.")
        expect(page.get_by_label("Title")).to_have_value("Mine")
        assert visit.errors(404) == []
