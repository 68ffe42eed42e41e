"""Moves that the permissions, the domain, a ban or the quota of a workspace refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from bans.services import ban_account
from domains.models import Domain
from links.models import CreatedLinks, Link
from testing.accounts.accounts import key_client
from testing.accounts.keys import scoped_client, scoped_key
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.error_bodies import without_request_id
from testing.links.many import UNKNOWN_ID, URL
from tests.links.moving.moves import inconsistencies, move, reasons

MakeLink = Callable[..., dict[str, Any]]


def test_each_item_fails_for_its_own_reason(
    api: APIClient, strange_api: APIClient, marketing: Workspace, make_link: MakeLink, brand: Domain
) -> None:
    link, branded = make_link(), make_link(domainId=str(brand.public_id))
    foreign = strange_api.post("/api/urls", {"originalUrl": URL}).json()["data"]["url"]
    moved = move(api, marketing, link["_id"], link["_id"], branded["_id"], foreign["_id"], UNKNOWN_ID, "x")
    assert reasons(moved) == [
        (200, None),
        (404, "not_found"),
        (409, "on_custom_domain"),
        (404, "not_found"),
        (404, "not_found"),
        (404, "not_found"),
    ]
    assert Link.objects.get(public_id=link["_id"]).owner_id == marketing.pk
    assert Link.objects.get(public_id=branded["_id"]).owner_id != marketing.pk
    assert inconsistencies() == []


def test_a_key_moves_links_with_its_own_scope(
    api: APIClient, alice: NewAccount, stranger: NewAccount, marketing: Workspace, make_link: MakeLink
) -> None:
    first, second, foreign = make_link(), make_link(), team(stranger, "Foreign")
    others = [scope for scope in Scope if scope != Scope.URLS_MOVE]
    path, body = "/api/urls/move", {"ids": [first["_id"]], "workspaceId": str(marketing.public_id)}

    refused = scoped_client(alice.workspace, alice.user, *others).post(path, body)
    assert (refused.status_code, refused.json()["data"]) == (403, {"scope": "urls:move"})
    key = scoped_key(alice.workspace, alice.user, Scope.URLS_MOVE)
    unknown = key_client(key.text).post(path, {**body, "workspaceId": str(foreign.public_id)})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    assert reasons(move(key_client(key.text), marketing, first["_id"])) == [(200, None)]

    there = key_client_in(marketing, alice.api_key)
    [change] = there.get("/api/audit", {"action": "link.moved_in"}).json()["data"]["changes"]
    assert (change["objectId"], change["via"], change["keyId"]) == (
        *(first["_id"], "api_key"),
        str(key.key.public_id),
    )
    # In the other workspace, the key reaches nothing.
    assert reasons(move(key_client(key.text), marketing, first["_id"])) == [(404, "not_found")]
    assert api.get(f"/api/urls/{second['_id']}").status_code == 200
    assert inconsistencies() == []


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.EDITOR])
def test_the_target_requires_an_editor(
    api: APIClient, alice: NewAccount, stranger: NewAccount, make_link: MakeLink, role: Role | None
) -> None:
    link, foreign = make_link(), team(stranger, "Foreign")
    if role is not None:
        add_member(foreign, alice, role)
    responses = [
        api.post("/api/urls/move", {"ids": [link["_id"]], "workspaceId": target})
        for target in (str(foreign.public_id), UNKNOWN_ID, "x")
    ]
    if role is None:
        assert {response.status_code for response in responses} == {404}
        assert len({without_request_id(response) for response in responses}) == 1
    elif role == Role.VIEWER:
        assert (responses[0].status_code, responses[0].json()["data"]) == (403, {"role": "editor"})
    else:
        assert responses[0].status_code == 200
    owner = foreign.pk if role == Role.EDITOR else alice.user.pk
    assert Link.objects.get().owner_id == owner


def test_a_move_into_the_same_workspace_is_400(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    body = {"ids": [make_link()["_id"]], "workspaceId": str(alice.user.public_id)}
    response = api.post("/api/urls/move", body)
    assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "same_workspace")


def test_links_of_a_banned_workspace_stay_blocked(
    api: APIClient, alice: NewAccount, marketing: Workspace, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link()
    ban_account(owner=alice.workspace)
    response = api.post("/api/urls/move", {"ids": [link["_id"]], "workspaceId": str(marketing.public_id)})
    assert (response.status_code, response.json()["code"]) == (403, "workspace_banned")
    assert visitor.get(f"/{link['shortCode']}").status_code == 410


def test_moved_links_count_towards_the_quota_of_the_target(
    settings: Settings, api: APIClient, there: APIClient, marketing: Workspace, make_link: MakeLink
) -> None:
    settings.LINK_QUOTAS = {"free": 1, "pro": 3, "enterprise": 0}
    ids = [make_link()["_id"] for _ in range(3)]
    there.post("/api/urls", {"originalUrl": URL})
    assert reasons(move(api, marketing, UNKNOWN_ID, *ids)) == [
        (404, "not_found"),
        (200, None),
        (200, None),
        (429, "quota_exceeded"),
    ]
    assert there.post("/api/urls", {"originalUrl": URL}).status_code == 429
    # The quota of the former workspace remains used.
    assert list(CreatedLinks.objects.values_list("links", flat=True)) == [3, 3]
    assert inconsistencies() == []
