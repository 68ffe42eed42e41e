"""The pages of the dashboard, for tests of every page: accessibility and stored texts."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.api_keys import create_key
from accounts.models import User, Workspace
from accounts.request_log.store import Entry
from accounts.request_log.store import write as write_log
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from accounts.sessions.lifecycle import start_session
from accounts.token_issuers.services import create_issuer
from domains.models import Domain, DomainStatus
from events.types import EventType
from events.webhooks.models import Delivery, DeliveryStatus, Format, Webhook
from events.webhooks.services import send_test
from testing.accounts.accounts import account
from testing.accounts.workspaces import add_member, team


class DashboardPage(NamedTuple):
    """``path`` may contain ``{link}``, ``{workspace}`` and ``{webhook}``: ids, the second that of a team.

    ``ready`` matches once the page has its data. ``unfolded`` matches once all folded parts are open and have theirs.
    ``key`` is pressed first, to open a dialog.
    """

    path: str
    ready: str
    unfolded: str = "main"
    key: str = ""
    is_signed_in: bool = True


# Each page of `dashboard.urls` needs a line here.
PAGES = {
    "list": DashboardPage("/dashboard/", "tr[data-link]"),
    "list without hits": DashboardPage("/dashboard/?search=no-such-link", ".blank button"),
    "keys": DashboardPage("/dashboard/", "tr[data-link]", unfolded="dialog[open] kbd", key="?"),
    "overview": DashboardPage(
        "/dashboard/overview", ".overview canvas", unfolded=".attention :is(li, .calm)"
    ),
    "analytics": DashboardPage("/dashboard/analytics", ".heat svg", unfolded="[open] table.figures"),
    "filtered analytics": DashboardPage(
        "/dashboard/analytics?country=DE,-FR&tags=spring,sale&tagsMode=all&range=90d&compare=previous",
        ".chip-filter",
    ),
    "new": DashboardPage("/dashboard/new", "[name=originalUrl]"),
    "edit": DashboardPage("/dashboard/links/{link}", "[name=title]", unfolded=".route output"),
    "report": DashboardPage("/dashboard/links/{link}/report", ".totals", unfolded="[open] table.figures"),
    "deleted links": DashboardPage("/dashboard/deleted", "[data-deleted]"),
    "domains": DashboardPage("/dashboard/domains", "[data-domain]", unfolded="[data-domain] form"),
    "many": DashboardPage("/dashboard/new/many", "[name=lines]"),
    "tags": DashboardPage("/dashboard/tags", "[data-tag]"),
    "templates": DashboardPage("/dashboard/utm-templates", "main h1"),
    "import": DashboardPage("/dashboard/import", "main input"),
    "start": DashboardPage("/dashboard/start", "main input"),
    "first steps": DashboardPage("/dashboard/start?link={link}", ".steps svg"),
    "account": DashboardPage("/dashboard/account", "[data-session]"),
    "workspaces": DashboardPage("/dashboard/workspaces", "[data-workspace]"),
    "workspace": DashboardPage("/dashboard/workspaces/{workspace}", "[data-member]"),
    "palette": DashboardPage("/dashboard/", "tr[data-link]", unfolded="[role=option]", key="Control+k"),
    "history": DashboardPage("/dashboard/history", "[data-change]"),
    "history of a link": DashboardPage("/dashboard/links/{link}/history", "[data-change]"),
    "keys of the API": DashboardPage("/dashboard/keys", "[data-key]", unfolded="[data-issuer]"),
    "requests of keys": DashboardPage("/dashboard/keys/requests", "[data-request]"),
    "webhooks": DashboardPage("/dashboard/webhooks", "[data-webhook]"),
    "webhook": DashboardPage(
        "/dashboard/webhooks/{webhook}", "[data-delivery]", unfolded="[data-delivery] pre.sent"
    ),
    "signed out": DashboardPage("/dashboard/", "main a[role=button]", is_signed_in=False),
}


def pages(*, is_signed_in: bool) -> dict[str, DashboardPage]:
    return {name: shown for name, shown in PAGES.items() if shown.is_signed_in is is_signed_in}


# The elements that reach beyond the window, if the page can be scrolled to them.
WIDER = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.body.querySelectorAll("*")]
    .filter(element => element.getBoundingClientRect().right > innerWidth)
    .map(element => element.outerHTML.slice(0, 100))"""


# Opens the folded parts, and returns their number. These may have folded parts themselves.
_UNFOLD = """() => {
    const summaries = [...document.querySelectorAll("main details:not([open]) > summary")];
    const shown = summaries.filter(summary => summary.checkVisibility());
    shown.forEach(summary => summary.click());
    return shown.length;
}"""


# As a link within the dashboard does. The former page is gone once the next frame is drawn.
_GO_ON = """path => new Promise(done => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
    requestAnimationFrame(() => setTimeout(done));
})"""


def open_page(page: Page, address: str, shown: DashboardPage, *, goes_on: bool = False, **ids: Any) -> None:
    """Open the page with everything unfolded, and wait until it is complete.

    ``goes_on``: from another page of the dashboard, which is not loaded again.
    """
    path = shown.path.format(**ids)
    if goes_on:
        page.evaluate(_GO_ON, path)
    else:
        page.goto(address + path)
    expect(page.locator(shown.ready).first).to_be_visible()
    if shown.key:
        page.keyboard.press(shown.key)
    while page.evaluate(_UNFOLD):
        pass
    expect(page.locator(shown.unfolded).first).to_be_visible()
    expect(page.locator("main :not(progress)[aria-busy=true]")).to_have_count(0)


def fill_account(owner: NewAccount, texts: list[str]) -> dict[str, str]:
    """Give the account a domain, sessions, and a team with members, and a webhook, named by these texts.

    Returns the ids of the team's workspace and of the webhook.
    """
    Domain.objects.create(
        owner=owner.workspace,
        domain="go.example",
        host="go.example",
        status=DomainStatus.ACTIVE,
        root_url=f"https://example.com/{texts[0]}",
        not_found_url=f"https://example.com/?{texts[0]}",
    )
    create_key(workspace=owner.workspace, creator=owner.user, name=texts[0][:100], scopes=[Scope.URLS_READ])
    create_issuer(
        workspace=owner.workspace,
        creator=owner.user,
        name=texts[0][:100],
        scopes=[Scope.URLS_WRITE],
        issuer="https://issuer.example",
        audience="https://sho.rt",
        subject=texts[0][:500],
        jwks={"keys": []},
    )
    write_log(
        [Entry(owner.workspace.pk, None, "GET", "/api/urls/{id}", 404, "not_found", "request", 1.5, 0.0)]
    )
    workspace = team(owner)
    for number, text in enumerate(texts):
        member = account(f"member{number}@example.com")
        add_member(workspace, member, Role.VIEWER)
        User.objects.filter(pk=member.user.pk).update(first_name=text[:100], last_name=text[:100])
        start_session(owner.user, text)
    User.objects.filter(pk=owner.user.pk).update(first_name=texts[0][:100], last_name=texts[0][:100])
    Workspace.objects.filter(pk=workspace.pk).update(name=texts[0][:100])
    return {"workspace": str(workspace.public_id), "webhook": str(failing_webhook(owner, texts[0]).public_id)}


def failing_webhook(owner: NewAccount, text: str) -> Webhook:
    """An endpoint that has answered with this text, and an error, to an example."""
    webhook = Webhook.objects.create(
        workspace=owner.workspace,
        name=text[:100],
        format=Format.STANDARD,
        host="hooks.example.com",
        types=[EventType.LINK_CREATED.value, EventType.LINK_CLICKED.value],
        failing_since=timezone.now(),
    )
    send_test(owner=owner.workspace, public_id=str(webhook.public_id))
    Delivery.objects.update(
        status=DeliveryStatus.FAILED,
        attempts=10,
        http_status=500,
        seconds=0.25,
        answer=text,
        sent_at=timezone.now(),
    )
    return webhook
