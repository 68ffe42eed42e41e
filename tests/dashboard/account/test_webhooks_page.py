"""Webhooks in Chromium: adding, changing, trying and deleting one, and the messages to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from accounts.rights import Role
from accounts.services import NewAccount
from events.webhooks.models import DisabledReason, Webhook
from testing.accounts.workspaces import add_member, team
from testing.domains.domains import active_domain
from testing.pages.axe import SCHEMES, load_axe, problems_of
from testing.pages.browser import Visit
from tests.dashboard.pages import failing_webhook

MakeLink = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def open_webhooks(visit: Visit, address: str) -> Page:
    visit.page.goto(f"{address}/dashboard/webhooks")
    expect(visit.page.get_by_role("heading", name="Webhooks", level=1)).to_be_visible()
    return visit.page


def test_a_webhook_is_added_changed_and_deleted(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = active_domain(alice.workspace)
    link = make_link("https://example.com/a")
    with signed_in() as visit:
        page = open_webhooks(visit, address)
        expect(page.get_by_text("No webhooks yet.")).to_be_visible()
        page.get_by_label("Name").fill("Shop")
        page.get_by_label("Send to this URL").fill("https://hooks.example.com/in?token=1")
        page.get_by_label("Link clicked").check()
        page.get_by_label("Destination dead").check()
        page.locator("summary", has_text="Only some links").click()
        links = page.get_by_label("One of these links")
        links.fill("sho.rt/none")
        page.get_by_role("button", name="Add webhook").click()
        expect(page.get_by_role("alert")).to_have_text("There is no link sho.rt/none.")
        page.get_by_role("button", name="Remove sho.rt/none").click()
        links.fill(link["shortUrl"].partition("//")[2])
        domains = page.get_by_label("On one of these domains")
        domains.fill("go.example")
        domains.press("Enter")
        page.get_by_role("button", name="Add webhook").click()
        secret = page.locator("output.secret")
        expect(secret).to_contain_text("whsec_")
        row = page.locator("[data-webhook]")
        expect(row).to_contain_text("hooks.example.com")
        expect(row).to_contain_text("Link clicked; Destination dead")
        first = secret.inner_text()
        assert visit.errors() == []
    stored = Webhook.objects.get()
    assert stored.types == ["link.clicked", "destination.unhealthy"]
    assert stored.domain_ids == [str(domain.public_id)]
    assert [*map(str, stored.url_ids)] == [link["_id"]]

    with signed_in() as visit:
        page = open_webhooks(visit, address)
        secret = page.locator("output.secret")
        page.locator("[data-webhook]").get_by_role("link", name="Shop").click()
        # Its short URL is read by its id.
        expect(
            page.get_by_role("button", name=f"Remove {link['shortUrl'].partition('//')[2]}")
        ).to_be_visible()
        page.get_by_label("Name").fill("Online shop")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="Online shop", level=1)).to_be_visible()
        page.get_by_role("button", name="Replace the secret").click()
        page.get_by_role("dialog").get_by_role("button", name="Replace the secret").click()
        expect(secret).to_contain_text("whsec_")
        assert secret.inner_text() != first
        expect(page.get_by_text("also signed with the former secret")).to_be_visible()
        page.get_by_role("button", name="Delete webhook").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete webhook").click()
        expect(page.get_by_text("No webhooks yet.")).to_be_visible()
        assert visit.errors() == []
    assert Webhook.objects.count() == 0


def test_messages_are_shown_sent_again_and_replayed(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    webhook = failing_webhook(alice, "<b>Out of order</b>")
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/webhooks/{webhook.public_id}")
        row = page.locator("[data-delivery]")
        expect(row).to_contain_text("Link created (example)")
        expect(row).to_contain_text("HTTP 500 · 0.25 s · 10 attempts")
        expect(page.locator("[data-reason=failing]")).to_contain_text("No message has arrived since")
        row.locator("summary").click()
        expect(row.locator("pre").nth(0)).to_contain_text('"type":"link.created"')
        expect(row.locator("pre").nth(1)).to_have_text("<b>Out of order</b>")
        row.get_by_role("button", name="Send again: Link created").click()
        expect(row).to_have_count(2)
        expect(row.first).to_contain_text("Pending")
        page.get_by_role("button", name="Send an example").click()
        expect(row).to_have_count(3)
        page.get_by_label("From").fill("2099-01-05T09:30")
        page.get_by_role("button", name="Send a period again").click()
        expect(page.get_by_role("alert")).to_be_visible()
        page.get_by_label("From").fill("2026-01-05T09:30")
        page.get_by_role("button", name="Send a period again").click()
        expect(page.get_by_text("The events will be sent again")).to_be_visible()
        assert visit.errors(400) == []

    Webhook.objects.update(disabled_reason=DisabledReason.GONE, disabled_at=timezone.now())
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/webhooks/{webhook.public_id}")
        expect(page.locator("[data-reason='disabled.gone']")).to_contain_text("is gone (410)")
        expect(page.get_by_role("button", name="Send an example")).to_have_count(0)
        page.get_by_role("button", name="Enable").click()
        expect(page.get_by_role("button", name="Send an example")).to_be_visible()
        expect(page.locator("[data-reason]")).to_have_count(0)


def test_a_mail_about_one_link_is_asked_for_in_its_editor(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, make_link: MakeLink, settings: Settings
) -> None:
    settings.SENDS_MAIL = True
    link = make_link("https://example.com/a")
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/links/{link['_id']}")
        page.get_by_role("button", name="More", exact=True).last.click()
        page.get_by_role("button", name="Tell me when …").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Tell me", exact=True).click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        load_axe(page)
        assert [problem for scheme in SCHEMES for problem in problems_of(page, scheme)] == []
        dialog.get_by_label("Clicks used up").check()
        dialog.get_by_label("Destination dead").check()
        dialog.get_by_role("button", name="Tell me", exact=True).click()
        expect(page.get_by_text("You will get mails")).to_be_visible()
        page.goto(f"{address}/dashboard/webhooks")
        expect(page.locator("[data-webhook]")).to_contain_text("Mail · 1 member")
        assert visit.errors(400) == []
    made = Webhook.objects.get()
    assert (made.format, made.types) == ("mail", ["link.limit_reached", "destination.unhealthy"])
    assert [*map(str, made.member_ids), *map(str, made.url_ids)] == [str(alice.user.public_id), link["_id"]]


def test_an_editor_has_no_webhooks(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    with signed_in(stranger) as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/webhooks?workspace={workspace.public_id}")
        expect(page.get_by_role("alert")).to_contain_text("admin")
        expect(page.get_by_label("Name")).to_have_count(0)
        expect(page.get_by_role("link", name="Webhooks")).to_have_count(0)
        assert visit.errors(403) == []
