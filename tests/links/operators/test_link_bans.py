"""A ban of a single link blocks its redirects whatever its owner does. Lifting it restores the previous state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.models import Link, LinkBan
from links.operators import ban_link, lift_ban
from testing.links.deletion import delete_finally
from testing.polling import DEADLINE
from testing.redirects.following import follow as follow

pytestmark = pytest.mark.django_db(transaction=True)

MakeLink = Callable[..., dict[str, Any]]

BANNED = (410, "disabled")
FOLLOWED = (302, None)


def test_a_link_ban_affects_no_other_link(make_link: MakeLink, follow: Callable[..., object]) -> None:
    links = [make_link(), make_link()]
    ban_link(link=Link.objects.get(short_code=links[0]["shortCode"]))
    assert [follow(link) for link in links] == [BANNED, FOLLOWED]


def test_a_repeated_ban_is_stored_once(make_link: MakeLink) -> None:
    make_link()
    first = ban_link(link=Link.objects.get(), reason="Phishing.")
    assert ban_link(link=Link.objects.get()) == first
    assert LinkBan.objects.get().reason == "Phishing."


def test_an_owner_cannot_reactivate_a_banned_link(
    api: APIClient, make_link: MakeLink, follow: Callable[..., object]
) -> None:
    link = make_link(customCode="Summer")
    ban = ban_link(link=Link.objects.get())
    for active in (False, True):
        assert api.put(f"/api/urls/{link['_id']}", {"isActive": active}).status_code == 200
        assert follow(link) == BANNED
    api.put(f"/api/urls/{link['_id']}", {"isActive": False, "customCode": "Winter"})
    lift_ban(ban=ban)
    assert follow(link) == BANNED  # same response as for an inactive link
    api.put(f"/api/urls/{link['_id']}", {"isActive": True})
    assert follow(link) == FOLLOWED


def test_deleting_a_banned_link_finally_deletes_its_ban(alice: NewAccount, make_link: MakeLink) -> None:
    link = make_link()
    ban_link(link=Link.objects.get())
    delete_finally(alice.workspace, link["_id"])
    assert not LinkBan.objects.exists()


def test_a_ban_notifies_other_hosts(make_link: MakeLink) -> None:
    make_link()
    with connection.cursor() as cursor:
        cursor.execute("LISTEN destinations")
    lift_ban(ban=ban_link(link=Link.objects.get()))
    received = connection.connection.notifies(timeout=DEADLINE, stop_after=2)
    assert [notification.payload for notification in received] == ["*", "*"]
    with connection.cursor() as cursor:
        cursor.execute("UNLISTEN destinations")


def actions(client: APIClient, link: dict[str, Any]) -> list[tuple[str, str]]:
    response = client.get(f"/api/urls/{link['_id']}/history")
    return [(change["action"], change["via"]) for change in response.json()["data"]["changes"]]


def test_the_owner_finds_a_ban_and_its_end_in_the_history(api: APIClient, make_link: MakeLink) -> None:
    link, other = make_link(), make_link()
    for _ in range(2):
        ban = ban_link(link=Link.objects.get(short_code=link["shortCode"]))
    assert actions(api, link) == [("link.banned", "service")]
    for _ in range(2):
        lift_ban(ban=ban)
    assert actions(api, link) == [("link.unbanned", "service"), ("link.banned", "service")]
    assert actions(api, other) == []
