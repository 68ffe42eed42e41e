"""Keys with scopes in Chromium: creating, limiting, replacing and deleting one."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import ScopedKey
from accounts.request_log.store import Entry, write
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from domains.representations import EXAMPLE_JWK
from testing.accounts.accounts import key_status
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import add_member, team
from testing.domains.domains import active_domain
from testing.pages.browser import Visit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def open_keys(visit: Visit, address: str) -> Page:
    visit.page.goto(f"{address}/dashboard/keys")
    expect(visit.page.get_by_role("heading", name="Keys", level=1)).to_be_visible()
    return visit.page


def confirm(page: Page, name: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()


def test_an_admin_creates_a_key_of_the_team(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    workspace = team(alice)
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/keys?workspace={workspace.public_id}")
        page.get_by_label("Name").fill("Deploy")
        page.get_by_label("Manage the workspace, its members and invitations").check()
        page.get_by_label("Belongs to the workspace and stays when you leave it").check()
        expect(page.get_by_label("Manage the workspace, its members and invitations")).to_have_count(0)
        page.get_by_role("button", name="Create key").click()
        expect(page.locator("[data-key]")).to_contain_text("Belongs to the workspace")
        expect(page.get_by_role("button", name="Replace the key Deploy")).to_be_visible()
        page.goto(f"{address}/dashboard/keys")
        expect(page.get_by_text("No keys yet.")).to_be_visible()
        expect(page.get_by_label("Belongs to the workspace and stays when you leave it")).to_have_count(0)
        assert visit.errors() == []
    key = ScopedKey.objects.get()
    assert (key.user, key.workspace, key.scope_list) == (None, workspace, [Scope.URLS_READ])


def test_a_key_is_created_with_scopes_and_shown_once(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    domain = active_domain(alice.workspace)
    with signed_in() as visit:
        page = open_keys(visit, address)
        expect(page.get_by_text("No keys yet.")).to_be_visible()
        page.get_by_label("Name").fill("Nightly import")
        page.get_by_label("Create, change and delete links").check()
        page.get_by_label("Only links on this domain").select_option(label="go.example")
        page.get_by_label("Only links created with this key").check()
        page.get_by_label("Expires at").fill("2099-01-05T09:30")
        page.get_by_role("button", name="Create key").click()
        row = page.locator("[data-key]")
        expect(row).to_contain_text("Nightly import")
        expect(row).to_contain_text("Read links and QR codes; Create, change and delete links")
        expect(row).to_contain_text("Only some of the links")
        expect(row).to_contain_text("Never used")
        text = page.locator("output.secret").inner_text()
        page.reload()
        expect(row).to_be_visible()
        assert text not in page.content()
        assert visit.errors() == []
    key = ScopedKey.objects.get()
    assert key.scope_list == [Scope.URLS_READ, Scope.URLS_WRITE]
    assert (key.name, key.domain_id, key.only_own) == ("Nightly import", domain.pk, True)
    assert key.expires_at is not None
    assert key_status(text) == 200


def test_an_admin_adds_and_removes_a_token_issuer(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    workspace = team(alice)
    with signed_in() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/keys?workspace={workspace.public_id}")
        expect(page.get_by_text(f"X-Workspace: {workspace.public_id}")).to_be_visible()
        page.get_by_role("button", name="Add a token issuer").click()
        form = page.locator("form:has([name=subject])")
        expect(form.get_by_label("Move links to other workspaces")).to_have_count(0)
        form.get_by_label("Name of the program").fill("Deploy")
        form.get_by_label("Issuer", exact=True).fill("https://issuer.example")
        form.get_by_label("Subject").fill("repo:*")
        form.get_by_text("The service cannot reach the issuer").click()
        form.get_by_label("Public keys").fill("{")
        form.get_by_role("button", name="Add").click()
        expect(form.get_by_role("alert")).to_have_text("This is not valid JSON.")
        form.get_by_label("Public keys").fill(json.dumps({"keys": [EXAMPLE_JWK]}))
        form.get_by_role("button", name="Add").click()
        expect(form.get_by_role("alert")).to_contain_text("Before the first *")
        form.get_by_label("Subject").fill("repo:acme/site:*")
        form.get_by_role("button", name="Add").click()
        row = page.locator("[data-issuer]")
        expect(row).to_contain_text("repo:acme/site:*")
        expect(row).to_contain_text("Create, change and delete links")
        expect(page.locator("[data-key]")).to_have_count(0)
        expect(row).to_contain_text(f"https://issuer.example → {address}")
        page.get_by_role("button", name="Delete the token issuer Deploy").click()
        confirm(page, "Delete")
        expect(page.get_by_text("No token issuers yet.")).to_be_visible()
        assert visit.errors(400) == []
    assert ScopedKey.objects.count() == 0


def test_a_refused_combination_names_its_reason(signed_in: Callable[..., Any], address: str) -> None:
    with signed_in() as visit:
        page = open_keys(visit, address)
        page.get_by_label("Name").fill("Import")
        page.get_by_label("Add, verify, change and delete domains").check()
        page.get_by_label("Only links created with this key").check()
        page.get_by_role("button", name="Create key").click()
        expect(page.get_by_role("alert")).to_contain_text("cannot have the scope domains:write")
        expect(page.get_by_label("Name")).to_have_value("Import")
        assert visit.errors(400) == []
    assert ScopedKey.objects.count() == 0


def test_a_key_is_changed_replaced_and_deleted(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    first = scoped_key(alice.workspace, alice.user, Scope.URLS_READ).text
    with signed_in() as visit:
        page = open_keys(visit, address)
        row = page.locator("[data-key]")
        row.get_by_role("button", name="Edit the key Test").click()
        row.get_by_label("Name").fill("Reports")
        row.get_by_label("Read reports").check()
        row.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Key saved")).to_be_visible()
        expect(row).to_contain_text("Read links and QR codes; Read reports")

        row.get_by_role("button", name="Replace the key Reports").click()
        page.get_by_label("Old key").select_option(label="works for another hour")
        confirm(page, "Replace")
        expect(page.get_by_text("Key replaced")).to_be_visible()
        expect(row).to_contain_text("The old key works until")
        second = page.locator("output.secret").inner_text()

        row.get_by_role("button", name="Replace the key Reports").click()
        page.get_by_label("Old key").select_option(label="stops at once")
        confirm(page, "Replace")
        expect(page.locator("output.secret")).not_to_have_text(second)
        third = page.locator("output.secret").inner_text()
        assert visit.errors() == []
    assert [key_status(key) for key in (first, second, third)] == [401, 401, 200]
    with signed_in() as visit:
        page = open_keys(visit, address)
        page.get_by_role("button", name="Delete the key Reports").click()
        confirm(page, "Delete")
        expect(page.get_by_text("No keys yet.")).to_be_visible()
        assert visit.errors() == []
    assert key_status(third) == 401


def test_an_admin_sees_and_deletes_the_keys_of_others_but_changes_none(
    signed_in: Callable[..., Any], address: str, alice: NewAccount, stranger: NewAccount
) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    key = scoped_key(workspace, stranger.user, Scope.URLS_READ).text
    # A full page before it.
    ScopedKey.objects.bulk_create(
        ScopedKey(
            workspace=workspace,
            user=alice.user,
            name="Hers",
            scopes=1,
            only_own=False,
            digest=bytes([number] * 32),
        )
        for number in range(100)
    )
    with signed_in() as visit:
        page = open_keys(visit, address)
        # Keys belong to a workspace.
        expect(page.get_by_text("No keys yet.")).to_be_visible()
        page.get_by_role("combobox", name="Workspace", exact=True).select_option(label="Team")
        page.wait_for_url(f"{address}/dashboard/?workspace={workspace.public_id}")
        page.goto(f"{address}/dashboard/keys?workspace={workspace.public_id}")
        expect(page.locator("[data-key]")).to_have_count(100)
        page.get_by_role("button", name="Show more").click()
        row = page.locator("[data-key]").filter(has_text="Created by mallory@example.com")
        expect(page.get_by_role("button", name="Show more")).to_have_count(0)
        expect(row.get_by_role("button")).to_have_count(1)
        row.get_by_role("button", name="Delete the key Test").click()
        confirm(page, "Delete")
        expect(row).to_have_count(0)
        assert visit.errors() == []
    assert key_status(key) == 401


def test_an_admin_reads_what_a_key_requested(
    signed_in: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    key = scoped_key(alice.workspace, alice.user, Scope.URLS_READ).key
    refused = Entry(
        alice.workspace.pk, key.public_id, "POST", "/api/urls", 403, "scope_required", "a", 2.5, monotonic()
    )
    other = refused._replace(key=None, method="GET", status=200, code=None, request_id="b")
    write([refused, other])
    with signed_in() as visit:
        page = open_keys(visit, address)
        page.get_by_role("link", name="What programs requested with keys").click()
        rows = page.locator("[data-request]")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("GET /api/urls")
        page.get_by_label("Status").select_option("4xx")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("403 scope_required")
        expect(rows).to_contain_text("Test · 3 ms")
        explained = page.get_by_role("link", name="Explain scope_required").get_attribute("href") or ""
        assert explained.endswith("/api/docs/errors/scope_required")
        page.locator("select[name=key]").select_option(label="Test")
        expect(rows).to_have_count(1)
        page.get_by_label("Status").select_option("5xx")
        expect(page.get_by_text("No requests.")).to_be_visible()
        assert visit.errors() == []
