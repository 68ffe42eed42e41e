"""Walks through the dashboard in each language, on a desktop and on a phone, in the light and in the dark.

`make walks` takes them in every combination, and keeps their pictures in docs/walks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from pytest_django.fixtures import Settings

from accounts.models import Member, Workspace
from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from links.operators import ban_link
from testing.accounts.workspaces import team
from testing.domains.domains import active_domain
from testing.links.exports_of_others import EXPORTS
from testing.threads import at_once
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows
from tests.dashboard.walks.walker import LOOKS, PHONE, Walker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
Walk = Callable[[], Any]
DESTINATION = "https://example.com/first"
HOST = "go.brand.example"
PASSWORD = "correct horse battery staple 7"


def test_a_first_link_without_reading_anything(walk: Walk) -> None:
    """The one field of the page takes the address, and Enter does the rest."""
    with walk() as walker:
        page = walker.page
        walker.open("/dashboard/")
        page.get_by_role("main").get_by_role("textbox").first.fill("example.com/first")
        page.keyboard.press("Enter")
        short = page.locator(".steps a[target=_blank]").first
        expect(short).to_be_visible()
        walker.sees("start.waiting")
        walker.picture("first-link")
        response = page.request.get(
            f"{walker.address}/{short.inner_text().rpartition('/')[2]}", max_redirects=0
        )
        assert (response.status, response.headers["location"]) == (302, DESTINATION)
        assert walker.errors() == []


def test_a_campaign_of_fifty_pasted_addresses(walk: Walk) -> None:
    pasted = "".join(f"example.com/{number}\tPage {number}\n" for number in range(50))
    with walk() as walker:
        walker.open("/dashboard/new/many")
        walker.field("many.lines").fill(pasted)
        walker.field("field.tags").fill("spring")
        walker.field("utm.source").fill("newsletter")
        walker.field("utm.campaign").fill("spring")
        walker.button("many.create", 50).click()
        expect(walker.page.locator(".made > li")).to_have_count(50)
        made = walker.page.get_by_role("status").filter(has_text=walker.say("many.made", 50))
        expect(made).to_be_in_viewport()
        walker.picture("campaign")
        assert walker.errors() == []
    stored = Link.objects.values_list("original_url", "title", "tags", "utm")
    assert sorted(stored) == sorted(
        (
            f"https://example.com/{number}",
            f"Page {number}",
            ["spring"],
            {"source": "newsletter", "campaign": "spring"},
        )
        for number in range(50)
    )


def _middle(target: Locator) -> tuple[float, float]:
    box = target.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _drag(walker: Walker, start: Locator, end: tuple[float, float]) -> None:
    page = walker.page
    page.mouse.move(*_middle(start))
    page.mouse.down()
    page.mouse.move(*end, steps=20)
    page.mouse.up()


def _save(walker: Walker) -> None:
    walker.button("editor.save").click()
    walker.sees("editor.saved")


@pytest.mark.parametrize("hand", ["mouse", "keyboard"])
def test_a_rule_a_schedule_and_a_split(walk: Walk, make_link: Callable[..., Any], hand: str) -> None:
    split = [{"url": f"https://example.com/{name}", "name": name, "weight": 25} for name in ("a", "b")]
    link = make_link(DESTINATION, split=split)
    with walk() as walker:
        page = walker.page
        walker.open(f"/dashboard/links/{link['_id']}")
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        walker.unfold("section.rules")
        for address in ("de", "office"):
            walker.button("rules.add").click()
            page.locator("[name$='.url'][name^='rules']").last.fill(f"example.com/{address}")
        # A country by its name in the walker's language.
        country = page.locator("[name='rules.0.conditions.0.values']")
        country.fill("Germany" if walker.look.language == "en" else "Deutschland")
        country.press("Enter")
        page.locator("[name='rules.1.conditions.0.type']").select_option("schedule")
        page.locator(".week-zone select").select_option("Europe/Berlin")
        hours = page.locator(".week [aria-pressed=true]")
        if hand == "mouse":
            walker.button("week.office").click()
        else:
            walker.button("week.office").focus()
            page.keyboard.press("Enter")
        expect(hours.first).to_be_attached()
        walker.picture(f"rules-{hand}")
        walker.unfold("section.split")
        slider = page.get_by_role("slider").first
        slider.scroll_into_view_if_needed()
        if hand == "mouse":
            bar = page.locator(".split-bar").bounding_box()
            assert bar is not None
            _drag(walker, slider, (bar["x"] + bar["width"] * 0.4, bar["y"] + bar["height"] / 2))
        else:
            slider.focus()
            for key in ("PageUp", *["ArrowRight"] * 5):
                page.keyboard.press(key)
        _save(walker)
        walker.picture(f"split-{hand}")
        assert walker.errors() == []
    stored = Link.objects.get()
    assert [rule["url"] for rule in stored.rules] == ["https://example.com/de", "https://example.com/office"]
    assert [rule["conditions"][0]["values"] for rule in stored.rules] == [
        ["DE"],
        [{
            "days": ["mon", "tue", "wed", "thu", "fri"], "from": "09:00", "until": "17:00",
            "timezone": "Europe/Berlin",
        }],
    ]  # fmt: skip
    assert [entry["weight"] for entry in stored.split] == [40, 10]


def test_an_invited_person_without_an_account_works_as_editor(
    walk: Walk, alice: NewAccount, settings: Settings
) -> None:
    settings.SENDS_MAIL = False
    workspace = team(alice, "Marketing")
    with walk() as walker:
        page = walker.page
        walker.open(f"/dashboard/workspaces/{workspace.public_id}")
        walker.field("invitations.email").fill("grace@example.com")
        walker.button("invitations.invite").click()
        link = page.locator("output.secret")
        expect(link).to_be_visible()
        walker.picture("invitation-sent")
        grace = walker.another()
        grace.page.goto(link.inner_text())
        expect(grace.page.get_by_text("Marketing")).to_be_visible()
        grace.picture("invitation")
        grace.page.locator("[name=password]").fill(PASSWORD)
        grace.page.locator("[name=repeated]").fill(PASSWORD)
        grace.page.locator("main form button").first.click()
        grace.page.wait_for_url("**/dashboard/**")
        grace.open(f"/dashboard/new?workspace={workspace.public_id}")
        grace.field("field.originalUrl").fill(DESTINATION)
        grace.button("editor.create").click()
        expect(grace.page.locator("form.editor[data-link]")).to_be_visible()
        assert walker.errors() == []
        assert grace.errors() == []
    assert Member.objects.get(user__email="grace@example.com", workspace=workspace).role == "editor"
    assert Link.objects.get().owner == workspace


SERVICES = ["bitly", "yourls", "kutt", "shlink", "dub", "shortio", "rebrandly", "tly", "linkly"]


def test_the_files_of_each_service_bring_what_the_page_says(walk: Walk, alice: NewAccount) -> None:
    active_domain(alice.workspace, HOST)
    came: dict[str, list[tuple[str, str | None]]] = {}

    def take() -> list[tuple[str, str | None]]:
        made = list(Link.objects.order_by("original_url").values_list("original_url", "custom_code"))
        Link.objects.all().delete()
        return made

    with walk() as walker:
        page = walker.page
        for service in SERVICES:
            walker.open("/dashboard/import")
            _, content = EXPORTS[service]
            page.locator("input[type=file]").set_input_files(
                [{"name": f"{service}.json", "mimeType": "application/json", "buffer": content.encode()}]
            )
            walker.sees("import.checked", 2, accepted=2, rejected=0)
            if service == "dub":
                walker.picture("import")
            walker.button("import.apply", 2).click()
            walker.sees("import.done", 2, rejected=0)
            [came[service]] = at_once([take])
        assert walker.errors() == []
    both = [("https://example.com/other", "k3TzP9q"), ("https://example.com/spring", "spring")]
    assert came == dict.fromkeys(SERVICES, both)


def test_a_banned_link_as_its_owner_and_a_visitor_see_it(walk: Walk, make_link: Callable[..., Any]) -> None:
    link = make_link(customCode="banned")
    ban_link(link=Link.objects.get())
    with walk() as walker:
        walker.open("/dashboard/")
        walker.sees("banned.links", 1)
        walker.open(f"/dashboard/links/{link['_id']}")
        walker.sees("banned.link")
        walker.picture("banned-owner")
        visitor = walker.another()
        response = visitor.page.goto(f"{walker.address}/banned")
        assert response is not None
        assert response.status == 410
        assert visitor.page.locator("html").get_attribute("lang") == walker.look.language
        visitor.picture("banned-visitor")
        assert walker.errors() == []
        assert visitor.errors(410) == []


def test_a_domain_moves_to_the_team(walk: Walk, alice: NewAccount, api: Any) -> None:
    team(alice, "Marketing")
    domain = active_domain(alice.workspace, HOST)
    body = {"originalUrl": DESTINATION, "domainId": str(domain.public_id)}
    assert api.post("/api/urls", body).status_code == 201
    with walk() as walker:
        page = walker.page
        walker.open("/dashboard/domains")
        card = page.locator("article.domain")
        card.locator("summary").first.click()
        walker.button("domain.move").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label(walker.say("move.target")).select_option("Marketing")
        walker.picture("domain-move")
        dialog.get_by_role("button", name=walker.say("domain.moveNow")).click()
        walker.sees("domains.none")
        assert walker.errors() == []
    moved = Domain.objects.get()
    assert moved.owner == moved.links.get().owner == Workspace.objects.get(name="Marketing")


@pytest.mark.parametrize("look", [look for look in LOOKS if look.width == PHONE], indirect=True, ids=str)
@pytest.mark.usefixtures("links")
def test_the_list_with_one_thumb(walk: Walk) -> None:
    """What is done most lies within reach, and fifty links are no endless page."""
    with walk() as walker:
        page = walker.page
        walker.open("/dashboard/")
        expect(rows(page)).to_have_count(50)
        assert page.evaluate("document.documentElement.scrollHeight") < 50 * 120
        walker.picture("list")
        # The places and the new link are in the lower half, with targets of at least 24 px (WCAG 2.5.8).
        bar = page.locator("nav.bottom")
        for target in bar.locator("a, button").all():
            box = target.bounding_box()
            assert box is not None
            assert box["y"] > 422
            assert min(box["width"], box["height"]) >= 24
        more = rows(page).first.locator(".of-menu button").first
        more.tap()
        page.locator(".menu button", has_text=walker.say("links.copyLink")).tap()
        walker.sees("copy.done", text="http://sho.rt/code59")
        rows(page).nth(1).locator("input[type=checkbox]").tap()
        walker.sees("selection.count", 1)
        walker.picture("list-selected")
        assert walker.errors() == []
