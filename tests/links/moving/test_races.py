"""Moves beside all other writes of the same links and workspaces."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from accounts.models import Workspace
from accounts.services import NewAccount
from bans.services import ban_account
from common.errors import NotFound
from common.http.urls import canonical_destination
from links.bulk.moving import SourceBanned, move_links
from links.models import Link
from links.selectors import totals
from links.services import create_link, update_link
from testing.analytics.clicks import drain
from testing.connections import is_a_connection_blocked
from testing.polling import eventually
from testing.threads import at_once
from testing.visitors.agents import FIREFOX
from tests.links.moving.moves import inconsistencies

pytestmark = pytest.mark.django_db(transaction=True)
MakeLink = Callable[..., dict[str, Any]]
LINKS = 6


def test_nothing_is_lost(alice: NewAccount, marketing: Workspace, make_link: MakeLink) -> None:
    """Two threads move the same links to and fro, while others create, change and click."""
    links = [make_link(tags=["x"], restrictions={"maxClicks": 1_000}) for _ in range(LINKS)]
    ids = [link["_id"] for link in links]
    workspaces = (alice.workspace, marketing)

    def wander(one: Workspace, other: Workspace) -> int:
        for source, target in ((one, other), (other, one)) * 6:
            move_links(source=source, target_id=str(target.public_id), actor=alice.user, public_ids=ids)
        return 0

    def create() -> int:
        for number in range(2 * LINKS):
            create_link(
                owner=workspaces[number % 2],
                creator=alice.user,
                destination=canonical_destination("https://example.com/"),
                tags=["x"],
            )
        return 0

    def change() -> int:
        changed = 0
        for number in range(4 * LINKS):
            owner, link = workspaces[number % 2], ids[number % LINKS]
            try:
                update_link(owner=owner, public_id=link, changes={"is_active": True, "tags": [f"{number}"]})
            except NotFound:
                continue
            changed += 1
        return changed

    def click() -> int:
        visitor = Client(headers={"host": "sho.rt", "user-agent": FIREFOX})
        return sum(visitor.get(f"/{link['shortCode']}").status_code == 302 for link in links * 3)

    *_, clicks = at_once(
        [partial(wander, *workspaces), partial(wander, *workspaces[::-1]), create, change, click]
    )
    drain()
    assert (clicks, Link.objects.count()) == (3 * LINKS, 3 * LINKS)
    assert sum(totals(workspace).clicks for workspace in workspaces) == clicks
    assert inconsistencies() == []


def test_move_waits_for_a_ban_of_its_workspace(
    alice: NewAccount, marketing: Workspace, make_link: MakeLink
) -> None:
    source, link = alice.workspace, make_link()

    def move() -> SourceBanned | None:
        try:
            move_links(
                source=source, target_id=str(marketing.public_id), actor=alice.user, public_ids=[link["_id"]]
            )
        except SourceBanned as refusal:
            return refusal
        finally:
            connection.close()
        return None

    with ThreadPoolExecutor(1) as background:
        with transaction.atomic():
            ban_account(owner=source)
            moved = background.submit(move)
            eventually(lambda: is_a_connection_blocked() or moved.done())
        assert isinstance(moved.result(), SourceBanned)
    assert Link.objects.get().owner == source
