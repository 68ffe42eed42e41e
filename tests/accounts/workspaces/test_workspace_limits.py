"""The limits of workspaces, members and invitations, also for concurrent requests."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts import invitations, workspaces
from accounts.models import Member, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from common.errors import NotFound
from testing.accounts.accounts import account
from testing.accounts.fixtures import mallory as mallory
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import add_member, team
from testing.threads import at_once
from tests.accounts.workspaces.members import accept, assert_refused, invitation_of, path_of, path_of_member


def test_promotion_beyond_the_limit_of_owned_workspaces_is_403(
    settings: Settings,
    alice: NewAccount,
    bearer: APIClient,
    stranger: NewAccount,
    marketing: Workspace,
) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 1
    team(stranger)
    add_member(marketing, stranger, Role.ADMIN)
    path = path_of_member(marketing, stranger)
    assert_refused(bearer.patch(path, {"role": "owner"}), 403, "quota_exceeded")
    assert Member.objects.get(workspace=marketing, user=stranger.user).role == "admin"
    # An owner stays an owner, whatever the limit.
    assert bearer.patch(path_of_member(marketing, alice), {"role": "owner"}).status_code == 200
    settings.WORKSPACES_PER_ACCOUNT = 2
    assert bearer.patch(path, {"role": "owner"}).status_code == 200


def test_acceptance_as_owner_beyond_the_limit_of_owned_workspaces_is_403(
    settings: Settings, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 1
    team(stranger)
    as_owner = invitation_of(bearer, marketing, role="owner")["token"]
    assert_refused(accept(mallory, as_owner), 403, "quota_exceeded")
    assert not Member.objects.filter(workspace=marketing, user=stranger.user).exists()
    settings.WORKSPACES_PER_ACCOUNT = 2
    assert accept(mallory, as_owner).status_code == 200


def test_acceptance_as_admin_ignores_the_limit_of_owned_workspaces(
    settings: Settings, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 1
    team(stranger)
    assert accept(mallory, invitation_of(bearer, marketing, role="admin")["token"]).status_code == 200


def test_pending_invitations_members_and_memberships_are_limited(
    bearer: APIClient, mallory: APIClient, marketing: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitations, "MAX_PENDING", 1)
    token = invitation_of(bearer, marketing)["token"]
    refused = bearer.post(path_of(marketing, "/invitations"), {"role": "viewer"})
    assert_refused(refused, 403, "quota_exceeded")
    monkeypatch.setattr(invitations, "MAX_MEMBERS", 1)
    assert_refused(accept(mallory, token), 403, "quota_exceeded")
    monkeypatch.setattr(invitations, "MAX_MEMBERS", 2)
    monkeypatch.setattr(workspaces, "MAX_MEMBERSHIPS", 1)
    assert_refused(accept(mallory, token), 403, "quota_exceeded")
    assert_refused(mallory.post("/api/workspaces", {"name": "x"}), 403, "quota_exceeded")
    monkeypatch.setattr(workspaces, "MAX_MEMBERSHIPS", 2)
    assert accept(mallory, token).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_an_invitation_accepted_at_once_admits_one(alice: NewAccount, marketing: Workspace) -> None:
    invited = [account(f"invited{number}@example.com").user for number in range(4)]
    token = invitations.invite(workspace=marketing, inviter=alice.user, role=Role.VIEWER).token

    def join(user: Any) -> bool:
        try:
            invitations.accept(account=user, token=token)
        except NotFound:
            return False
        return True

    assert Counter(at_once([partial(join, user) for user in invited])) == {True: 1, False: 3}
    assert Member.objects.filter(workspace=marketing).count() == 2
