"""Live updates of the report."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.services import NewAccount
from testing.pages.dashboard import session_cookie, sign_in
from tests.dashboard.report_page import clicks_are_counted, rows, table, total, url_of, wait_for_hours

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def link(make_link: MakeLink) -> str:
    return make_link(customCode="spring", title="Spring sale")["_id"]


def follow(page: Page, address: str, path: str = "/spring", method: str = "GET") -> None:
    response = page.request.fetch(f"{address}{path}", method=method, max_redirects=0)
    assert response.status == 302


def set_hidden(value: str) -> str:
    """A script that makes the page believe that it is hidden or visible."""
    return f"""
        Object.defineProperty(document, "hidden", {{configurable: true, get: () => {value}}});
        document.dispatchEvent(new Event("visibilitychange"));
    """


def test_a_click_appears_without_a_reload(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit, clicks_are_counted():
        page = visit.page
        page.goto(url_of(address, link))
        expect(total(page, "clicks")).to_have_text("0")
        page.evaluate("window.isSamePage = true")
        # Until then, the service only confirms the last counts.
        with page.expect_response(lambda response: response.status == 304):
            pass
        assert total(page, "clicks").inner_text() == "0"
        follow(page, address)
        expect(total(page, "clicks")).to_have_text("1")
        # All figures change together.
        assert total(page, "unique").inner_text() == "1"
        assert [row[:2] for row in rows(page, "Browser")] == [["Chrome", "1"]]
        expect(table(page, "Individual requests").locator("tbody tr")).to_have_count(1)
        follow(page, address, "/spring?qr=1")
        expect(total(page, "scans")).to_have_text("1")
        assert total(page, "clicks").inner_text() == "2"
        follow(page, address, method="HEAD")
        expect(total(page, "notCounted")).to_have_text("1")
        assert rows(page, "Refused and not counted") == [
            ["Not counted", "A program checked the link (HEAD request)", "1"]
        ]
        expect(table(page, "Individual requests").locator("tbody tr")).to_have_count(3)
        assert page.evaluate("window.isSamePage") is True
        assert visit.errors() == []


def test_a_hidden_page_requests_nothing(signed_in: Callable[..., Any], address: str, link: str) -> None:
    requested: list[str] = []
    with signed_in() as visit:
        page = visit.page
        page.on("request", lambda request: requested.append(request.url))
        page.add_init_script(set_hidden("true"))
        page.clock.install(time=datetime(2030, 1, 1, tzinfo=UTC))
        page.goto(url_of(address, link))
        # The figures are loaded once, so that a tab in the background has them when it becomes visible.
        expect(page.locator(".freshness[data-state=live]")).to_be_visible()
        wait_for_hours(page)
        before = [url for url in requested if "/api/analytics/" in url]
        page.clock.run_for(60_000)
        page.evaluate("0")
        assert [url for url in requested if "/api/analytics/" in url] == before
        with page.expect_request("**/api/analytics/**"):
            page.evaluate(set_hidden("false"))
            page.clock.run_for(10)
        assert visit.errors() == []


def test_a_past_period_is_read_once(signed_in: Callable[..., Any], address: str, link: str) -> None:
    requested: list[str] = []
    with signed_in() as visit:
        page = visit.page
        page.on("request", lambda request: requested.append(request.url))
        page.clock.install(time=datetime(2030, 1, 1, tzinfo=UTC))
        page.goto(url_of(address, link, "range=custom&start=2029-03-01&end=2029-03-31&zone=UTC"))
        expect(page.locator(".freshness[data-state=still]")).to_be_visible()
        wait_for_hours(page)
        before = [url for url in requested if "/api/analytics/" in url]
        page.clock.run_for(60_000)
        page.evaluate("0")
        assert [url for url in requested if "/api/analytics/" in url] == before
        assert visit.errors() == []


def test_figures_stay_while_the_service_is_away(
    signed_in: Callable[..., Any], address: str, link: str
) -> None:
    with signed_in() as visit, clicks_are_counted():
        page = visit.page
        page.goto(url_of(address, link))
        expect(total(page, "clicks")).to_have_text("0")
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        expect(page.locator(".freshness[data-state=late]")).to_be_visible()
        expect(page.locator(".banner[data-state=away]")).to_be_visible()
        assert total(page, "clicks").inner_text() == "0"
        follow(page, address)
        page.unroute_all()
        expect(total(page, "clicks")).to_have_text("1")
        expect(page.locator(".freshness[data-state=live]")).to_be_visible()
        expect(page.locator(".banner[data-state=away]")).to_have_count(0)


def test_figures_continue_after_a_session_has_ended(
    browse: Callable[[], Any], address: str, alice: NewAccount, link: str
) -> None:
    first, second = session_cookie(alice.user), session_cookie(alice.user)
    with browse() as visit, clicks_are_counted():
        page = visit.page
        sign_in(visit, address, first)
        page.goto(url_of(address, link))
        expect(total(page, "clicks")).to_have_text("0")
        ended = page.request.post(f"{address}/dashboard/session/end", headers={"Origin": address})
        assert ended.ok
        expect(page.locator("[data-state=signed-out]")).to_be_visible()
        assert total(page, "clicks").inner_text() == "0"
        follow(page, address)
        sign_in(visit, address, second)
        page.get_by_role("button", name="Continue").click()
        expect(total(page, "clicks")).to_have_text("1")
        expect(page.locator("[data-state=signed-out]")).to_have_count(0)
        assert visit.errors(401) == []
