"""The list and the report in Chromium: nothing moves while their data arrive, one response after another.

Long pages are drawn part by part, so that no task takes long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.services import NewAccount
from testing.accounts.workspaces import key_client_in, team
from testing.analytics.facts import record
from testing.domains.domains import active_domain
from testing.pages.browser import Visit
from testing.pages.waiting import wait_until
from tests.dashboard.links_page import links as links
from tests.dashboard.links_page import rows, status
from tests.dashboard.report_page import FACTS, MARCH, table, url_of

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

PHONE, DESKTOP = (412, 823), (1280, 800)
# On a busy machine, a call may exceed the three seconds after which the page shows its banner about slow calls. The
# banner shifts the layout.
_WATCH = """
    const set = window.setTimeout;
    window.setTimeout = (run, delay, ...rest) => set(run, delay === 3000 ? 600000 : delay, ...rest);
    const note = entries => window.shifts.push(...entries.flatMap(({ sources }) => sources.map(nameOf)));
    const nameOf = ({ node }) => node?.outerHTML ?? node?.parentNode.outerHTML ?? "an element that is gone";
    const observer = new PerformanceObserver(list => note(list.getEntries()));
    window.shifts = [];
    window.takeShifts = () => note(observer.takeRecords());
    observer.observe({ type: "layout-shift", buffered: true });
    const parts = "tr[data-link], .report > div > section";
    const countIn = node => node instanceof Element ? node.matches(parts) + node.querySelectorAll(parts).length : 0;
    window.drawn = [];
    new MutationObserver(changes => {
        const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
        const count = added.reduce((total, node) => total + countIn(node), 0);
        if (count > 0) window.drawn.push(count);
    }).observe(document, { childList: true, subtree: true });
"""
_DRAWN = (
    "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
)


class Held:
    """The calls of the API, which wait until the test lets them pass."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._waiting: list[Route] = []
        page.route("**/api/**", self._hold)

    def _hold(self, route: Route) -> None:
        self._waiting.append(route)

    def release(self, *ends: str) -> None:
        """Let the calls whose paths end with these pass, one by one. The page draws each response."""
        for end in ends:
            route = self._call(end)
            with self._page.expect_response(route.request.url):
                route.continue_()
            self._page.evaluate(_DRAWN)

    def release_each(self) -> None:
        """Let one call after another pass, in their order, until the page waits for none."""
        while True:
            self._page.evaluate(_DRAWN)
            if self._waiting:
                route = self._waiting.pop(0)
                with self._page.expect_response(route.request.url):
                    route.continue_()
            elif self._page.locator("main [aria-busy=true]").count() == 0:
                return

    def _call(self, end: str) -> Route:
        def matching() -> list[Route]:
            return [one for one in self._waiting if one.request.url.partition("?")[0].endswith(end)]

        route, *_ = wait_until(self._page, matching, lambda: [route.request.url for route in self._waiting])
        self._waiting.remove(route)
        return route


def shifts(page: Page) -> list[str]:
    """The elements that have moved."""
    page.evaluate(_DRAWN)
    page.evaluate("window.takeShifts()")
    moved: list[str] = page.evaluate("window.shifts")
    return moved


def watch(visit: Visit, address: str, size: tuple[int, int]) -> Held:
    width, height = size
    visit.page.set_viewport_size({"width": width, "height": height})
    visit.page.add_init_script(_WATCH)
    return Held(visit.page)


LIST, DOMAINS, ACCOUNT = "/api/urls", "/available", "/auth/me"


@pytest.mark.parametrize(
    ("size", "order"),
    [(PHONE, (LIST, DOMAINS, ACCOUNT)), (DESKTOP, (ACCOUNT, DOMAINS, LIST))],
    ids=["phone", "desktop"],
)
@pytest.mark.usefixtures("links")
def test_nothing_on_the_list_moves_while_its_data_arrive(
    signed_in: Callable[..., Any],
    address: str,
    alice: NewAccount,
    size: tuple[int, int],
    order: tuple[str, ...],
) -> None:
    # Their names appear in a filter and in the navigation.
    active_domain(alice.workspace)
    team(alice)
    with signed_in() as visit:
        page = visit.page
        held = watch(visit, address, size)
        page.goto(f"{address}/dashboard/")
        held.release(*order)
        expect(rows(page)).to_have_count(50)
        expect(status(page)).to_have_text("60 links")
        if size == DESKTOP:
            expect(page.locator("header select[name=workspace]")).to_be_visible()
        assert page.evaluate("window.drawn") == [10] * 5
        assert shifts(page) == []
        # The observer works.
        page.evaluate("document.querySelector('main').style.paddingBlockStart = '100px'")
        assert shifts(page) != []
        assert visit.errors() == []


def test_what_requires_a_role_moves_nothing_when_the_role_is_known(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    workspace = team(alice)
    client = key_client_in(workspace, alice.api_key)
    assert client.post("/api/urls", {"originalUrl": "https://example.com/"}).status_code == 201
    with signed_in() as visit:
        page = visit.page
        held = watch(visit, address, DESKTOP)
        page.goto(f"{address}/dashboard/?workspace={workspace.public_id}")
        held.release(LIST, DOMAINS)
        expect(rows(page)).to_have_count(1)
        # The button in the side bar, and the way to the import.
        expect(page.locator("header .pending, .head .pending")).to_have_count(2)
        assert page.get_by_role("button", name="New link").count() == 0
        held.release(ACCOUNT)
        expect(page.get_by_role("button", name="New link")).to_be_visible()
        expect(page.locator(".pending")).to_have_count(0)
        assert shifts(page) == []
        assert visit.errors() == []


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_on_the_report_moves_while_its_data_arrive(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, make_link: MakeLink, size: tuple[int, int]
) -> None:
    link = make_link(customCode="spring", title="A name that has several lines " * 6)["_id"]
    record(link, FACTS)
    team(alice)
    with signed_in() as visit:
        page = visit.page
        held = watch(visit, address, size)
        page.goto(url_of(address, link, MARCH))
        held.release(f"/urls/{link}", ACCOUNT, "/devices", "/clicks", "/geographic", f"/analytics/{link}")
        expect(table(page, "Individual requests")).to_be_visible()
        expect(page.locator(".chart canvas")).to_be_visible()
        if size == DESKTOP:
            # The hours of the week are read once they are in view.
            page.get_by_role("region", name="Weekdays and hours").scroll_into_view_if_needed()
            held.release(f"/analytics/{link}")
        # The last part has the refused requests and the log.
        assert page.evaluate("window.drawn") == [1, 1, 1, 2]
        assert shifts(page) == []
        # Another period: the figures stay until the new ones arrive.
        page.get_by_label("Interval").select_option("week")
        busy = page.locator(".report [aria-busy=true]")
        expect(busy).to_be_visible()
        held.release("/devices", "/clicks", "/geographic", f"/analytics/{link}")
        expect(busy).to_have_count(0)
        assert shifts(page) == []
        assert visit.errors() == []


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_moves_where_a_skeleton_was(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, make_link: MakeLink, size: tuple[int, int]
) -> None:
    make_link(tags=["sale", "spring"])
    active_domain(alice.workspace)
    workspace = team(alice)
    with signed_in() as visit:
        page = visit.page
        held = watch(visit, address, size)
        pages = ["tags", "keys", "utm-templates", "account", "workspaces", "domains", "history"]
        for path in [*pages, f"workspaces/{workspace.public_id}"]:
            page.goto(f"{address}/dashboard/{path}")
            expect(page.locator(".skeleton").first).to_be_visible()
            held.release_each()
            expect(page.locator(".skeleton")).to_have_count(0)
            assert (path, shifts(page)) == (path, [])
        assert visit.errors() == []
