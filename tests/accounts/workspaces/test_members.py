"""Workspaces, their members and invitations, through the API."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts import workspaces
from accounts.models import Member, User, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from common.errors import ServiceError
from testing.accounts.accounts import account
from testing.accounts.fixtures import mallory as mallory
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.threads import at_once
from tests.accounts.workspaces.members import assert_refused, invitation_of, path_of, path_of_member


def test_a_workspace_is_created_read_renamed_and_deleted(alice: NewAccount, bearer: APIClient) -> None:
    created = bearer.post("/api/workspaces", {"name": "  Marketing "})
    assert created.status_code == 201
    workspace = created.json()["data"]["workspace"]
    assert {name: workspace[name] for name in ("name", "isPersonal", "role", "plan")} == {
        "name": "Marketing",
        "isPersonal": False,
        "role": "owner",
        "plan": "pro",
    }
    path = f"/api/workspaces/{workspace['_id']}"
    assert bearer.get(path).json()["data"] == {"workspace": {**workspace, "storedBytes": 0}}
    renamed = bearer.patch(path, {**workspace, "name": "Sales"}).json()["data"]["workspace"]
    assert renamed == {**workspace, "name": "Sales"}
    assert bearer.delete(path).status_code == 200
    assert_refused(bearer.get(path), 404, "not_found")
    assert list(Workspace.objects.values_list("pk", flat=True)) == [alice.user.pk]


@pytest.mark.parametrize("character", ["\u202e", "\u202a", "\u2066", "\u2069", "\u200f", "\u061c"])
def test_a_name_cannot_reorder_the_text_around_it(bearer: APIClient, character: str) -> None:
    refused = bearer.post("/api/workspaces", {"name": f"Sales{character}elpmaxe.live"})
    assert_refused(refused, 400, "validation_error")
    assert [(error["field"], error["code"]) for error in refused.json()["errors"]] == [("name", "direction")]
    # Letters of any direction, and what joins them, are not affected.
    assert (
        bearer.post("/api/workspaces", {"name": "\u05de\u05db\u05d9\u05e8\u05d5\u05ea A\u200dB"}).status_code
        == 201
    )


@pytest.mark.parametrize("name", ["", " ", "x" * 101, None, 1])
def test_a_bad_name_is_400_and_creates_nothing(bearer: APIClient, name: Any) -> None:
    assert_refused(bearer.post("/api/workspaces", {"name": name}), 400, "validation_error")
    assert Workspace.objects.count() == 1


def test_lists_begin_with_the_personal_workspace(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.VIEWER)
    shown = [
        [(item["name"], item["role"], item["isPersonal"]) for item in client.get(path).json()["data"][key]]
        for client in (bearer, mallory)
        for path, key in (("/api/workspaces", "workspaces"),)
    ]
    assert shown == [
        [("Personal", "owner", True), ("Marketing", "owner", False)],
        [("Personal", "owner", True), ("Marketing", "viewer", False)],
    ]
    own = mallory.get("/api/auth/me").json()["data"]["user"]
    assert own["workspaces"] == [
        {"_id": str(stranger.user.public_id), "name": "Personal", "isPersonal": True, "role": "owner"},
        {"_id": str(marketing.public_id), "name": "Marketing", "isPersonal": False, "role": "viewer"},
    ]


def test_an_account_owns_a_limited_number_of_workspaces(settings: Settings, bearer: APIClient) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 2
    answers = [bearer.post("/api/workspaces", {"name": "x"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 403]
    assert answers[2].json()["code"] == "quota_exceeded"
    settings.WORKSPACES_PER_ACCOUNT = 0
    assert bearer.post("/api/workspaces", {"name": "x"}).status_code == 201


@pytest.mark.parametrize("kind", ["link", "domain"])
def test_only_an_empty_workspace_is_deleted(
    alice: NewAccount, bearer: APIClient, marketing: Workspace, kind: str
) -> None:
    client = key_client_in(marketing, alice.api_key)
    if kind == "link":
        created = client.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]
    else:
        created = client.post("/api/domains", {"domain": "go.brand.example"}).json()["data"]
    assert_refused(bearer.delete(path_of(marketing)), 409, "workspace_not_empty")
    assert (Member.objects.filter(workspace=marketing).count(), client.get("/api/urls").status_code) == (
        1,
        200,
    )
    if kind == "link":
        client.delete(f"/api/urls/{created['url']['_id']}")
    else:
        client.delete(f"/api/domains/{created['domain']['_id']}")
    assert bearer.delete(path_of(marketing)).status_code == 200


def test_a_personal_workspace_is_neither_deleted_nor_shared(alice: NewAccount, bearer: APIClient) -> None:
    own = alice.workspace
    assert_refused(bearer.delete(path_of(own)), 409, "personal_workspace")
    invited = bearer.post(path_of(own, "/invitations"), {"role": "viewer"})
    assert_refused(invited, 409, "personal_workspace")
    assert_refused(bearer.delete(path_of_member(own, alice)), 409, "last_owner")
    assert_refused(bearer.patch(path_of_member(own, alice), {"role": "viewer"}), 409, "last_owner")


def test_members_are_listed_in_the_order_of_joining(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.VIEWER)
    members = bearer.get(path_of(marketing, "/members")).json()["data"]["members"]
    assert [(member["email"], member["role"]) for member in members] == [
        ("alice@example.com", "owner"),
        ("mallory@example.com", "viewer"),
    ]
    assert members[0].keys() == {"_id", "email", "firstName", "lastName", "role", "joinedAt"}


@pytest.mark.django_db(transaction=True)
def test_lists_take_the_same_number_of_queries_at_any_length(
    alice: NewAccount, bearer: APIClient, marketing: Workspace
) -> None:
    """Their lengths are limited, so they have no pages."""
    paths = ("/api/workspaces", path_of(marketing, "/members"), path_of(marketing, "/invitations"))
    counts = []
    for number in range(2):
        team(alice, f"Team {number}")
        add_member(marketing, account(f"member{number}@example.com"), Role.VIEWER)
        invitation_of(bearer, marketing)
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                [listed] = bearer.get(path).json()["data"].values()
            counts.append((len(listed), len(queries)))
    # The credential and the list; below a workspace, also the membership.
    assert counts == [(3, 2), (2, 3), (1, 3), (4, 2), (3, 3), (2, 3)]


def test_roles_are_changed(
    bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.VIEWER)
    for role in ("editor", "admin", "owner", "viewer"):
        response = bearer.patch(path_of_member(marketing, stranger), {"role": role})
        assert (response.status_code, response.json()["data"]["member"]["role"]) == (200, role)
    assert_refused(
        bearer.patch(path_of_member(marketing, stranger), {"role": "king"}), 400, "validation_error"
    )
    assert_refused(mallory.patch(path_of(marketing), {"name": "Mine"}), 403, "role_required")


def test_only_owners_decide_who_is_an_owner(
    alice: NewAccount, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.ADMIN)
    # Each refusal names the role that is enough, whatever the role of the caller.
    for role in (Role.VIEWER, Role.EDITOR, Role.ADMIN):
        Member.objects.filter(workspace=marketing, user=stranger.user).update(role=role)
        for response in (
            mallory.patch(path_of_member(marketing, stranger), {"role": "owner"}),
            mallory.patch(path_of_member(marketing, alice), {"role": "viewer"}),
            mallory.delete(path_of_member(marketing, alice)),
            mallory.post(path_of(marketing, "/invitations"), {"role": "owner"}),
        ):
            assert_refused(response, 403, "role_required")
            assert response.json()["data"] == {"role": "owner"}
        if role != Role.ADMIN:
            refused = mallory.patch(path_of_member(marketing, stranger), {"role": "viewer"})
            assert refused.json()["data"] == {"role": "admin"}
    roles = Member.objects.filter(workspace=marketing).values_list("user__email", "role")
    assert dict(roles) == {"alice@example.com": "owner", "mallory@example.com": "admin"}


def test_disabled_owner_is_not_enough(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.OWNER)
    User.objects.filter(pk=stranger.user.pk).update(is_active=False)
    assert_refused(bearer.delete(path_of_member(marketing, alice)), 409, "last_owner")
    assert_refused(bearer.patch(path_of_member(marketing, alice), {"role": "admin"}), 409, "last_owner")
    # The disabled owner can be removed.
    assert bearer.delete(path_of_member(marketing, stranger)).status_code == 200


def test_every_member_can_leave_but_not_the_last_owner(
    alice: NewAccount, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.VIEWER)
    assert_refused(mallory.delete(path_of_member(marketing, alice)), 403, "role_required")
    assert mallory.delete(path_of_member(marketing, stranger)).status_code == 200
    assert_refused(mallory.get(path_of(marketing)), 404, "not_found")
    assert_refused(bearer.delete(path_of_member(marketing, alice)), 409, "last_owner")
    assert_refused(bearer.patch(path_of_member(marketing, alice), {"role": "admin"}), 409, "last_owner")
    assert bearer.patch(path_of_member(marketing, alice), {"role": "owner"}).status_code == 200


def test_an_unknown_member_is_404(bearer: APIClient, stranger: NewAccount, marketing: Workspace) -> None:
    assert_refused(bearer.delete(path_of_member(marketing, stranger)), 404, "not_found")
    assert_refused(
        bearer.patch(path_of(marketing, f"/members/{uuid4()}"), {"role": "viewer"}), 404, "not_found"
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["leave", "step down"])
def test_of_two_owners_who_go_at_once_one_stays(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, way: str
) -> None:
    add_member(marketing, stranger, Role.OWNER)

    def go(user: Any) -> str:
        try:
            if way == "leave":
                workspaces.remove_member(workspace=marketing, actor=user, member_id=user.public_id)
            else:
                workspaces.change_role(
                    workspace=marketing, actor=user, member_id=user.public_id, role=Role.VIEWER
                )
        except ServiceError as refusal:
            return refusal.code
        return "gone"

    outcomes = at_once([partial(go, user) for user in (alice.user, stranger.user)])
    assert Counter(outcomes) == {"gone": 1, "last_owner": 1}
    assert Member.objects.filter(workspace=marketing, role=Role.OWNER).count() == 1
