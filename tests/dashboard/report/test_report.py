"""The report of a link in Chromium: its figures, tables and downloads."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.models import Kind
from testing.analytics.branches import branch, set_branches
from testing.analytics.facts import Fact, record
from tests.dashboard.report_page import MARCH, open_steps, rows, show, table, total, url_of
from tests.dashboard.report_page import link as link

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_every_figure_of_the_period_is_shown(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit:
        page = visit.page
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
        assert rows(page, "Regions") == [
            ["Unknown", "Unknown", "5"],
            ["Brandenburg", "Germany", "1"],
        ]
        assert rows(page, "Type") == [
            ["Desktop", "4", "66.7%"],
            ["Mobile", "1", "16.7%"],
            ["Unknown", "1", "16.6%"],
        ]
        assert rows(page, "Browser") == [["Firefox", "5", "83.3%"], ["Safari", "1", "16.7%"]]
        assert rows(page, "System") == [["Linux", "5", "83.3%"], ["iOS", "1", "16.7%"]]
        assert rows(page, "Language") == [["Unknown", "5", "83.3%"], ["Portuguese", "1", "16.7%"]]
        assert rows(page, "Referrers") == [["Direct", "5", "83.3%"], ["news.example", "1", "16.7%"]]
        assert rows(page, "Scan or click") == [
            ["QR code scanned", "0", "0.0%"],
            ["Clicked", "6", "100.0%"],
        ]
        assert rows(page, "Refused and not counted") == [
            ["Refused", "The link does not allow the visitor's country", "2"],
            ["Not counted", "A crawler, such as a search engine or the link preview of a messenger", "5"],
        ]
        expect(table(page, "Individual requests").locator("tbody tr")).to_have_count(13)
        log = rows(page, "Individual requests")
        assert [row[1] for row in log[:3]] == [
            "Refused: The link does not allow the visitor's country"
        ] * 2 + ["Crawler or preview"]
        assert visit.errors() == []


TABLES = (
    *("Clicks over time", "Referrers", "Scan or click", "Countries", "Cities", "Browser", "Type", "System"),
    *("Refused and not counted", "Individual requests"),
)


def download(page: Page, title: str) -> tuple[str, list[list[str]]]:
    show(page, title)
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Download CSV: {title}", exact=True).click()
    content = saved.value.path().read_text(encoding="utf-8-sig")
    return saved.value.suggested_filename, list(csv.reader(content.splitlines()))


def test_every_table_can_be_downloaded(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        expect(total(page, "clicks")).to_have_text("6")
        open_steps(page)
        expect(table(page, "Individual requests")).to_be_visible()
        # Chromium drops the eleventh download within a second, so each table is downloaded once.
        tables = {title: download(page, title) for title in TABLES}
        for title, (name, [head, *body]) in tables.items():
            assert re.fullmatch(r"spring-\w+-2026-03-01-2026-03-31\.csv", name)
            shown = rows(page, title)
            assert head == [
                text.strip() for text in table(page, title).locator("thead th").all_text_contents()
            ]
            # Spreadsheets can sort the times.
            if head[0] == "Time":
                assert [str(datetime.fromisoformat(row[0])) for row in body]
            else:
                assert [row[0] for row in body] == [row[0] for row in shown]
        assert tables["Clicks over time"][1][1] == ["2026-03-01", "0", "0"]
        assert tables["Countries"][1] == [
            ["Country", "Clicks", "Share"],
            ["Singapore", "3", "50"],
            ["Germany", "2", "33.3"],
            ["Unknown", "1", "16.7"],
        ]
        assert visit.errors() == []


def test_branches_and_the_links_own_destination_share_the_clicks(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")["_id"]
    set_branches(link, [branch(1, "=Germany", "de")])
    record(link, [Fact("2026-03-02T10:00Z", branch=1, count=3), Fact("2026-03-02T10:00Z", "FR", "Paris")])
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        expect(total(page, "clicks")).to_have_text("4")
        assert [row[:3] + row[4:] for row in rows(page, "Rules and variants")] == [
            ["=Germany", "https://example.com/de", "3", "75.0%"],
            ["The link's own destination", "https://example.com/page", "1", "25.0%"],
        ]
        # Spreadsheets do not run the name.
        assert download(page, "Rules and variants")[1][1][0] == "'=Germany"
        assert visit.errors() == []


def test_the_map_has_the_clicks_of_each_country(
    signed_in: Callable[..., Any], address: str, link: str
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        show(page, "Map")
        germany = page.locator(".map path[data-country=DE]")
        expect(germany).to_have_attribute("data-level", "5")
        assert germany.locator("title").text_content() == "Germany: 2"
        assert page.locator(".map path[data-country=FR]").get_attribute("data-level") == "0"
        assert page.locator(".map figcaption").inner_text() == "Too small for this map: Singapore: 3"
        assert visit.errors() == []


def test_unknown_cities_are_one_sentence(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")["_id"]
    record(link, [Fact("2026-03-02T10:00Z", city="unknown", count=3)])
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        for tab in ("Regions", "Cities"):
            show(page, tab)
            expect(page.get_by_text("Regions and cities need a file that is not installed")).to_be_visible()
            expect(table(page, tab)).to_have_count(0)
        assert visit.errors() == []


def test_sites_have_the_names_that_people_know(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")["_id"]
    referrers = ("https://t.co/a", "https://x.com/b", "https://l.instagram.com/", "android-app://com.slack/")
    record(link, [Fact("2026-03-02T10:00Z", referrer=referrer) for referrer in referrers])
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        assert rows(page, "Referrers") == [
            ["X", "2", "50.0%"],
            ["Slack", "1", "25.0%"],
            ["Instagram", "1", "25.0%"],
        ]
        assert visit.errors() == []


def test_a_visitor_who_is_asked_for_the_password_is_not_refused(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring", password="open sesame")["_id"]
    record(
        link,
        [
            Fact("2026-03-02T10:00Z", count=2),
            Fact("2026-03-02T10:00Z", kind=Kind.REFUSED, reason="password", count=3),
            Fact("2026-03-02T10:00Z", kind=Kind.REFUSED, reason="country"),
        ],
    )
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        expect(total(page, "asked")).to_have_text("3")
        expect(total(page, "refused")).to_have_text("1")
        expect(page.locator(".ledger")).to_have_text(
            "6 requests = 2 clicks + 0 not counted + 1 refused + 3 asked for the password."
        )
        assert visit.errors() == []


def test_the_log_has_older_requests_and_one_kind(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")["_id"]
    facts = [Fact(f"2026-03-02T10:{minute:02}Z", city=f"City {minute}") for minute in range(25)]
    record(link, [*facts, Fact("2026-03-03T10:00Z", kind=Kind.HEAD)])
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        log = table(page, "Individual requests").locator("tbody tr")
        expect(log).to_have_count(20)
        page.get_by_role("button", name="Show older requests").click()
        expect(log).to_have_count(26)
        expect(page.get_by_role("button", name="Show older requests")).to_have_count(0)
        cities = [row[4] for row in rows(page, "Individual requests")]
        assert cities == ["Berlin", *(f"City {minute}" for minute in reversed(range(25)))]
        page.get_by_label("Requests shown").select_option("notCounted")
        expect(log).to_have_count(1)
        expect(log).to_contain_text("Check by a program")
        # A program neither scans nor clicks.
        [[*_, way, _, _]] = rows(page, "Individual requests")
        assert way == "–"  # noqa: RUF001
        assert visit.errors() == []


def test_the_report_is_in_german(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.set_extra_http_headers({"Accept-Language": "de"})
        page.goto(url_of(address, link, MARCH))
        expect(page.get_by_role("heading", name="Auswertung: Spring sale")).to_be_visible()
        expect(total(page, "clicks")).to_have_text("6")
        assert rows(page, "Länder")[1] == ["Deutschland", "2", "33,3\xa0%"]
        page.get_by_text("Als Tabelle anzeigen").click()
        expect(table(page, "Klicks im Zeitverlauf").locator("tbody tr").nth(1)).to_contain_text(
            "Montag, 2. März 2026"
        )
        assert visit.errors() == []


def test_list_and_editor_lead_to_the_report(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        page.get_by_role("link", name="0 clicks: report of sho.rt/spring").click()
        expect(page.get_by_role("heading", name="Report: Spring sale")).to_be_visible()
        page.get_by_role("button", name="Edit link").click()
        expect(page.locator("form.editor[data-link]")).to_be_visible()
        page.get_by_role("link", name="Report: 0 clicks", exact=True).click()
        expect(page.get_by_role("heading", name="Report: Spring sale")).to_be_visible()
        assert visit.errors() == []


def test_a_stranger_gets_no_figures(
    signed_in: Callable[..., Any], address: str, stranger: NewAccount, link: str
) -> None:
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(url_of(address, link, MARCH))
        expect(page.get_by_role("alert")).to_be_visible()
        assert page.locator(".totals").count() == 0
        assert "Spring sale" not in page.content()
        assert visit.errors(404) == []


def test_a_link_without_clicks_has_an_empty_report(
    signed_in: Callable[..., Any], address: str, make_link: MakeLink, api: APIClient
) -> None:
    link = make_link()["_id"]
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, "range=all"))
        expect(total(page, "clicks")).to_have_text("0")
        expect(page.get_by_text("No data for this period.")).to_have_count(6)
        assert page.locator("table.figures").count() == 0
        assert visit.errors() == []
