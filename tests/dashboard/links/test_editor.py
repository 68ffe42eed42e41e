"""The editor of a link in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from accounts.services import NewAccount
from links.models import Link
from tests.dashboard.links.editor_page import DESTINATION, MakeLink, open_link, unfold

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Link saved")).to_be_visible()


def test_an_address_is_enough_for_a_link(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/new")
        # The address has the focus, and everything else is folded.
        expect(page.get_by_label("Destination URL")).to_be_focused()
        assert page.locator("form.editor details[open]").count() == 0
        expect(page.get_by_role("button", name="Create link")).to_be_enabled()
        page.keyboard.type(DESTINATION)
        page.keyboard.press("Enter")
        expect(page.get_by_text("Link created")).to_be_visible()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        shown = page.locator(".plate .sign").inner_text()
        assert visit.errors() == []
    [link] = Link.objects.all()
    assert (link.original_url, link.owner_id) == (DESTINATION, alice.user.pk)
    assert shown == f"sho.rt/{link.short_code}"


def test_a_bookmarklet_fills_in_the_address(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit:
        visit.page.goto(f"{address}/dashboard/new?url={quote('https://example.com/?a=1&b=2#c', safe='')}")
        expect(visit.page.get_by_label("Destination URL")).to_have_value("https://example.com/?a=1&b=2#c")
        assert visit.errors() == []


def test_the_editor_tells_of_a_link_to_the_same_address(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION, customCode="spring")
    with signed_in() as visit:
        page, notice = visit.page, "You already have a link to this address:"
        page.goto(f"{address}/dashboard/new")
        field = page.locator("input[name=originalUrl]")
        field.fill("https://example.com/pag")
        expect(page.get_by_text(notice)).to_have_count(0)
        # Without its scheme, as people type it.
        field.fill("Example.com/page")
        expect(page.get_by_text(notice)).to_be_visible()
        # It hinders nobody.
        page.keyboard.press("Enter")
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        expect(page.get_by_text(notice)).to_be_visible()
        page.locator("form.editor").get_by_role("link", name="sho.rt/spring").click()
        expect(page.locator(f"form.editor[data-link='{link['_id']}']")).to_be_visible()
        assert visit.errors() == []
    assert Link.objects.count() == 2


def test_every_simple_field_is_saved(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Destination URL").fill("https://example.com/moved")
        page.get_by_label("Code", exact=True).fill("spring")
        page.get_by_label("Title").fill("Spring")
        page.get_by_label("Description").fill("Shoes")
        page.get_by_label("Tags").last.fill("sale, mail")
        unfold(page, "Campaign")
        page.get_by_label("Source").fill("letter")
        unfold(page, "Start, expiry")
        page.get_by_label("Expires at").fill("2040-06-01T12:30")
        page.get_by_label("Starts at").fill("2040-01-05T08:15")
        zones = page.get_by_label("Time zone of the start")
        # The focus loads them.
        zones.focus()
        zones.select_option("Asia/Tokyo")
        expect(page.get_by_text("in your time zone")).to_be_visible()
        unfold(page, "Password, limits")
        page.get_by_label("Password", exact=True).fill("open sesame")
        page.get_by_label("Click limit", exact=True).fill("25")
        # By name or by code.
        page.get_by_label("Allowed countries").fill("Germany")
        page.get_by_label("Blocked countries").fill("fr")
        page.keyboard.press("Enter")
        page.get_by_role("checkbox", name="Mobile").check()
        unfold(page, "Redirect")
        page.locator("[name=redirectType]").select_option("301")
        page.get_by_label("What the destination learns").select_option("no-referrer")
        unfold(page, "Card in messengers")
        page.get_by_label("Headline of the card").fill("Spring sale")
        page.get_by_label("Address of the image").fill("https://example.com/card.png")
        expect(page.locator("output[name=final]")).to_have_text("https://example.com/moved?utm_source=letter")
        zone = page.evaluate("new Date('2040-06-01T12:30').toISOString()")
        save(page)
        assert visit.errors() == []
    stored = Link.objects.get()
    assert (stored.target_url, stored.custom_code, stored.title, stored.description) == (
        *("https://example.com/moved", "spring", "Spring", "Shoes"),
    )
    assert (stored.tags, stored.utm) == (["sale", "mail"], {"source": "letter"})
    assert stored.expires_at == datetime.fromisoformat(zone).astimezone(UTC)
    assert stored.starts_at == datetime(2040, 1, 4, 23, 15, tzinfo=UTC)
    assert stored.has_password
    assert (stored.max_clicks, stored.allowed_countries, stored.blocked_countries) == (25, ["DE"], ["FR"])
    assert (stored.allowed_devices, stored.redirect_type) == (["mobile"], 301)
    assert stored.referrer_policy == "no-referrer"
    assert stored.preview == {
        "title": "Spring sale",
        "description": None,
        "imageUrl": "https://example.com/card.png",
    }


def test_the_code_is_checked_while_one_types(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    make_link(DESTINATION, customCode="taken")
    link = make_link(DESTINATION)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        code, about = page.get_by_label("Code", exact=True), page.locator("#code-about")
        code.fill("no-code")
        expect(about).to_contain_text("and no other characters")
        expect(code).to_have_attribute("aria-invalid", "true")
        code.fill("taken")
        expect(about).to_have_text("Another of your links has this code.")
        page.get_by_role("button", name="Save", exact=True).click()
        # The service decides; its message stands at the field.
        expect(about).to_have_attribute("role", "alert")
        code.fill("fresh")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Link saved")).to_be_visible()
        assert visit.errors(409) == []


def test_messages_of_the_service_stand_at_their_fields(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Destination URL").fill("http://sho.rt/loop")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#targetUrl-about")).to_have_attribute("role", "alert")
        expect(page.get_by_label("Destination URL")).to_have_value("http://sho.rt/loop")
        assert visit.errors(400) == []


def test_rules_and_splits_are_rows_that_the_keyboard_moves(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION)
    with signed_in() as visit:
        page = open_link(visit, address, link)
        unfold(page, "Rules")
        for position, country in enumerate(("DE", "FR")):
            page.get_by_role("button", name="Add a rule").click()
            page.locator(f"[name='rules.{position}.url']").fill(f"https://example.com/{country}")
            page.locator(f"[name='rules.{position}.conditions.0.values']").fill(country)
        unfold(page, "Split")
        page.get_by_role("button", name="Add a destination").click()
        for position in range(2):
            page.locator(f"[name='split.{position}.url']").fill(f"https://example.com/{position}")
        expect(page.get_by_text("50 % of the visitors")).to_be_visible()
        # The second rule becomes the first.
        page.get_by_role("list", name="Rules").get_by_role("button", name="Move row 2", exact=True).press(
            "ArrowUp"
        )
        expect(page.locator("[name='rules.0.url']")).to_have_value("https://example.com/FR")
        save(page)
        assert visit.errors() == []
    stored = Link.objects.get()
    assert [(rule["url"], rule["conditions"]) for rule in stored.rules] == [
        ("https://example.com/FR", [{"type": "country", "values": ["FR"], "not": False}]),
        ("https://example.com/DE", [{"type": "country", "values": ["DE"], "not": False}]),
    ]
    assert [(entry["url"], entry["weight"]) for entry in stored.split] == [
        ("https://example.com/0", 25),
        ("https://example.com/1", 25),
    ]


def test_only_changed_fields_are_sent(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    """Inputs have minutes; a link may expire at a certain microsecond."""
    expires = "2040-06-01T12:30:45.123456Z"
    schedule = {
        "type": "schedule",
        "values": [{"days": ["mon"], "from": "09:00", "until": "17:00", "timezone": "UTC"}],
    }
    rules = [{"url": "https://example.com/monday", "conditions": [schedule]}]
    link = make_link(DESTINATION, expiresAt=expires, rules=rules)
    before = Link.objects.get()
    with signed_in() as visit:
        page = open_link(visit, address, link)
        page.get_by_label("Title").fill("New")
        with page.expect_request(lambda request: request.method == "PUT") as put:
            save(page)
        assert put.value.post_data_json == {"title": "New"}
        assert visit.errors() == []
    stored = Link.objects.get()
    assert (stored.title, stored.expires_at, stored.rules) == ("New", before.expires_at, before.rules)


def test_the_link_of_somebody_else_is_not_found(
    signed_in: Callable[..., Any], address: str, stranger: NewAccount, make_link: MakeLink
) -> None:
    link = make_link(DESTINATION, title="Secret")
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/links/{link['_id']}")
        expect(page.get_by_role("alert")).to_have_text("This link does not exist or was deleted.")
        assert page.get_by_text("Secret").count() == 0
        assert visit.errors(404) == []
