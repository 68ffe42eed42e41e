"""A walk through all of the dashboard by keyboard alone: no mouse, no script that fills in a field.

Its steps depend on each other as those of a person do, so one browser takes all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from accounts.rights import Role
from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.domains.dns_server import DnsServer
from testing.domains.resolution import dns as dns
from testing.pages.dashboard import another_browser
from testing.pages.keyboard import Keyboard
from tests.dashboard import walk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
ROWS = 1_000


def test_walk_by_keyboard_alone(
    browse: Callable[[], Any],
    address: str,
    *,
    settings: Settings,
    alice: NewAccount,
    stranger: NewAccount,
    dns: DnsServer,
    tmp_path: Path,
) -> None:
    # A busy machine may be minutes late.
    settings.MFA_TOTP_TOLERANCE = 20
    file = tmp_path / "links.csv"
    rows = [f"https://example.com/{number},code-{number}" for number in range(ROWS)]
    file.write_text("\n".join(["originalUrl,customCode", *rows]))
    with browse() as visit:
        page = visit.page
        keyboard = Keyboard(page)
        page.goto(f"{address}/dashboard/")
        keyboard.press(page.get_by_role("button", name="Sign in"))
        walk.enter_credentials(page, keyboard, alice)
        short_url = walk.create_first_link(page, keyboard, address)
        walk.see_click_in_report(page, keyboard, address, short_url)
        walk.edit_with_rules(page, keyboard)
        walk.add_domain(page, keyboard, dns)
        walk.import_file(page, keyboard, file)
        walk.restore_title(page, keyboard, short_url)
        secret = walk.add_second_factor(page, keyboard)
        invitation = walk.invite_to_workspace(page, keyboard, stranger.user.email)
        workspace = page.url.rpartition("/")[2]
        other = another_browser(visit)
        walk.accept_invitation(other.page, Keyboard(other.page), invitation, stranger)
        walk.create_in_workspace(other.page, Keyboard(other.page), address, workspace)
        walk.see_link_of_member(page, keyboard)
        walk.sign_in_with_second_factor(page, keyboard, alice, secret)
        walk.see_no_link_of_team(page, keyboard)
        keyboard.write(page.get_by_label("Search"), short_url)
        expect(page.locator("tr[data-link]")).to_have_count(1)
        walk.sign_out(page, keyboard)
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert visit.errors(400, 401) == []
        assert other.errors() == []
    assert Link.objects.filter(owner=alice.workspace).count() == ROWS + 1
    link = Link.objects.get(original_url=walk.DESTINATION)
    assert (link.title, [rule["url"] for rule in link.rules]) == (
        "First title",
        [],
    )
    assert Domain.objects.get().status == "active"
    shared = Link.objects.get(original_url=walk.SHARED)
    assert (shared.owner.name, dict(shared.owner.members.values_list("user__email", "role"))) == (
        "Marketing",
        {"alice@example.com": Role.OWNER, "mallory@example.com": Role.EDITOR},
    )


def test_skip_link_leads_to_the_content(browse: Callable[[], Any], address: str, alice: NewAccount) -> None:
    with browse() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/")
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Sign in")).to_be_focused()
        assert visit.errors(401) == []
