"""Hostile texts that are stored in links: nothing runs, and nothing breaks out of its place on the page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.models import Kind
from testing.analytics.facts import Fact, record
from tests.dashboard.pages import fill_account, open_page, pages

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1800), pytest.mark.slow]

PAYLOADS = [
    "<script>window.owned=1</script>",
    "<img src=x onerror=window.owned=1>",
    '"><svg/onload=window.owned=1>',
    "'-window.owned=1-'",
    "</title><style>*{display:none}</style>",
    "${window.owned=1}",
    "{{constructor.constructor('window.owned=1')()}}",
    "javascript:window.owned=1",
    "\u202egnp.exe",
    "a" * 50,
]
# The beginnings of those that could leave the element or the attribute in which they stand.
LEAVING = ('"', "'", "</")
# The console reports violations of the policy, too, but not of every kind and not at once.
WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", event => window.violations.push(event.violatedDirective));
"""
# Elements that only a payload would make, and whether the page is still visible. The bookmarklet is no payload.
DAMAGE = """() => ({
    owned: window.owned ?? null,
    violations: window.violations,
    elements: document.querySelectorAll(
        "body script, body style, iframe, object, embed, [onload], [onerror], img[src=x], " +
        "[href^='javascript:' i][href*=owned]"
    ).length,
    display: getComputedStyle(document.body).display,
})"""
NO_DAMAGE = {"owned": None, "violations": [], "elements": 0, "display": "block"}


@pytest.fixture
def hostile_links(api: APIClient, make_link: MakeLink) -> list[dict[str, Any]]:
    """A link for each payload, which has it in every text that can be stored, and clicks with it."""
    links = [
        make_link(
            f"https://example.com/{payload}?q={payload}#{payload}",
            title=payload,
            description=payload,
            tags=[payload.replace(",", "")[:50]],
            utm={"source": payload},
            rules=[
                {
                    "name": payload[:50],
                    "url": f"https://example.com/?{payload}",
                    "conditions": [
                        {"type": "browser", "values": [payload[:64]]},
                        {"type": "query", "values": [{"name": "q", "value": payload}]},
                    ],
                }
            ],
        )
        for payload in PAYLOADS
    ]
    for payload in PAYLOADS:
        deleted = make_link(
            f"https://example.com/{payload}", title=payload, tags=[payload.replace(",", "")[:50]]
        )
        api.delete(f"/api/urls/{deleted['_id']}")
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    for link, text in zip(links, PAYLOADS, strict=True):
        click = Fact(now, city=text, browser=text, operating_system=text, device=text, referrer=text)
        api.put(f"/api/urls/{link['_id']}", {"description": f"{text}, changed"})
        record(link["_id"], [click, click._replace(kind=Kind.REFUSED, reason=text)])
    return links


@pytest.mark.parametrize("is_signed_in", [True, False], ids=["signed in", "signed out"])
def test_hostile_texts_change_no_page(
    browse: Callable[[], Any],
    signed_in: Callable[..., Any],
    *,
    address: str,
    alice: NewAccount,
    hostile_links: list[dict[str, Any]],
    is_signed_in: bool,
) -> None:
    filled = fill_account(alice, PAYLOADS)
    # Without a session, the request for a token is refused.
    expected = () if is_signed_in else (401,)
    with (signed_in if is_signed_in else browse)() as visit:
        visit.page.add_init_script(WATCH)
        for name, shown in pages(is_signed_in=is_signed_in).items():
            for link in hostile_links if "{link}" in shown.path else hostile_links[:1]:
                # Loading each page with each payload would take long: those that could leave their element suffice.
                is_loaded = link is hostile_links[0] or "?" in shown.path or link["title"].startswith(LEAVING)
                ids = {"link": link["_id"], **filled}
                open_page(visit.page, address, shown, goes_on=not is_loaded, **ids)
                assert visit.page.evaluate(DAMAGE) == NO_DAMAGE, (name, link["title"])
            assert visit.errors(*expected) == [], name


def test_a_hostile_text_is_only_a_text(
    signed_in: Callable[..., Any], address: str, hostile_links: list[dict[str, Any]]
) -> None:
    with signed_in() as visit:
        page = visit.page
        page.add_init_script(WATCH)
        page.goto(f"{address}/dashboard/")
        expect(page.locator("tr[data-link]")).to_have_count(len(PAYLOADS))
        shown = page.locator("tr[data-link] .destination > a").all_text_contents()
        assert shown == list(reversed(PAYLOADS))
        for link, payload in zip(hostile_links, PAYLOADS, strict=True):
            page.get_by_label("Search").fill(payload)
            expect(page.locator("tr[data-link]")).to_have_count(1)
            expect(page).to_have_title("Links · URL shortener")
            page.locator(f"[data-link='{link['_id']}'] .destination > a").click()
            expect(page.get_by_label("Title", exact=True)).to_have_value(payload)
            page.locator("summary", has_text="Language, time, referrer").click()
            page.locator(".simulation [name=referrer]").fill("https://example.com/")
            page.get_by_role("button", name="Simulate", exact=True).click()
            expect(page.locator("output[name=location]")).to_be_visible()
            expect(page).to_have_title("Edit link · URL shortener")
            page.go_back()
        assert page.evaluate(DAMAGE) == NO_DAMAGE
        assert visit.errors() == []


def test_a_hostile_address_of_the_page_is_only_a_text(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit:
        page = visit.page
        page.add_init_script(WATCH)
        page.goto(f"{address}/dashboard/new?url=javascript:alert(1)")
        expect(page.get_by_label("Destination URL")).to_have_value("javascript:alert(1)")
        assert page.locator("output[name=final]").count() == 0
        page.goto(
            f"{address}/dashboard/?search=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&sortBy=__proto__&page=-1"
        )
        expect(page.get_by_role("alert")).to_be_visible()
        assert page.evaluate("window.violations") == []
        assert visit.errors(400) == []


def test_the_policy_stops_injected_scripts(signed_in: Callable[..., Any], address: str) -> None:
    """The test above could not fail without it: a text that is turned into markup is refused by the browser."""
    with signed_in() as visit:
        page = visit.page
        page.add_init_script(WATCH)
        page.goto(f"{address}/dashboard/")
        expect(page.get_by_text("Make your first short link")).to_be_visible()
        refused = page.evaluate(
            """() => {
                try { document.body.innerHTML = "<img src=x onerror=alert(1)>"; return "accepted"; }
                catch (error) { return error.name; }
            }"""
        )
        assert refused == "TypeError"
        page.evaluate("document.body.append(document.createElement('iframe'))")
        assert page.evaluate(DAMAGE)["elements"] == 1
