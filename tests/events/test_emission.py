"""Every change emits its event once, in its own transaction, whoever makes it, and only to the workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Member, ScopedKey, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from bans.services import ban_account
from domains.models import Domain
from domains.services import delete_domain
from events.models import Event
from events.outbox import emit
from events.types import EventType
from links.models import Link
from links.operators import ban_link, record_ban
from links.transfer import imports
from testing.accounts.accounts import account
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import add_member, key_client_in
from testing.analytics.clicks import drain
from testing.connections import rows
from testing.events.stored import commit_checks, forget_events, listen, pass_time, stored, stored_types
from testing.links.many import create_many, imported

URL = "https://example.com/page"


@pytest.fixture
def team_api(alice: NewAccount, marketing: Workspace) -> APIClient:
    return key_client_in(marketing, alice.api_key)


def create(client: APIClient, **fields: Any) -> dict[str, Any]:
    response = client.post("/api/urls", {"originalUrl": URL, **fields})
    assert response.status_code == 201, response.json()
    link: dict[str, Any] = response.json()["data"]["url"]
    return link


def domain_of(owner: Workspace, host: str = "go.brand.example", status: str = "pending") -> Domain:
    return Domain.objects.create(owner=owner, domain=host, host=host, status=status)


@pytest.fixture
def expect(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Deletes the events that the team has, and returns their data. They are of these types, and nobody else has any,
    although all workspaces listen.
    """
    listen(marketing, stranger.workspace, alice.workspace)

    def check(*types: str) -> list[dict[str, Any]]:
        events = stored(marketing)
        assert [of_type for of_type, _ in events] == list(types)
        assert rows("SELECT count(*) FROM events_event") == [(len(types),)]
        forget_events()
        return [data for _, data in events]

    yield check
    check()


Expect = Callable[..., list[dict[str, Any]]]


def test_links_emit_each_event_once(expect: Expect, team_api: APIClient, visitor: Client) -> None:
    soon = timezone.now() + timedelta(minutes=30)
    link = create(
        team_api, customCode="spring", title="Sale", tags=["x"], restrictions={"maxClicks": 1}, externalId="7"
    )
    expect("link.created")
    team_api.put(f"/api/urls/{link['_id']}", {"title": "Spring sale", "password": "correct horse"})
    [data] = expect("link.updated")
    assert data == {
        "link": {
            "id": link["_id"],
            "shortCode": link["shortCode"],
            "customCode": "spring",
            "domainId": "base",
            "domain": None,
            "title": "Spring sale",
            "originalUrl": URL,
            "targetUrl": None,
            "tags": ["x"],
            "externalId": "7",
            "isActive": True,
            "maxClicks": 1,
            "startsAt": None,
            "expiresAt": None,
        },
        "before": {"title": "Sale", "password": None},
        "after": {"title": "Spring sale", "password": "set"},
    }
    team_api.put(f"/api/urls/{link['_id']}", {"password": None})
    expect("link.updated")
    assert [visitor.get("/spring").status_code for _ in range(2)] == [302, 410]
    expect("link.limit_reached")
    assert drain() == 2
    expect("link.clicked")
    ban_link(link=Link.objects.get(public_id=link["_id"]))
    expect("link.banned")
    create(team_api, startsAt=soon.isoformat(), expiresAt=(soon + timedelta(minutes=1)).isoformat())
    expect("link.created")
    assert pass_time("1 hour") is False
    expect("link.started", "link.expired")
    assert pass_time("2 hours") is False
    assert team_api.delete(f"/api/urls/{link['_id']}").status_code == 200
    expect("link.deleted")
    assert team_api.post(f"/api/urls/{link['_id']}/undelete").status_code == 200
    expect("link.restored")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("links", [3, 4])
def test_the_end_of_an_import_is_stored_with_its_last_batch(
    alice: NewAccount, api: APIClient, links: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "MAX_ITEMS", 2)
    listen(alice.workspace)
    imported(api, "originalUrl\n" + f"{URL}\n" * links)
    *created, end = Event.objects.order_by("position", "id")
    assert [event.type for event in created] == ["link.created"] * links
    assert (end.type, end.data) == ("import.finished", {"created": links, "refused": 0})
    batches = [event.position for event in (*created, end)]
    assert batches[0] == batches[1] < batches[2] == batches[-1]


def test_domains_imports_members_and_keys_emit_each_event_once(
    expect: Expect, team_api: APIClient, marketing: Workspace
) -> None:
    bob = account("bob@example.com")
    domain = domain_of(marketing)
    expect()
    for changes, of_type in (
        ({"status": "active"}, "domain.verified"),
        ({"failed_checks": 1}, "domain.failing"),
        ({"status": "inactive", "failed_checks": 3}, "domain.inactive"),
    ):
        Domain.objects.filter(pk=domain.pk).update(**changes)
        status = changes.get("status", "active")
        shown = {"id": str(domain.public_id), "fullDomain": domain.host, "status": status}
        assert expect(of_type) == [{"domain": shown}]
    assert [result["success"] for result in imported(team_api, f"originalUrl\n{URL}\nbad\n")] == [True, False]
    assert expect("link.created", "import.finished")[1] == {"created": 1, "refused": 1}
    member = add_member(marketing, bob, Role.EDITOR)
    assert expect("member.joined") == [{"member": {"id": str(bob.user.public_id), "role": "editor"}}]
    key = ScopedKey.objects.create(
        workspace=marketing,
        user=bob.user,
        name="Nightly",
        scopes=1,
        digest=b"1",
        only_own=False,
        expires_at=timezone.now() + timedelta(days=8),
    )
    [created] = expect("key.created")
    assert created["key"].items() >= {"id": str(key.public_id), "name": "Nightly"}.items()
    pass_time("2 days")
    assert expect("key.expiring") == [created]
    pass_time("3 days")
    key.delete()
    expect("key.revoked")
    member.delete()
    expect("member.left")
    for kind in (
        EventType.DESTINATION_UNHEALTHY,
        EventType.DESTINATION_RECOVERED,
        EventType.WEBHOOK_DISABLED,
    ):
        emit(marketing.pk, kind, {"reason": "gone"})
        expect(kind)


def test_strangers_and_those_who_do_not_listen_get_nothing(
    api: APIClient, alice: NewAccount, stranger: NewAccount, strange_api: APIClient, visitor: Client
) -> None:
    listen(stranger.workspace)
    listen(alice.workspace, types=["link.deleted"])
    link = create(api, customCode="spring", expiresAt=(timezone.now() + timedelta(minutes=5)).isoformat())
    api.put(f"/api/urls/{link['_id']}", {"title": "Sale", "restrictions": {"maxClicks": 1}})
    visitor.get("/spring")
    drain()
    pass_time("1 hour")
    record_ban(ban_account(owner=alice.workspace), applies=True)
    imported(api, f"originalUrl\n{URL}\n")
    domain_of(alice.workspace, status="active")
    assert rows("SELECT type FROM events_event") == []
    api.delete(f"/api/urls/{link['_id']}")
    listen(alice.workspace, types=[])
    create(api)
    assert rows("SELECT workspace_id, type FROM events_event") == [(alice.workspace.pk, "link.deleted")]
    assert rows("SELECT workspace_id FROM events_listener") == [(stranger.workspace.pk,)]


def test_bulk_calls_imports_deletions_of_domains_and_operators_emit_like_single_calls(
    api: APIClient, alice: NewAccount, marketing: Workspace
) -> None:
    listen(alice.workspace, marketing)
    domain = domain_of(alice.workspace, status="active")
    forget_events()
    made = create_many(api, [{"originalUrl": URL, "domainId": str(domain.public_id)} for _ in range(3)])
    ids = [result["url"]["_id"] for result in made]
    assert api.post("/api/urls/bulk-update", {"ids": ids, "data": {"title": "New"}}).status_code == 200
    assert api.post("/api/urls/bulk-delete", {"ids": ids[:1]}).status_code == 200
    assert stored_types(alice.workspace) == [*["link.created"] * 3, *["link.updated"] * 3, "link.deleted"]
    assert {data["link"]["domain"] for _, data in stored(alice.workspace)} == {domain.host}
    forget_events()
    delete_domain(owner=alice.workspace, public_id=str(domain.public_id))
    assert stored_types(alice.workspace) == ["link.updated"] * 2
    forget_events()
    moved = api.post("/api/urls/move", {"ids": ids[1:2], "workspaceId": str(marketing.public_id)})
    assert moved.status_code == 200, moved.json()
    assert [(of_type, data["link"]["id"]) for of_type, data in stored(alice.workspace)] == [
        ("link.deleted", ids[1])
    ]
    assert [(of_type, data["link"]["title"]) for of_type, data in stored(marketing)] == [
        ("link.created", "New")
    ]
    forget_events()
    record_ban(ban_account(owner=alice.workspace), applies=True)
    assert stored(alice.workspace) == [("link.banned", {"link": None})]


def test_a_rolled_back_change_stores_nothing(api: APIClient, alice: NewAccount, visitor: Client) -> None:
    listen(alice.workspace)
    link = create(api, customCode="spring")
    visitor.get("/spring")
    forget_events()
    with transaction.atomic():
        api.put(f"/api/urls/{link['_id']}", {"title": "New"})
        assert drain() == 1
        assert stored_types(alice.workspace) == ["link.updated", "link.clicked"]
        transaction.set_rollback(True)
    assert stored(alice.workspace) == []


def test_the_end_of_a_workspace_deletes_its_events(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, team_api: APIClient, strange_api: APIClient
) -> None:
    listen(marketing, stranger.workspace)
    link = create(team_api)
    create(strange_api)
    assert team_api.delete(f"/api/urls/{link['_id']}").status_code == 200
    add_member(marketing, account("bob@example.com"), Role.EDITOR)
    assert team_api.delete(f"/api/workspaces/{marketing.public_id}").status_code == 200
    commit_checks()
    assert rows("SELECT workspace_id FROM events_event") == [(stranger.workspace.pk,)]
    assert rows("SELECT workspace_id FROM events_listener") == [(stranger.workspace.pk,)]
    assert not Member.objects.filter(workspace=marketing).exists()


MakeLink = Callable[..., dict[str, Any]]


def test_an_event_of_a_click_is_that_of_the_click_log(
    api: APIClient, alice: NewAccount, make_link: MakeLink, visitor: Client
) -> None:
    listen(alice.workspace, types=["link.clicked"])
    link = make_link(customCode="spring")
    split = make_link(customCode="split", split=[{"name": name, "url": URL, "weight": 50} for name in "AB"])
    for code, headers in (
        ("spring", {"referer": "https://www.google.com/search?q=secret"}),
        ("spring?qr=1", {}),
        ("split", {}),
    ):
        assert visitor.get(f"/{code}", headers=headers).status_code == 302
    visitor.head("/spring")
    visitor.get("/spring", headers={"user-agent": "Googlebot/2.1"})
    # A link that can be undeleted still counts.
    assert visitor.get("/spring").status_code == 302
    api.delete(f"/api/urls/{link['_id']}")
    drain()
    api.post(f"/api/urls/{link['_id']}/undelete")
    logged = [
        click | {"linkId": one["_id"], "code": one["customCode"]}
        for one in (link, split)
        for click in api.get(f"/api/analytics/{one['_id']}/clicks").json()["data"]["clicks"]
        if click["kind"] == "click"
    ]
    events = [data for _, data in stored(alice.workspace)]
    assert len(events) == len(logged) == 4
    sites = {"https://www.google.com/search": ("google.com", "search")}
    assert sorted(events, key=lambda event: event["time"]) == [
        {
            "id": click["_id"],
            **{
                name: click[name]
                for name in ("time", "linkId", "code", "country", "region", "city", "device", "browser")
            },
            "operatingSystem": click["operatingSystem"],
            "referrer": sites.get(click["referrer"], ("direct", ""))[0],
            "channel": "qr" if click["scanned"] else sites.get(click["referrer"], ("", "direct"))[1],
            "isScan": click["scanned"],
            "branch": click["branch"] and click["branch"]["_id"],
        }
        for click in sorted(logged, key=lambda click: click["time"])
    ]
