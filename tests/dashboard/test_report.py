"""The report of a link in Chromium: its figures, tables, downloads and periods."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.models import Kind
from testing.branches import branch, set_branches
from testing.dashboard import session_cookie, sign_in
from testing.facts import Fact, record
from tests.dashboard.report_page import MARCH, rows, table, total, url_of

MakeLink = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db(transaction=True)

NEWS = "https://www.news.example/today"
FACTS = [
    Fact("2026-02-27T10:00Z", visitor="a", count=4),
    Fact("2026-03-02T10:20Z", visitor="a", referrer=NEWS),
    Fact("2026-03-02T11:10Z", visitor="b", device="mobile", browser="Safari", operating_system="iOS"),
    Fact("2026-03-08T23:30Z", "SG", "Singapore", visitor="c", count=3),
    Fact("2026-03-09T00:30Z", "unknown", "unknown", device="unknown", visitor="d"),
    Fact("2026-03-09T01:00Z", kind=Kind.CRAWLER, count=5),
    Fact("2026-03-09T02:00Z", kind=Kind.REFUSED, reason="country", count=2),
]


@pytest.fixture
def link(make_link: MakeLink) -> str:
    identifier = make_link(customCode="spring", title="Spring sale")["_id"]
    record(identifier, FACTS)
    return identifier


def test_every_figure_of_the_period_is_shown(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        expect(page.get_by_role("heading", name="Report: Spring sale")).to_be_visible()
        expect(total(page, "clicks")).to_have_text("6")
        shown = [total(page, key).inner_text() for key in ("unique", "scans", "refused", "notCounted")]
        assert shown == ["4", "0", "2", "5"]
        assert rows(page, "Countries") == [
            ["Singapore", "3", "50.0%"],
            ["Germany", "2", "33.3%"],
            ["Unknown", "1", "16.7%"],
        ]
        assert rows(page, "Cities") == [
            ["Singapore", "Singapore", "3"],
            ["Berlin", "Germany", "2"],
            ["Unknown", "Unknown", "1"],
        ]
        assert rows(page, "Devices") == [
            ["Desktop", "4", "66.7%"],
            ["Mobile", "1", "16.7%"],
            ["Unknown", "1", "16.6%"],
        ]
        assert rows(page, "Browsers") == [["Firefox", "5", "83.3%"], ["Safari", "1", "16.7%"]]
        assert rows(page, "Systems") == [["Linux", "5", "83.3%"], ["iOS", "1", "16.7%"]]
        assert rows(page, "Referrers") == [["Direct", "5", "83.3%"], ["news.example", "1", "16.7%"]]
        assert rows(page, "Scans and clicks") == [
            ["QR code scanned", "0", "0.0%"],
            ["Link followed", "6", "100.0%"],
        ]
        assert rows(page, "Refused and not counted") == [
            ["Refused", "The link does not allow the visitor's country", "2"],
            ["Not counted", "A crawler, such as a search engine or the link preview of a messenger", "5"],
        ]
        expect(table(page, "Individual requests").locator("tbody tr")).to_have_count(13)
        log = rows(page, "Individual requests")
        assert [row[1] for row in log[:3]] == [
            "Refused: The link does not allow the visitor's country"
        ] * 2 + ["A crawler, such as a search engine or the link preview of a messenger"]
        assert visit.errors() == []


def steps(page: Page) -> list[list[str]]:
    return rows(page, "Clicks over time")


def open_steps(page: Page) -> None:
    page.get_by_text("Show as a table").click()
    expect(table(page, "Clicks over time")).to_be_visible()


def test_steps_are_hours_days_weeks_or_months(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        expect(page.locator(".chart canvas")).to_be_visible()
        open_steps(page)
        assert len(steps(page)) == 31
        assert steps(page)[1] == ["Monday, March 2, 2026", "2", "2"]
        page.get_by_label("Interval").select_option("week")
        expect(table(page, "Clicks over time").locator("tbody tr")).to_have_count(6)
        assert [row for row in steps(page) if row[1] != "0"] == [
            ["Mar 2, 2026", "5", "3"],
            ["Mar 9, 2026", "1", "1"],
        ]
        page.get_by_label("Interval").select_option("month")
        expect(table(page, "Clicks over time").locator("tbody tr")).to_have_count(1)
        assert steps(page) == [["March 2026", "6", "4"]]
        page.get_by_label("Interval").select_option("hour")
        expect(table(page, "Clicks over time").locator("tbody tr")).to_have_count(31)
        page.get_by_role("button", name="Show all 744").click()
        expect(table(page, "Clicks over time").locator("tbody tr")).to_have_count(744)
        clicked = [row for row in steps(page) if row[1] != "0"]
        assert [[re.sub(r"\s", " ", row[0]), *row[1:]] for row in clicked] == [
            ["Mar 2, 2026, 10:00 AM", "1", "1"],
            ["Mar 2, 2026, 11:00 AM", "1", "1"],
            ["Mar 8, 2026, 11:00 PM", "3", "1"],
            ["Mar 9, 2026, 12:00 AM", "1", "1"],
        ]
        # The address keeps the choice.
        page.reload()
        expect(page.get_by_label("Interval")).to_have_value("hour")
        assert visit.errors() == []


def test_days_are_those_of_the_chosen_time_zone(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        expect(total(page, "clicks")).to_have_text("6")
        open_steps(page)
        assert steps(page)[8] == ["Monday, March 9, 2026", "1", "1"]
        page.get_by_label("Time zone").select_option("Asia/Singapore")
        expect(table(page, "Clicks over time").locator("tbody tr").nth(8)).to_contain_text("4")
        assert steps(page)[8] == ["Monday, March 9, 2026", "4", "2"]
        expect(page.get_by_text("These requests are stored by UTC day.")).to_be_visible()
        page.reload()
        expect(page.get_by_label("Time zone")).to_have_value("Asia/Singapore")
        assert visit.errors() == []


def test_a_period_is_compared_with_the_one_before(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, "range=custom&start=2026-03-01&end=2026-03-03&zone=UTC"))
        expect(total(page, "clicks")).to_have_text("2")
        assert page.locator("[data-total=clicks] small").count() == 0
        page.get_by_role("switch", name="Compare with the previous period").check()
        expect(page.locator("[data-total=clicks] small")).to_have_text("-50% (previous period: 4)")
        expect(page.locator("[data-total=scans] small")).to_have_text("Previous period: 0")
        open_steps(page)
        assert steps(page) == [
            ["Sunday, March 1, 2026", "0", "0", "Thursday, February 26, 2026", "0", "0"],
            ["Monday, March 2, 2026", "2", "2", "Friday, February 27, 2026", "4", "1"],
            ["Tuesday, March 3, 2026", "0", "0", "Saturday, February 28, 2026", "0", "0"],
        ]
        # All clicks have no period before them.
        page.locator("select[name=range]").select_option("all")
        expect(total(page, "clicks")).to_have_text("10")
        expect(page.get_by_role("switch")).to_be_disabled()
        assert visit.errors() == []


def download(page: Page, title: str) -> tuple[str, list[list[str]]]:
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Download CSV: {title}", exact=True).click()
    content = saved.value.path().read_text(encoding="utf-8-sig")
    return saved.value.suggested_filename, list(csv.reader(content.splitlines()))


def test_every_table_can_be_downloaded(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        expect(total(page, "clicks")).to_have_text("6")
        open_steps(page)
        expect(table(page, "Individual requests")).to_be_visible()
        captions = page.locator("table.figures caption").all_inner_texts()
        assert len(captions) == len(set(captions)) == 10
        # Chromium drops the eleventh download within a second, so each table is downloaded once.
        tables = {title: download(page, title) for title in captions}
        for title, (name, [head, *body]) in tables.items():
            assert re.fullmatch(r"spring-\w+-2026-03-01-2026-03-31\.csv", name)
            shown = table(page, title)
            assert head == [text.strip() for text in shown.locator("thead th").all_text_contents()]
            assert [row[0] for row in body] == [row[0] for row in rows(page, title)]
        assert tables["Countries"][1] == [
            ["Country", "Clicks", "Share"],
            ["Singapore", "3", "50"],
            ["Germany", "2", "33.3"],
            ["Unknown", "1", "16.7"],
        ]
        assert visit.errors() == []


def test_branches_and_the_links_own_destination_share_the_clicks(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")["_id"]
    set_branches(link, [branch(1, "=Germany", "de")])
    record(link, [Fact("2026-03-02T10:00Z", branch=1, count=3), Fact("2026-03-02T10:00Z", "FR", "Paris")])
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        expect(total(page, "clicks")).to_have_text("4")
        assert [row[:3] + row[4:] for row in rows(page, "Rules and split")] == [
            ["=Germany", "https://example.com/de", "3", "75.0%"],
            ["The link's own destination", "https://example.com/page", "1", "25.0%"],
        ]
        # Spreadsheets do not run the name.
        assert download(page, "Rules and split")[1][1][0] == "'=Germany"
        assert visit.errors() == []


def test_the_map_has_the_clicks_of_each_country(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        page.locator(".map").scroll_into_view_if_needed()
        germany = page.locator(".map path[data-country=DE]")
        expect(germany).to_have_attribute("data-level", "5")
        assert germany.locator("title").text_content() == "Germany: 2"
        assert page.locator(".map path[data-country=FR]").get_attribute("data-level") == "0"
        assert page.locator(".map figcaption").inner_text() == "Too small for this map: Singapore: 3"
        assert visit.errors() == []


def test_the_log_has_older_requests_and_one_kind(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")["_id"]
    facts = [Fact(f"2026-03-02T10:{minute:02}Z", city=f"City {minute}") for minute in range(25)]
    record(link, [*facts, Fact("2026-03-03T10:00Z", kind=Kind.HEAD)])
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        log = table(page, "Individual requests").locator("tbody tr")
        expect(log).to_have_count(20)
        page.get_by_role("button", name="Show older requests").click()
        expect(log).to_have_count(26)
        expect(page.get_by_role("button", name="Show older requests")).to_have_count(0)
        cities = [row[3] for row in rows(page, "Individual requests")]
        assert cities == ["Berlin", *(f"City {minute}" for minute in reversed(range(25)))]
        page.get_by_label("Requests shown").select_option("notCounted")
        expect(log).to_have_count(1)
        expect(log).to_contain_text("A program checked the link (HEAD request)")
        assert visit.errors() == []


def test_the_report_is_in_german(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        page.set_extra_http_headers({"Accept-Language": "de"})
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        expect(page.get_by_role("heading", name="Auswertung: Spring sale")).to_be_visible()
        expect(total(page, "clicks")).to_have_text("6")
        assert rows(page, "Länder")[1] == ["Deutschland", "2", "33,3\xa0%"]
        page.get_by_text("Als Tabelle anzeigen").click()
        expect(table(page, "Aufrufe im Zeitverlauf").locator("tbody tr").nth(1)).to_contain_text(
            "Montag, 2. März 2026"
        )
        assert visit.errors() == []


def test_list_and_editor_lead_to_the_report(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(f"{address}/dashboard/")
        page.get_by_role("link", name="0 clicks: report of sho.rt/spring").click()
        expect(page.get_by_role("heading", name="Report: Spring sale")).to_be_visible()
        page.get_by_role("button", name="Edit link").click()
        expect(page.get_by_role("heading", name="Edit link")).to_be_visible()
        page.get_by_role("link", name="0 clicks", exact=True).click()
        expect(page.get_by_role("heading", name="Report: Spring sale")).to_be_visible()
        assert visit.errors() == []


def test_a_stranger_gets_no_figures(
    browse: Callable[[], Any], address: str, stranger: NewAccount, link: str
) -> None:
    cookie = session_cookie(stranger.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, MARCH))
        expect(page.get_by_role("alert")).to_be_visible()
        assert page.locator(".totals").count() == 0
        assert "Spring sale" not in page.content()
        assert visit.errors(404) == []


def test_a_link_without_clicks_has_an_empty_report(
    browse: Callable[[], Any], address: str, alice: NewAccount, make_link: MakeLink, api: APIClient
) -> None:
    link = make_link()["_id"]
    cookie = session_cookie(alice.user)
    with browse() as visit:
        page = visit.page
        sign_in(visit, address, cookie)
        page.goto(url_of(address, link, "range=all"))
        expect(total(page, "clicks")).to_have_text("0")
        assert page.get_by_text("No data for this period.").count() == 9
        assert page.locator("table.figures").count() == 0
        assert visit.errors() == []
