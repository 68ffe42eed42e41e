"""The report for everybody: screen readers, keyboards, small and dark screens, right to left, hostile texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from testing.analytics.branches import branch, set_branches
from testing.analytics.facts import Fact, record
from testing.nodejs import node_modules
from testing.pages.waiting import wait_until
from tests.dashboard.report_page import MARCH, show, table, total, url_of

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

HOSTILE = "<img src=x onerror=document.title='owned'>"
WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", event => window.violations.push(event.violatedDirective));
"""

# Elements that reach beyond the window, unless a container can be scrolled.
OUTSIDE = """
[document.documentElement, ...document.querySelectorAll("main *")]
    .filter(element => !element.closest(".overflow-auto > *, .visually-hidden, svg, .uplot"))
    .filter(element => {
        const { left, right } = element.getBoundingClientRect();
        return left < -1 || right > innerWidth + 1;
    })
    .map(element => element.outerHTML.slice(0, 80))
"""


@pytest.fixture
def link(make_link: MakeLink) -> str:
    """Every text that others choose is hostile or as long as possible."""
    identifier = make_link(customCode="spring", title=HOSTILE * 4)["_id"]
    set_branches(identifier, [branch(1, HOSTILE, "de")], [branch(2, "w" * 50)])
    record(
        identifier,
        [
            Fact("2026-03-02T10:00Z", city=HOSTILE, browser=HOSTILE, operating_system=HOSTILE, branch=1),
            Fact(
                "2026-03-02T11:00Z",
                "DE",
                "W" * 80,
                "mobile",
                referrer=f"https://{'x' * 60}.example/{'y' * 900}",
            ),
            Fact("2026-03-02T12:00Z", "XX", "unknown", referrer="https://<svg onload=alert(1)>.example/"),
            Fact("2026-03-03T12:00Z", "{{7*7}}", "unknown", visitor="other", branch=2),
        ],
    )
    return identifier


def wait_for_drawings(page: Page) -> None:
    expect(total(page, "clicks")).to_have_text("4")
    expect(page.locator(".chart canvas")).to_be_visible()
    show(page, "Map")
    expect(page.locator(".map svg")).to_be_visible()


def test_the_report_is_accessible(signed_in: Callable[..., Any], address: str, link: str) -> None:
    """This holds on phones and desktops, in both colour schemes."""
    with signed_in() as visit:
        page = visit.page
        # Each scheme is that of a load once, and follows another one once.
        for width, schemes in ((360, ("light", "dark")), (1280, ("dark", "light"))):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=schemes[0], reduced_motion="reduce")
            page.goto(url_of(address, link, f"{MARCH}&compare=yes"))
            wait_for_drawings(page)
            page.get_by_text("Show as a table").click()
            expect(table(page, "Clicks over time")).to_be_visible()
            page.evaluate((node_modules() / "axe-core/axe.min.js").read_text())
            for scheme in schemes:
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                wait_for_drawings(page)
                broken_rules = page.evaluate("axe.run().then(result => result.violations)")
                violations = [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in broken_rules]
                assert violations == [], (width, scheme)
        assert visit.errors() == []


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_report_fits_small_screens_in_both_directions(
    signed_in: Callable[..., Any], address: str, link: str, direction: str
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.set_viewport_size({"width": 360, "height": 800})
        page.goto(url_of(address, link, f"{MARCH}&compare=yes"))
        wait_for_drawings(page)
        page.evaluate("direction => (document.documentElement.dir = direction)", direction)
        # Observers adapt the chart after the layout.
        wait_until(page, lambda: not page.evaluate(OUTSIDE), lambda: page.evaluate(OUTSIDE))
        assert visit.errors() == []


def test_a_hostile_text_is_only_a_text(signed_in: Callable[..., Any], address: str, link: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.add_init_script(WATCH)
        page.goto(url_of(address, link, MARCH))
        wait_for_drawings(page)
        for name in ("Cities", "Browser", "System", "Rules and variants", "Individual requests"):
            show(page, name)
            expect(table(page, name)).to_contain_text(HOSTILE)
        show(page, "Countries")
        expect(table(page, "Countries")).to_contain_text("{{7*7}}")
        assert page.locator("img").count() == 0
        expect(page).to_have_title("Report · URL shortener")
        assert page.evaluate("window.violations") == []
        assert visit.errors() == []


def test_a_hostile_address_shows_a_usual_report(
    signed_in: Callable[..., Any], address: str, link: str
) -> None:
    with signed_in() as visit:
        page = visit.page
        query = "range=__proto__&interval=constructor&zone=../../etc/passwd&start=0&end=%00&compare"
        page.goto(url_of(address, link, query))
        expect(total(page, "clicks")).to_be_visible()
        expect(page.locator("select[name=range]")).to_have_value("30d")
        page.goto(url_of(address, link, "range=custom&start=2026-03-31&end=2026-03-01&zone=UTC"))
        # In the wrong order, the days are swapped.
        expect(total(page, "clicks")).to_have_text("4")
        page.goto(url_of(address, link, "range=custom&start=0001-01-01&end=2026-03-01&zone=UTC"))
        expect(page.get_by_role("alert")).to_contain_text("Must lie between 1970-01-01")
        assert visit.errors(400) == []
