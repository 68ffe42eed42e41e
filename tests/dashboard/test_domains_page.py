"""The page of custom domains in Chromium, with the DNS server of the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from rest_framework.test import APIClient

from accounts.models import User
from accounts.rights import Role
from accounts.services import NewAccount
from analytics.journal.records import UNKNOWN_CODE
from domains.models import Domain
from links.models import Link
from testing.accounts.accounts import account
from testing.accounts.workspaces import add_member, team
from testing.analytics.clicks import drain
from testing.analytics.journaled import journaled
from testing.domains.dns_server import DnsServer
from testing.domains.domains import active_domain, as_zone_file
from testing.domains.resolution import dns as dns
from testing.pages.axe import SCHEMES, load_axe, problems_of
from testing.pages.browser import Visit
from testing.pages.dashboard import session_cookie, sign_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
HOST = "go.brand.example"


def open_domains(visit: Visit, address: str) -> Page:
    visit.page.goto(f"{address}/dashboard/domains")
    expect(visit.page.get_by_role("heading", name="Domains")).to_be_visible()
    return visit.page


def card(page: Page) -> Locator:
    return page.locator("article.domain")


def publish_shown_records(page: Page, server: DnsServer) -> None:
    """Publish the records that the page shows."""
    rows = card(page).locator(".records tbody tr")
    expect(rows).to_have_count(2)
    for row in rows.all():
        kind = row.locator("th").inner_text()
        name, value = row.locator("td > code").all_inner_texts()
        server.set(f"{name}.brand.example", kind, as_zone_file({"type": kind, "value": value}))


def test_domain_is_added_and_verified(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, dns: DnsServer
) -> None:
    with signed_in() as visit:
        page = open_domains(visit, address)
        expect(page.get_by_text("This workspace has no domain yet.")).to_be_visible()
        page.get_by_label("Domain", exact=True).fill("Go.Brand.example")
        page.keyboard.press("Enter")
        expect(card(page).get_by_role("heading", name=HOST)).to_be_visible()
        expect(card(page).get_by_text("Waiting for DNS")).to_be_visible()
        expect(card(page).get_by_text("Set up the records by")).to_be_visible()
        expect(card(page).locator("summary")).to_be_focused()
        expect(page.get_by_label("Domain", exact=True)).to_have_value("")

        # The advice of the API stands at the record that it is about.
        dns.set(HOST, "CNAME", "elsewhere.example.")
        card(page).get_by_role("button", name="Check the records now").click()
        expect(card(page).get_by_role("alert")).to_have_text("2 of 2 records are not right yet.")
        txt, cname = card(page).locator(".records tbody tr").all()
        expect(txt.locator(".error")).to_contain_text("The record is missing: add it")
        expect(cname.locator(".error")).to_contain_text("Remove the CNAME record")
        expect(cname).to_contain_text("The current value is elsewhere.example")

        publish_shown_records(page, dns)
        card(page).get_by_role("button", name="Check the records now").click()
        expect(card(page)).to_have_attribute("data-status", "active")
        expect(card(page).get_by_text("the next check is due on")).to_be_visible()
        expect(card(page).locator(".records tr[data-ok=true]")).to_have_count(2)
        expect(card(page).get_by_role("alert")).to_have_count(0)
        assert visit.errors(400) == []
    [domain] = Domain.objects.all()
    assert (domain.host, domain.status, domain.owner_id) == (HOST, "active", alice.user.pk)


def test_records_are_copied(signed_in: Callable[..., Any], address: str, api: APIClient) -> None:
    domain = api.post("/api/domains", {"domain": HOST}).json()["data"]["domain"]
    with signed_in() as visit:
        visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = open_domains(visit, address)
        for record in domain["dnsRecords"]:
            for text in (record["relativeName"], record["value"]):
                card(page).get_by_role("button", name=f"Copy {text}", exact=True).click()
                expect(page.get_by_text(f"Copied {text}", exact=True).last).to_be_visible()
                assert page.evaluate("navigator.clipboard.readText()") == text
        assert visit.errors() == []


def test_addresses_are_saved_and_removed(signed_in: Callable[..., Any], address: str, api: APIClient) -> None:
    api.post("/api/domains", {"domain": HOST})
    Domain.objects.update(expired_url="https://example.com/over")
    with signed_in() as visit:
        page = open_domains(visit, address)
        page.get_by_label("Home page of the domain").fill("https://example.com/")
        page.get_by_label("Page for unknown codes").fill("http://sho.rt/loop")
        page.get_by_label("Page for expired links").fill("")
        page.get_by_role("button", name="Save pages").click()
        # A refusal stands at its field and changes nothing.
        expect(card(page).get_by_role("alert")).to_have_text("Must not point to this service.")
        page.get_by_label("Page for unknown codes").fill("https://example.com/lost")
        page.get_by_role("button", name="Save pages").click()
        expect(page.get_by_text("Pages saved")).to_be_visible()
        expect(page.get_by_role("button", name="Save pages")).to_be_disabled()
        assert visit.errors(400) == []
    stored = Domain.objects.get()
    assert (stored.root_url, stored.not_found_url, stored.expired_url) == (
        "https://example.com/",
        "https://example.com/lost",
        None,
    )


def test_a_click_makes_a_link_of_an_unknown_code(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, api: APIClient
) -> None:
    domain = active_domain(alice.workspace, HOST)
    body = {"originalUrl": "https://example.com/", "customCode": "spring", "domainId": str(domain.public_id)}
    api.post("/api/urls", body)
    for code, referrer in (("sprnig", "https://news.example/"), ("sprnig", ""), ("autumn", "")):
        journaled(domain.pk, kind=UNKNOWN_CODE, reason=code, referrer=referrer)
    drain()
    with signed_in() as visit:
        page = open_domains(visit, address)
        card(page).get_by_text("Codes that no link has").click()
        row = card(page).locator("[data-unknown=sprnig]")
        expect(row).to_contain_text("2 requests, the last on")
        expect(row).to_contain_text("mostly from")
        expect(row.get_by_role("link", name="spring", exact=True)).to_be_visible()
        expect(card(page).get_by_role("status")).to_have_text("2 codes")
        row.get_by_role("link", name="Create link with the code sprnig").click()
        expect(page.locator("[name=customCode]")).to_have_value("sprnig")
        page.locator("[name=originalUrl]").fill("example.com/spring")
        page.get_by_role("button", name="Create link").click()
        expect(page.get_by_text("Link created")).to_be_visible()
        assert visit.errors() == []
    link = Link.objects.get(custom_code="sprnig")
    assert (link.domain_id, link.original_url) == (domain.pk, "https://example.com/spring")


def test_operators_see_the_unknown_codes_of_the_default_domain(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    journaled(0, kind=UNKNOWN_CODE, reason="lost")
    drain()
    base = '[data-domain="base"]'
    with signed_in() as visit:
        page = open_domains(visit, address)
        expect(page.get_by_text("This workspace has no domain yet.")).to_be_visible()
        expect(page.locator(base)).to_have_count(0)
    User.objects.filter(pk=alice.user.pk).update(is_staff=True)
    with signed_in() as visit:
        page = open_domains(visit, address)
        page.locator(base).get_by_text("Codes that no link has").click()
        expect(page.locator(base).locator("[data-unknown=lost]")).to_contain_text("1 request, on")
        load_axe(page)
        assert [problem for scheme in SCHEMES for problem in problems_of(page, scheme)] == []
        page.get_by_role("link", name="Create link with the code lost").click()
        page.locator("[name=originalUrl]").fill("example.com/found")
        page.get_by_role("button", name="Create link").click()
        expect(page.get_by_text("Link created")).to_be_visible()
        assert visit.errors() == []
    assert Link.objects.get(custom_code="lost").domain_id is None


def test_a_domain_moves_with_its_links(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, api: APIClient
) -> None:
    marketing = team(alice, "Marketing")
    domain = active_domain(alice.workspace, HOST)
    link = {"originalUrl": "https://example.com/", "domainId": str(domain.public_id)}
    assert api.post("/api/urls", link).status_code == 201
    with signed_in() as visit:
        page = open_domains(visit, address)
        card(page).get_by_text("DNS records, fallback pages").click()
        card(page).get_by_role("button", name="Move to another workspace").click()
        question = page.get_by_role("dialog", name=f"Move {HOST}?")
        question.get_by_label("To the workspace").select_option("Marketing")
        question.get_by_role("button", name="Move the domain").click()
        expect(page.get_by_text(f"{HOST} and its link are now in")).to_be_visible()
        expect(page.get_by_text("This workspace has no domain yet.")).to_be_visible()
        assert visit.errors() == []
    domain.refresh_from_db()
    assert (domain.owner, domain.links.get().owner) == (marketing, marketing)


def test_domain_is_deleted_after_a_question(
    signed_in: Callable[..., Any], address: str, api: APIClient
) -> None:
    api.post("/api/domains", {"domain": HOST})
    with signed_in() as visit:
        page = open_domains(visit, address)
        page.get_by_role("button", name="Delete this domain").click()
        question = page.get_by_role("dialog", name=f"Delete {HOST}?")
        question.get_by_role("button", name="Keep the domain").click()
        expect(question).to_be_hidden()
        page.get_by_role("button", name="Delete this domain").click()
        question.get_by_role("button", name="Delete the domain").click()
        expect(page.get_by_text("This workspace has no domain yet.")).to_be_visible()
        assert visit.errors() == []
    assert not Domain.objects.exists()


def test_plan_without_domains_keeps_what_was_typed(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in(account("free@example.com", plan="free")) as visit:
        page = open_domains(visit, address)
        page.get_by_label("Domain", exact=True).fill(HOST)
        page.get_by_role("button", name="Add domain").click()
        expect(page.get_by_role("alert")).to_contain_text("available on the Pro and Enterprise plans")
        page.reload()
        expect(page.get_by_label("Domain", exact=True)).to_have_value(HOST)
        assert visit.errors(403) == []


def test_addresses_that_were_typed_survive_an_unreachable_service_and_a_reload(
    signed_in: Callable[..., Any], address: str, api: APIClient
) -> None:
    api.post("/api/domains", {"domain": HOST})
    with signed_in() as visit:
        page = open_domains(visit, address)
        page.get_by_label("Home page of the domain").fill("https://example.com/")
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        page.get_by_role("button", name="Save pages").click()
        expect(page.locator("[data-state=away]")).to_be_visible()
        expect(page.get_by_label("Home page of the domain")).to_have_value("https://example.com/")
        page.unroute_all()
        page.reload()
        expect(page.get_by_label("Home page of the domain")).to_have_value("https://example.com/")
        page.get_by_role("button", name="Save pages").click()
        expect(page.get_by_text("Pages saved")).to_be_visible()
    assert Domain.objects.get().root_url == "https://example.com/"


def test_domains_of_others_are_not_shown(
    signed_in: Callable[..., Any], address: str, stranger: NewAccount, api: APIClient
) -> None:
    api.post("/api/domains", {"domain": HOST})
    with signed_in(stranger) as visit:
        page = open_domains(visit, address)
        expect(page.get_by_text("This workspace has no domain yet.")).to_be_visible()
        assert page.get_by_text(HOST).count() == 0
        assert visit.errors() == []


def test_expired_session_keeps_the_domain_that_was_typed(
    browse: Callable[[], Any], address: str, alice: NewAccount
) -> None:
    first, second = session_cookie(alice.user), session_cookie(alice.user)
    with browse() as visit:
        sign_in(visit, address, first)
        page = open_domains(visit, address)
        expect(page.get_by_text("This workspace has no domain yet.")).to_be_visible()
        page.get_by_label("Domain", exact=True).fill(HOST)
        assert page.request.post(f"{address}/dashboard/session/end", headers={"Origin": address}).ok
        page.get_by_role("button", name="Add domain").click()
        expect(page.locator("[data-state=signed-out]")).to_be_visible()
        expect(page.get_by_label("Domain", exact=True)).to_have_value(HOST)
        sign_in(visit, address, second)
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("[data-state=signed-out]")).to_have_count(0)
        page.get_by_role("button", name="Add domain").click()
        expect(card(page).get_by_role("heading", name=HOST)).to_be_visible()
        assert visit.errors(401) == []
    assert [domain.host for domain in Domain.objects.all()] == [HOST]


def test_domains_appear_once_the_service_is_back(
    signed_in: Callable[..., Any], address: str, api: APIClient
) -> None:
    api.post("/api/domains", {"domain": HOST})
    with signed_in() as visit:
        visit.page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        page = open_domains(visit, address)
        expect(page.locator("[data-state=away]")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("The service could not be reached.")
        page.unroute_all()
        # Nobody clicks: the page tries again.
        expect(card(page).get_by_role("heading", name=HOST)).to_be_visible()
        expect(page.locator("[data-state=away]")).to_have_count(0)
        expect(page.get_by_role("alert")).to_have_count(0)


def test_role_without_permission_has_no_forms(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    shared = team(alice)
    add_member(shared, stranger, Role.VIEWER)
    Domain.objects.create(owner=shared, domain=HOST, host=HOST)
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        page.get_by_role("combobox", name="Workspace", exact=True).select_option(label="Team")
        expect(page.get_by_text("This workspace has no links yet.")).to_be_visible()
        page.get_by_role("link", name="Domains").click()
        expect(card(page).locator(".records tbody tr")).to_have_count(2)
        expect(page.get_by_role("link", name="Import")).to_have_count(0)
        for name in ("Add domain", "Check the records now", "Save addresses", "Delete this domain"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        assert visit.errors() == []


def test_words_of_pages_are_saved(signed_in: Callable[..., Any], address: str, api: APIClient) -> None:
    api.post("/api/domains", {"domain": HOST})
    with signed_in() as visit:
        page = open_domains(visit, address)
        page.get_by_label("Title").fill("Nothing here")
        page.locator("select[name=page]").select_option(label="Link expired")
        page.get_by_label("Text", exact=True).fill("Over.\nSee brand.example")
        page.reload()
        # What was typed survives a reload, and the list of pages says which have own words.
        page.locator("select[name=page]").select_option(label="Link expired: your words")
        expect(page.get_by_label("Text", exact=True)).to_have_value("Over.\nSee brand.example")
        page.get_by_label("Title").fill("\u202eexe")
        page.locator("select[name=page]").select_option(label="Password required")
        page.get_by_role("button", name="Save texts").click()
        # A refusal stands at its field, whichever page was chosen.
        expect(card(page).get_by_role("alert")).to_contain_text("direction")
        expect(page.locator("select[name=page]")).to_have_value("expired")
        page.get_by_label("Title").fill(" ")
        page.get_by_role("button", name="Save texts").click()
        expect(page.get_by_text("Texts saved")).to_be_visible()
        expect(page.get_by_role("button", name="Save texts")).to_be_disabled()
        assert visit.errors(400) == []
    assert Domain.objects.get().pages == {
        "notFound": {"title": "Nothing here", "text": None},
        "expired": {"title": None, "text": "Over.\nSee brand.example"},
    }


def test_apps_that_open_the_links_are_saved(
    signed_in: Callable[..., Any], address: str, api: APIClient
) -> None:
    api.post("/api/domains", {"domain": HOST})
    fingerprint = ":".join(["0F"] * 32)
    with signed_in() as visit:
        page = open_domains(visit, address)
        page.get_by_label("IDs of iOS apps").fill("ABCDE12345.com.example.app\ncom.example.app")
        page.get_by_label("Paths that they leave to the browser").fill("/print-*")
        page.get_by_role("button", name="Add an Android app").click()
        page.get_by_label("Package name").fill("com.example.app")
        page.get_by_role("button", name="Add an Android app").click()
        page.get_by_label("Fingerprints of its certificates").last.fill(f"{fingerprint}\n")
        page.reload()
        # What was typed survives a reload. Each refusal stands at its field, and names the line.
        save = page.get_by_role("button", name="Save app links")
        save.click()
        ids = page.get_by_label("IDs of iOS apps")
        expect(ids).to_have_accessible_description(
            "Line 2: Must be an app ID such as ABCDE12345.com.example.app."
        )
        expect(page.get_by_label("Package name").last).to_have_accessible_description(
            "This field may not be blank."
        )
        ids.fill("ABCDE12345.com.example.app")
        page.get_by_role("button", name="Remove this app").first.click()
        page.get_by_label("Package name").fill("com.example.app")
        save.click()
        expect(page.get_by_text("App links saved")).to_be_visible()
        expect(save).to_be_disabled()
        assert visit.errors(400) == []
    android = {"packageName": "com.example.app", "fingerprints": [fingerprint]}
    apple = {"appIds": ["ABCDE12345.com.example.app"], "paths": ["/*"], "excludedPaths": ["/print-*"]}
    assert Domain.objects.get().app_links == {"apple": apple, "android": [android]}
