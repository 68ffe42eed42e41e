"""The periods of the report in Chromium: their steps, their time zone, and the period before."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.report_page import MARCH, open_steps, rows, table, total, url_of
from tests.dashboard.report_page import link as link

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def steps(page: Page) -> list[list[str]]:
    return rows(page, "Clicks over time")


def test_steps_are_hours_days_weeks_or_months(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit:
        page = visit.page
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
    signed_in: Callable[..., Any], address: str, link: str
) -> None:
    with signed_in() as visit:
        page = visit.page
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
    signed_in: Callable[..., Any], address: str, link: str
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, "range=custom&start=2026-03-01&end=2026-03-03&zone=UTC"))
        expect(total(page, "clicks")).to_have_text("2")
        assert page.locator("[data-total=clicks] small").count() == 0
        calls: list[str] = []
        page.on("request", lambda request: calls.append(request.url))
        page.get_by_label("Comparison").select_option("Previous period")
        expect(page.locator("[data-total=clicks] small")).to_have_text("-50% (previous period: 4)")
        expect(page.locator("[data-total=scans] small")).to_have_text("Previous period: 0")
        open_steps(page)
        assert steps(page) == [
            ["Sunday, March 1, 2026", "0", "0", "Thursday, February 26, 2026", "0", "0"],
            ["Monday, March 2, 2026", "2", "2", "Friday, February 27, 2026", "4", "1"],
            ["Tuesday, March 3, 2026", "0", "0", "Saturday, February 28, 2026", "0", "0"],
        ]
        # One call has both periods.
        assert [
            "compare=previous" in url for url in calls if f"/analytics/{link}?" in url and "interval=" in url
        ] == [True]
        page.get_by_label("Comparison").select_option("Year before")
        expect(page.locator("[data-total=clicks] small")).to_have_text("Year before: 0")
        # All clicks have no period before them.
        page.locator("select[name=range]").select_option("all")
        expect(total(page, "clicks")).to_have_text("10")
        expect(page.get_by_label("Comparison")).to_be_disabled()
        # A workspace has older clicks than those of its last days, too.
        page.goto(f"{address}/dashboard/analytics?range=all&zone=UTC")
        expect(total(page, "clicks")).to_have_text("10")
        assert visit.errors() == []


def test_a_step_leads_to_its_own_report(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.goto(url_of(address, link, f"{MARCH}&interval=week"))
        expect(page.locator(".chart canvas")).to_be_visible()
        open_steps(page)
        page.get_by_role("link", name="Mar 2, 2026").click()
        expect(total(page, "clicks")).to_have_text("5")
        expect(page.get_by_label("From")).to_have_value("2026-03-02")
        expect(page.get_by_label("To", exact=True)).to_have_value("2026-03-08")
        page.get_by_role("link", name="Sunday, March 8, 2026").click()
        expect(total(page, "clicks")).to_have_text("3")
        # A day has no further steps to choose.
        expect(table(page, "Clicks over time").get_by_role("link")).to_have_count(0)
        page.go_back()
        expect(total(page, "clicks")).to_have_text("5")
        # By mouse on the curve, whose middle is the fourth of seven days.
        page.locator(".chart .u-over").click()
        expect(page.get_by_label("From")).to_have_value("2026-03-05")
        assert visit.errors() == []
