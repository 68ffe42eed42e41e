"""The overview of a workspace in Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from accounts.api_keys import create_key
from accounts.models import User
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from analytics.journal.records import UNKNOWN_CODE
from domains.models import Domain
from links.models import ClickCounter, Link
from links.operators import ban_link
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.clicks import drain
from testing.analytics.facts import Fact, record
from testing.analytics.journaled import journaled
from testing.domains.domains import active_domain
from testing.links.calls import address as address_of_link

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NOW = datetime.now(UTC)


def count(link: dict[str, Any], *clicks: tuple[int, int]) -> None:
    """``clicks``: for each day, how many days ago it was, and its clicks, each of another visitor."""
    facts = [
        Fact(f"{NOW - timedelta(days=ago):%Y-%m-%d}T00:00:00Z", visitor=f"{ago} {number}")
        for ago, numbers in clicks
        for number in range(numbers)
    ]
    record(link["_id"], facts)
    ClickCounter.objects.filter(link__public_id=link["_id"]).update(clicks=len(facts))


def total(page: Any, name: str) -> Any:
    return page.locator(f"[data-total={name}] dd")


def test_clicks_stand_against_the_period_before(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    spring, summer = make_link(title="Spring", tags=["sale"]), make_link(title="Summer")
    Link.objects.filter(public_id=summer["_id"]).update(created_at=NOW - timedelta(days=40))
    count(spring, (0, 2), (29, 4))
    count(summer, (3, 3), (31, 6), (59, 2))
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/overview")
        expect(total(page, "clicks")).to_have_text(re.compile(r"9\s*\+13%\s*8 in the 30 days before"))
        expect(total(page, "unique")).to_have_text(re.compile(r"9\s*\+13%\s*8 in the 30 days before"))
        expect(total(page, "created")).to_have_text(re.compile(r"1\s*0%\s*1 in the 30 days before"))
        expect(total(page, "links")).to_have_text("2")
        best = page.get_by_role("region", name="Best links").get_by_role("listitem")
        expect(best).to_have_text([re.compile(r"Spring\s*6\s*66\.7%"), re.compile(r"Summer\s*3\s*33\.3%")])
        tags = page.get_by_role("region", name="Tags").get_by_role("listitem")
        expect(tags).to_have_text([re.compile(r"sale\s*6\s*66\.7%")])
        expect(tags.get_by_role("link")).to_have_attribute("href", "/dashboard/analytics?tags=sale")
        expect(page.get_by_text("Everything works.")).to_be_visible()
        page.get_by_text("Show as a table").click()
        expect(page.locator("table.figures tbody tr")).to_have_count(30)
        page.get_by_role("button", name="7 days").click()
        page.wait_for_url(f"{address}/dashboard/overview?days=7")
        expect(total(page, "clicks")).to_have_text(re.compile(r"5\s*0 in the 7 days before"))
        page.reload()
        expect(page.get_by_role("button", name="7 days")).to_have_attribute("aria-pressed", "true")
        best.first.get_by_role("link").click()
        page.wait_for_url(re.compile("/report$"))
        page.keyboard.press("o")
        page.wait_for_url(f"{address}/dashboard/overview")
        assert visit.errors() == []


def test_what_needs_attention_leads_to_it(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink, alice: NewAccount
) -> None:
    soon = (NOW + timedelta(days=3)).isoformat()
    make_link(title="First", expiresAt=soon)
    make_link(title="Second", expiresAt=soon)
    make_link(title="Later", expiresAt=(NOW + timedelta(days=30)).isoformat())
    ban_link(link=Link.objects.get(public_id=make_link(title="Bad")["_id"]), reason="Phishing")
    used = make_link(title="Used", restrictions={"maxClicks": 1})
    ClickCounter.objects.filter(link__public_id=used["_id"]).update(clicks=1)
    active_domain(alice.workspace, "gone.example")
    Domain.objects.update(status="inactive")
    shop = active_domain(alice.workspace, "shop.example")
    journaled(shop.pk, kind=UNKNOWN_CODE, reason="sprnig", count=3)
    journaled(shop.pk, kind=UNKNOWN_CODE, reason="guess")
    drain()
    create_key(
        workspace=alice.workspace,
        creator=alice.user,
        name="Robot",
        scopes=[Scope.URLS_READ],
        expires_at=NOW + timedelta(days=2),
    )
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/overview")
        items = page.locator("[data-attention]")
        expect(items).to_have_count(6)
        expect(items.locator("b")).to_have_text(
            [
                "1 link is blocked",
                "gone.example",
                "2 links expire within 7 days",
                "Robot",
                "1 link has used up its clicks",
                "shop.example/sprnig",
            ]
        )
        expect(items.nth(2)).to_contain_text("Second and 1 more")
        items.nth(2).get_by_role("link").click()
        expect(page.locator("tr[data-link]")).to_have_count(2)
        expect(page.locator(".chip-filter")).to_have_text(
            [re.compile("Status Active"), re.compile("Expires within 7 days")]
        )
        assert visit.errors() == []


def test_operators_hear_of_unknown_codes_of_the_default_domain(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink, alice: NewAccount
) -> None:
    make_link()
    journaled(0, kind=UNKNOWN_CODE, reason="lost", count=3)
    drain()
    with signed_in() as visit:
        visit.page.goto(f"{address}/dashboard/overview")
        expect(visit.page.get_by_text("Everything works.")).to_be_visible()
        assert visit.errors() == []
    User.objects.filter(pk=alice.user.pk).update(is_staff=True)
    with signed_in() as visit:
        visit.page.goto(f"{address}/dashboard/overview")
        expect(visit.page.locator("[data-attention=unknown] b")).to_have_text(re.compile("/lost$"))
        expect(visit.page.get_by_text("Everything works.")).to_have_count(0)
        assert visit.errors() == []


def test_a_link_is_made_on_the_overview(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    make_link()
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/overview")
        page.get_by_label("Destination URL").fill("example.com/new")
        page.keyboard.press("Enter")
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        assert visit.errors() == []
    assert Link.objects.filter(original_url="https://example.com/new").count() == 1


def test_a_workspace_without_links_starts_with_the_first_one(
    signed_in: Callable[..., Any], address: str
) -> None:
    with signed_in() as visit:
        visit.page.goto(f"{address}/dashboard/overview")
        expect(visit.page.get_by_role("heading", name="Make your first short link")).to_be_visible()
        assert visit.errors() == []


def test_a_viewer_sees_the_figures_and_makes_no_link(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    api = key_client_in(workspace, alice.api_key)
    link = api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    assert api.put(address_of_link(link), {"title": "Of the team"}).status_code == 200
    add_member(workspace, stranger, Role.VIEWER)
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/overview?workspace={workspace.public_id}")
        expect(page.get_by_role("region", name="Newest links")).to_contain_text("Of the team")
        expect(page.get_by_text("No clicks in this period.").first).to_be_visible()
        expect(page.get_by_role("button", name="Shorten")).to_have_count(0)
        assert visit.errors() == []


def test_too_many_clicked_links_are_said_in_words(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.reports.figures.MAX_LINK_DAYS", 1)
    count(make_link(), (0, 1), (20, 1))
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/overview")
        expect(page.get_by_text("So many links have clicks")).to_be_visible()
        page.get_by_role("button", name="7 days").click()
        expect(total(page, "clicks")).to_have_text(re.compile(r"1\s*0 in the 7 days before"))
        assert visit.errors(400) == []


def test_an_outage_is_said_and_the_figures_follow(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    make_link()
    with signed_in() as visit:
        page = visit.page
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        page.goto(f"{address}/dashboard/overview")
        expect(page.get_by_role("alert").first).to_contain_text("could not be reached")
        page.unroute("**/api/**")
        expect(total(page, "links")).to_have_text("1")
