"""The filters of reports in Chromium: of a link, of the workspace, and of campaigns, which keep them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from rest_framework.test import APIClient

from accounts.models import User
from accounts.rights import Role
from accounts.services import NewAccount
from analytics.models import Kind
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.facts import Fact, record
from testing.pages.axe import SCHEMES, load_axe, problems_of
from tests.dashboard.report_page import MARCH, rows, show, table, total, url_of
from tests.dashboard.report_page import link as link

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NOW = datetime.now(UTC)


def chips(page: Page) -> Locator:
    return page.locator(".chip-filter > span")


def value(page: Page, name: str) -> Locator:
    """The button in a list that filters by this value."""
    return page.locator("table.figures").get_by_role("button", name=name, exact=True)


def test_every_value_of_a_report_is_a_filter(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        expect(total(page, "clicks")).to_have_text("6")
        show(page, "Countries")
        value(page, "Singapore").click()
        expect(total(page, "clicks")).to_have_text("3")
        expect(chips(page)).to_have_text(["Country is Singapore"])
        assert rows(page, "Browser") == [["Firefox", "3", "100.0%"]]
        # Visitors cannot be told apart by their clicks alone.
        expect(total(page, "unique")).to_have_text("\u2013")
        # The chip turns the filter round; the address keeps it.
        page.get_by_role("button", name="Without Singapore").click()
        expect(total(page, "clicks")).to_have_text("3")
        expect(chips(page)).to_have_text(["Country is not Singapore"])
        page.reload()
        assert [row[0] for row in rows(page, "Countries")] == ["Germany", "Unknown"]
        # A value of another list beside it, without the pointer.
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_label("Property").select_option("Browser")
        page.get_by_label("Condition").select_option("is not")
        page.get_by_label("Value", exact=True).click()
        page.get_by_role("listbox").get_by_role("option", name="Safari").click()
        expect(total(page, "clicks")).to_have_text("2")
        expect(chips(page)).to_have_text(["Country is not Singapore", "Browser is not Safari"])
        load_axe(page)
        assert [problem for scheme in SCHEMES for problem in problems_of(page, scheme)] == []
        page.go_back()
        expect(total(page, "clicks")).to_have_text("3")
        page.get_by_role("button", name="Clear", exact=True).click()
        expect(total(page, "clicks")).to_have_text("6")
        expect(chips(page)).to_have_count(0)
        # Without the mouse over the row, the button is for nobody else.
        show(page, "Countries")
        table(page, "Countries").locator("tr", has_text="Germany").hover()
        page.locator("table.figures").get_by_role("button", name="Without Germany").click()
        expect(total(page, "clicks")).to_have_text("4")
        assert visit.errors() == []


def test_the_log_obeys_the_filters_and_files_have_what_is_shown(
    signed_in: Callable[..., Any], address: str, link: str
) -> None:
    with signed_in() as visit:
        page = visit.page
        for url in (url_of(address, link, MARCH), f"{address}/dashboard/analytics?{MARCH}"):
            page.goto(f"{url}&country=SG")
            expect(total(page, "clicks")).to_have_text("3")
            log = table(page, "Individual requests")
            expect(log.locator("tbody tr")).to_have_count(3)
            expect(log.get_by_text("Singapore", exact=True)).to_have_count(6)
            for menu, name, lines in (
                ("Download the report", "report", 3),
                ("Download all these requests", "clicks", 3),
            ):
                page.get_by_role("button", name=menu).click()
                with page.expect_download() as saved:
                    page.get_by_role("button", name="JSON lines").click()
                file = saved.value
                assert re.fullmatch(rf"{name}-[\d-]+\.jsonl", file.suggested_filename)
                rows_of_file = [json.loads(line) for line in file.path().read_text().splitlines()]
                shown = [row for row in rows_of_file if "SG" in {row.get("country"), row.get("value")}]
                assert len(shown) == (1 if name == "report" else lines)
        # The log of a workspace names the links.
        assert rows(page, "Individual requests")[0][1].endswith("/spring")
        assert visit.errors() == []


def test_a_refused_combination_says_what_works(
    signed_in: Callable[..., Any], address: str, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.reports.raw.MAX_REQUESTS", 3)
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, f"{MARCH}&country=DE&device=mobile"))
        refused = page.locator(".refused")
        expect(refused.get_by_role("alert")).to_contain_text("choose a shorter range")
        load_axe(page)
        assert [problem for scheme in SCHEMES for problem in problems_of(page, scheme)] == []
        refused.get_by_role("button", name="Remove the filter: Device").click()
        expect(chips(page)).to_have_text(["Country is Germany"])
        expect(refused).to_be_visible()
        refused.get_by_role("button", name="Remove all filters").click()
        expect(total(page, "clicks")).to_have_text("6")
        expect(refused).to_have_count(0)
        # In another language, too, with the number of days that works.
        monkeypatch.setattr("analytics.reports.figures.MAX_LINK_DAYS", 2)
        page.evaluate("localStorage.setItem('dashboard.language', 'de')")
        page.goto(f"{address}/dashboard/analytics?{MARCH}")
        expect(refused.get_by_role("alert")).to_have_text(
            "Die Links haben im Zeitraum zusammen mehr als 2 Tage mit Klicks."
            " Wählen Sie höchstens 2 Tage oder weniger Links."
        )
        refused.get_by_role("button", name="Letzte 2 Tage").click()
        expect(total(page, "clicks")).to_have_text("0")
        assert visit.errors(400) == []


def facts(*counts: tuple[int, str, str, int]) -> list[Fact]:
    """For each: how many days ago, the country, the device and the number of clicks."""
    return [
        Fact(
            f"{NOW - timedelta(days=ago):%Y-%m-%d}T10:00Z",
            country,
            "unknown",
            device,
            count=count,
            visitor=str(ago),
        )
        for ago, country, device, count in counts
    ]


def test_the_report_of_a_workspace_is_kept_as_a_campaign(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    spring = make_link(title="Spring", tags=["spring", "mail"], utm={"campaign": "spring"})
    other = make_link(title="Other", tags=["mail"])
    record(spring["_id"], facts((1, "DE", "mobile", 4), (2, "FR", "desktop", 2), (40, "DE", "mobile", 5)))
    record(other["_id"], facts((1, "DE", "desktop", 3)))
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/overview")
        page.get_by_role("navigation", name="Main").get_by_role("link", name="Analytics").click()
        expect(total(page, "clicks")).to_have_text("9")
        best = page.get_by_role("region", name="Best links").get_by_role("listitem")
        expect(best).to_have_text([re.compile(r"Spring\s*6\s*66\.7%"), re.compile(r"Other\s*3\s*33\.3%")])
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_role("combobox", name="Tags", exact=True).fill("spring")
        page.keyboard.press("Enter")
        expect(total(page, "clicks")).to_have_text("6")
        show(page, "Countries")
        value(page, "Germany").click()
        expect(total(page, "clicks")).to_have_text("4")
        page.locator("select[name=compare]").select_option("Previous period")
        expect(page.locator("[data-total=clicks] small")).to_have_text("-20% (previous period: 5)")
        expect(chips(page)).to_have_text(["Tag spring", "Country is Germany"])
        page.get_by_role("button", name="Save as campaign").click()
        page.get_by_role("dialog").get_by_label("Name").fill("Spring in Germany")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        campaign = page.get_by_role("link", name="Spring in Germany")
        expect(campaign).to_have_attribute("aria-current", "page")
        page.get_by_role("link", name="All clicks").click()
        expect(total(page, "clicks")).to_have_text("9")
        campaign.click()
        expect(total(page, "clicks")).to_have_text("4")
        # The report of a link shows the same period.
        best.first.get_by_role("link").click()
        page.wait_for_url(f"{address}/dashboard/links/{spring['_id']}/report?compare=previous")
        # Campaigns are no views of the list.
        page.goto(f"{address}/dashboard/")
        expect(page.locator("tr[data-link]")).to_have_count(2)
        expect(campaign).to_have_count(0)
        assert visit.errors() == []
    [view] = api.get("/api/views").json()["data"]["views"]
    kept = {"compare": "previous", "country": "DE", "tags": "spring"}
    assert (view["name"], view["filters"], view["report"]) == ("Spring in Germany", {}, kept)
    # The API understands what the page keeps.
    assert api.get("/api/analytics", view["report"]).json()["data"]["totalClicks"] == 4


def test_links_are_compared_by_tags_campaigns_channels_and_hours(
    signed_in: Callable[..., Any], address: str, api: APIClient, make_link: MakeLink
) -> None:
    spring = make_link(title="Spring", tags=["Spring", "mail"], utm={"campaign": "sale"})
    plain = make_link(title="Plain")
    monday = "2026-03-02T10:20Z"
    record(spring["_id"], [Fact(monday, count=4, referrer="https://t.co/x"), Fact("2026-03-03T11:00Z")])
    record(plain["_id"], [Fact(monday, count=2)])
    assert api.patch("/api/tags/spring", {"color": "#FF0000"}).status_code == 200
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/analytics?{MARCH}")
        expect(total(page, "clicks")).to_have_text("7")
        show(page, "Channels")
        expect(value(page, "Social networks")).to_be_visible()
        assert rows(page, "Channels") == [["Social networks", "4", "57.1%"], ["Direct", "3", "42.9%"]]
        show(page, "Tags")
        expect(value(page, "spring")).to_have_class("tag own")
        # A click counts for each tag of its link.
        assert sorted(rows(page, "Tags")) == [
            ["None", "2", "28.6%"],
            ["mail", "5", "71.4%"],
            ["spring", "5", "71.4%"],
        ]
        heat = page.get_by_role("img", name="Weekdays and hours")
        page.get_by_role("heading", name="Weekdays and hours").scroll_into_view_if_needed()
        expect(heat).to_have_accessible_name("Weekdays and hours. Busiest: Monday 10:00 AM, 6 clicks")
        expect(heat.locator("rect[data-level='5'] title")).to_have_text("Monday 10:00 AM: 6")
        load_axe(page)
        assert [problem for scheme in SCHEMES for problem in problems_of(page, scheme)] == []
        value(page, "spring").click()
        expect(total(page, "clicks")).to_have_text("5")
        show(page, "Campaign")
        value(page, "sale").click()
        expect(chips(page)).to_have_text(["Tag spring", "UTM campaign is sale"])
        show(page, "Channels")
        value(page, "Social networks").click()
        expect(total(page, "clicks")).to_have_text("4")
        page.wait_for_url(re.compile("channel=social&?"))
        assert visit.errors() == []


def test_a_viewer_reads_the_report_of_the_team_and_saves_nothing(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    api = key_client_in(workspace, alice.api_key)
    created = api.post("/api/urls", {"originalUrl": "https://example.com/", "title": "Of the team"})
    record(created.json()["data"]["url"]["_id"], facts((1, "DE", "mobile", 2)))
    assert (
        api.post("/api/views", {"name": "Theirs", "filters": {}, "report": {"country": "FR"}}).status_code
        == 201
    )
    add_member(workspace, stranger, Role.VIEWER)
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/analytics?workspace={workspace.public_id}&country=DE")
        expect(total(page, "clicks")).to_have_text("2")
        expect(page.get_by_role("button", name="Save as campaign")).to_have_count(0)
        page.get_by_role("link", name="Theirs").click()
        expect(total(page, "clicks")).to_have_text("0")
        assert visit.errors() == []


def test_links_their_creator_and_kinds_are_chosen(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    User.objects.filter(pk=stranger.user.pk).update(first_name="Grace", last_name="Hopper")
    ids = []
    for number, (account, title) in enumerate([(alice, "Spring"), (alice, "Summer"), (stranger, "Autumn")]):
        body = {"originalUrl": f"https://example.com/{number}", "title": title}
        created = key_client_in(workspace, account.api_key).post("/api/urls", body)
        ids.append(created.json()["data"]["url"]["_id"])
        record(ids[-1], facts((1, "DE", "mobile", 10**number)))
    record(ids[0], [Fact(f"{NOW:%Y-%m-%d}T00:00Z", kind=Kind.CRAWLER, count=7)])
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/analytics?workspace={workspace.public_id}")
        expect(total(page, "clicks")).to_have_text("111")
        page.get_by_role("button", name="Filter", exact=True).click()
        # What is typed is in the destination alone.
        picker = page.get_by_role("combobox", name="Links", exact=True)
        picker.fill("example.com/0")
        page.get_by_role("option", name="Spring").click()
        expect(total(page, "clicks")).to_have_text("1")
        picker.click()
        # Those that are chosen already are not offered. By keyboard, too.
        expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(2)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(total(page, "clicks")).to_have_text("101")
        expect(chips(page)).to_have_text(["Link Spring", "Link Autumn"])
        load_axe(page)
        assert [problem for scheme in SCHEMES for problem in problems_of(page, scheme)] == []
        page.get_by_label("Created by").select_option("Grace Hopper")
        expect(total(page, "clicks")).to_have_text("100")
        # The address has all of it; the names come from the API.
        page.reload()
        expect(chips(page)).to_have_text(["Created by Grace Hopper", "Link Spring", "Link Autumn"])
        page.get_by_role("button", name="Remove the filter: Created by").click()
        page.get_by_role("button", name="Remove the filter: Link Autumn").click()
        expect(total(page, "clicks")).to_have_text("1")
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_label("Property").select_option("Kind of visit")
        page.get_by_label("Value", exact=True).fill("Crawler or preview")
        page.get_by_role("button", name="Add filter").click()
        expect(total(page, "clicks")).to_have_text("7")
        expect(chips(page)).to_have_text(["Link Spring", "Kind of visit is Crawler or preview"])
        expect(page.get_by_text("The figures count the visits of the chosen kinds")).to_be_visible()
        # The sum of all visits is of another report.
        expect(page.locator(".ledger")).to_have_count(0)
        assert visit.errors() == []
