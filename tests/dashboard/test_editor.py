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
from testing.pages.browser import Visit
from testing.pages.dashboard import session_cookie, sign_in
from testing.pictures import opened, read

MakeLink = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db(transaction=True)
DESTINATION = "https://example.com/page"
# Of a visit that counts as a click and to which a rule applies.
GERMAN_STEPS = [
    "Der Code gehört zu diesem Link.",
    "Der Link ist eingeschaltet und nicht gesperrt.",
    "Der Link gilt zum Zeitpunkt des Besuchs schon.",
    "Der Link ist zum Zeitpunkt des Besuchs nicht abgelaufen.",
    "Die Klicks des Links sind nicht aufgebraucht.",
    "Der Link ist im Land des Besuchers verfügbar.",
    "Der Link ist auf dem Gerät des Besuchers verfügbar.",
    "Ein Passwort ist nicht nötig, oder der Besucher hat es eingegeben.",
    "Eine Regel passt und bestimmt das Ziel.",
    "Die Aufteilung ist geprüft: Sie gilt, wenn es sie gibt und keine Regel passt.",
    "Das Ziel steht fest.",
    "Eine Begrenzung der Klicks hindert den Besuch nicht.",
    "Der Besucher bekommt eine Antwort. Der Besuch zählt als Klick.",
]


def open_link(visit: Visit, address: str, cookie: str, link: dict[str, Any]) -> Page:
    sign_in(visit, address, cookie)
    visit.page.goto(f"{address}/dashboard/links/{link['_id']}")
    expect(visit.page.get_by_role("heading", name="Edit link")).to_be_visible()
    return visit.page


def unfold(page: Page, title: str) -> None:
    page.locator("summary", has_text=title).click()


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Link saved")).to_be_visible()


def test_an_address_is_enough_for_a_link(browse: Callable[[], Any], address: str, alice: NewAccount) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(f"{address}/dashboard/new")
        # The address has the focus, and everything else is folded.
        expect(page.get_by_label("Long address")).to_be_focused()
        assert page.locator("form.editor details[open]").count() == 0
        page.keyboard.type(DESTINATION)
        page.keyboard.press("Enter")
        expect(page.get_by_text("Link created")).to_be_visible()
        expect(page.get_by_role("heading", name="Edit link")).to_be_visible()
        shown = page.locator(".summary a").first.inner_text()
        assert visit.errors() == []
    [link] = Link.objects.all()
    assert (link.original_url, link.owner_id) == (DESTINATION, alice.user.pk)
    assert shown == f"http://sho.rt/{link.short_code}"


def test_a_bookmarklet_fills_in_the_address(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        sign_in(visit, address, cookie)
        visit.page.goto(f"{address}/dashboard/new?url={quote('https://example.com/?a=1&b=2#c', safe='')}")
        expect(visit.page.get_by_label("Long address")).to_have_value("https://example.com/?a=1&b=2#c")
        assert visit.errors() == []


def test_every_simple_field_is_saved(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    link, cookie = make_link(DESTINATION), session_cookie(alice.user)
    with browse() as visit:
        page = open_link(visit, address, cookie, link)
        page.get_by_label("Destination", exact=True).fill("https://example.com/moved")
        unfold(page, "Code, title and tags")
        page.get_by_label("Code", exact=True).fill("spring")
        page.get_by_label("Title").fill("Spring")
        page.get_by_label("Description").fill("Shoes")
        page.get_by_label("Tags").fill("sale, mail")
        unfold(page, "Campaign")
        page.get_by_label("Source").fill("letter")
        unfold(page, "Start and expiry")
        page.get_by_label("Expires at").fill("2040-06-01T12:30")
        unfold(page, "Password, limits")
        page.get_by_label("Password", exact=True).fill("open sesame")
        page.get_by_label("Click limit", exact=True).fill("25")
        page.get_by_label("Allowed countries").select_option("DE")
        page.get_by_label("Blocked countries").select_option("FR")
        page.get_by_role("checkbox", name="Mobile").check()
        unfold(page, "Redirect")
        page.locator("[name=redirectType]").select_option("301")
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
    assert stored.has_password
    assert (stored.max_clicks, stored.allowed_countries, stored.blocked_countries) == (25, ["DE"], ["FR"])
    assert (stored.allowed_devices, stored.redirect_type) == (["mobile"], 301)


def test_the_code_is_checked_while_one_types(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    make_link(DESTINATION, customCode="taken")
    link, cookie = make_link(DESTINATION), session_cookie(alice.user)
    with browse() as visit:
        page = open_link(visit, address, cookie, link)
        unfold(page, "Code, title and tags")
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
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    link, cookie = make_link(DESTINATION), session_cookie(alice.user)
    with browse() as visit:
        page = open_link(visit, address, cookie, link)
        page.get_by_label("Destination", exact=True).fill("http://sho.rt/loop")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#targetUrl-about")).to_have_attribute("role", "alert")
        expect(page.get_by_label("Destination", exact=True)).to_have_value("http://sho.rt/loop")
        assert visit.errors(400) == []


def test_rules_and_splits_are_rows_that_the_keyboard_moves(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    link, cookie = make_link(DESTINATION), session_cookie(alice.user)
    with browse() as visit:
        page = open_link(visit, address, cookie, link)
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
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    """Inputs have minutes; a link may expire at a certain microsecond."""
    expires = "2040-06-01T12:30:45.123456Z"
    schedule = {
        "type": "schedule",
        "values": [{"days": ["mon"], "from": "09:00", "until": "17:00", "timezone": "UTC"}],
    }
    rules = [{"url": "https://example.com/monday", "conditions": [schedule]}]
    link, cookie = make_link(DESTINATION, expiresAt=expires, rules=rules), session_cookie(alice.user)
    before = Link.objects.get()
    with browse() as visit:
        page = open_link(visit, address, cookie, link)
        unfold(page, "Code, title and tags")
        page.get_by_label("Title").fill("New")
        with page.expect_request(lambda request: request.method == "PUT") as put:
            save(page)
        assert put.value.post_data_json == {"title": "New"}
        assert visit.errors() == []
    stored = Link.objects.get()
    assert (stored.title, stored.expires_at, stored.rules) == ("New", before.expires_at, before.rules)


def test_qr_codes_are_shown_and_downloaded(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    link, cookie = make_link(DESTINATION), session_cookie(alice.user)
    with browse() as visit:
        page = open_link(visit, address, cookie, link)
        unfold(page, "QR code")
        image = page.get_by_role("img", name="QR code of the link")
        expect(image).to_be_visible()
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("image => image.naturalWidth") > 0
        with page.expect_download() as saved:
            page.get_by_role("button", name="PNG", exact=True).click()
        picture = saved.value.path().read_bytes()
        assert opened(picture, "png").size == (600, 600)
        assert read(picture, "png") == [f"{link['shortUrl']}?qr=1"]
        for name in ("SVG", "JPEG"):
            with page.expect_download() as saved:
                page.get_by_role("button", name=name, exact=True).click()
            assert saved.value.suggested_filename == f"qr-{link['_id']}.{name.lower()}"
        assert visit.errors() == []


def test_a_visit_can_be_simulated(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    rules = [{"url": "https://example.com/de", "conditions": [{"type": "country", "values": ["DE"]}]}]
    link, cookie = make_link(DESTINATION, rules=rules), session_cookie(alice.user)
    with browse() as visit:
        page = open_link(visit, address, cookie, link)
        unfold(page, "Simulate a visit")
        page.locator(".simulation [name=country]").select_option("DE")
        page.get_by_role("button", name="Simulate", exact=True).click()
        expect(page.locator("output[name=location]")).to_have_text("https://example.com/de")
        page.locator(".simulation [name=country]").select_option("FR")
        page.get_by_role("button", name="Simulate", exact=True).click()
        expect(page.locator("output[name=location]")).to_have_text(DESTINATION)
        assert visit.errors() == []


def test_a_simulated_visit_is_explained_in_the_language_of_the_page(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    rules = [{"url": "https://example.com/de", "conditions": [{"type": "country", "values": ["DE"]}]}]
    fields = {"rules": rules, "restrictions": {"blockedCountries": ["FR"]}}
    link, cookie = make_link(DESTINATION, **fields), session_cookie(alice.user)
    with browse() as visit:
        page = open_link(visit, address, cookie, link)
        page.evaluate("localStorage.setItem('dashboard.language', 'de')")
        page.reload()
        unfold(page, "Was würde geschehen?")
        steps, details = page.locator(".simulation li > span"), page.locator(".simulation li > small")
        run = page.get_by_role("button", name="Ausprobieren", exact=True)
        page.locator(".simulation [name=country]").select_option("DE")
        run.click()
        expect(steps).to_have_text(GERMAN_STEPS)
        expect(page.locator(".simulation li", has_text="✓")).to_have_count(len(GERMAN_STEPS))
        page.locator(".simulation [name=country]").select_option("FR")
        run.click()
        refused = "Der Link ist im Land des Besuchers nicht verfügbar."
        expect(steps).to_have_text([*GERMAN_STEPS[:5], refused])
        expect(page.locator(".simulation li", has_text="✗")).to_have_count(1)
        # The API's own sentence has the values that decided.
        expect(details.last).to_have_text("(The visitor's country is FR; the link blocks FR.)")
        assert visit.errors() == []


def test_the_link_of_somebody_else_is_not_found(
    browse: Callable[[], Any], address: str, stranger: NewAccount, make_link: MakeLink
) -> None:
    link, cookie = make_link(DESTINATION, title="Secret"), session_cookie(stranger.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(f"{address}/dashboard/links/{link['_id']}")
        expect(page.get_by_role("alert")).to_have_text("URL not found.")
        assert page.get_by_text("Secret").count() == 0
        assert visit.errors(404) == []
