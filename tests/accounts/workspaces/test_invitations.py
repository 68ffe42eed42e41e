"""Invitations to a workspace."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from rest_framework.test import APIClient

from accounts import invitations
from accounts.models import Invitation, Member, Workspace
from accounts.rights import Role
from accounts.services import NewAccount, set_active
from testing.accounts.accounts import account, bearer_client
from testing.accounts.fixtures import mallory as mallory
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import add_member
from tests.accounts.workspaces.members import accept, assert_refused, invitation_of, path_of, path_of_member


def test_an_invitation_lets_an_account_join_once(
    bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    invitation = invitation_of(bearer, marketing, role="editor")
    listed = bearer.get(path_of(marketing, "/invitations")).json()["data"]["invitations"]
    token, is_mailed = invitation.pop("token"), invitation.pop("mailed")
    assert is_mailed is False
    assert listed == [invitation]
    joined = accept(mallory, token)
    assert joined.status_code == 200
    workspace = joined.json()["data"]["workspace"]
    assert (workspace["_id"], workspace["role"]) == (str(marketing.public_id), "editor")
    another = bearer_client(account("third@example.com").user)
    assert_refused(accept(another, token), 404, "not_found")
    assert bearer.get(path_of(marketing, "/invitations")).json()["data"]["invitations"] == []


def test_the_database_holds_no_token(bearer: APIClient, marketing: Workspace) -> None:
    token = invitation_of(bearer, marketing)["token"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT i::text FROM accounts_invitation i")
        [(row,)] = cursor.fetchall()
    assert token not in row
    assert token.encode().hex() not in row


def test_an_invitation_expires_after_seven_days(
    bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    invitation = invitation_of(bearer, marketing)
    stored = Invitation.objects.get()
    assert timedelta(days=6, hours=23) < stored.expires_at - stored.created_at <= timedelta(days=7)
    Invitation.objects.update(expires_at=Now())
    assert_refused(accept(mallory, invitation["token"]), 404, "not_found")
    assert bearer.get(path_of(marketing, "/invitations")).json()["data"]["invitations"] == []
    invitation_of(bearer, marketing)
    assert Invitation.objects.count() == 1


def test_an_invitation_with_an_address_is_for_that_account_only(
    bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    token = invitation_of(bearer, marketing, email="Grace@Example.com")["token"]
    assert_refused(accept(mallory, token), 403, "invitation_for_another")
    grace = bearer_client(account("grace@example.com").user)
    assert accept(grace, token).status_code == 200


def test_a_member_cannot_accept_and_keeps_the_role(bearer: APIClient, marketing: Workspace) -> None:
    token = invitation_of(bearer, marketing, role="viewer")["token"]
    assert_refused(accept(bearer, token), 409, "already_member")
    assert Member.objects.get(workspace=marketing).role == "owner"
    assert Invitation.objects.count() == 1


def test_a_withdrawn_invitation_does_not_work(
    bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    invitation = invitation_of(bearer, marketing)
    path = path_of(marketing, f"/invitations/{invitation['_id']}")
    assert_refused(mallory.delete(path), 404, "not_found")
    assert bearer.delete(path).status_code == 200
    assert_refused(bearer.delete(path), 404, "not_found")
    assert_refused(accept(mallory, invitation["token"]), 404, "not_found")


@pytest.mark.parametrize("way", ["removed", "demoted"])
def test_who_may_no_longer_invite_loses_pending_invitations(
    way: str, bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.ADMIN)
    invitation_of(mallory, marketing)
    path = path_of_member(marketing, stranger)
    response = bearer.delete(path) if way == "removed" else bearer.patch(path, {"role": "editor"})
    assert (response.status_code, Invitation.objects.count()) == (200, 0)


def test_demoted_owner_loses_pending_invitations_of_owners(
    bearer: APIClient, stranger: NewAccount, mallory: APIClient, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.OWNER)
    for client in (bearer, mallory):
        invitation_of(client, marketing, role="owner")
    kept = invitation_of(mallory, marketing, role="admin")
    owner_invitation = invitation_of(mallory, marketing, role="owner")
    assert bearer.patch(path_of_member(marketing, stranger), {"role": "admin"}).status_code == 200
    left = Invitation.objects.order_by("id").values_list("invited_by__email", "role")
    assert list(left) == [("alice@example.com", "owner"), ("mallory@example.com", "admin")]
    third = bearer_client(account("third@example.com").user)
    assert_refused(accept(third, owner_invitation["token"]), 404, "not_found")
    assert accept(third, kept["token"]).status_code == 200


def test_invitation_of_disabled_account_does_not_work(
    alice: NewAccount, bearer: APIClient, mallory: APIClient, marketing: Workspace
) -> None:
    address = "grace@example.com"
    token = invitation_of(bearer, marketing, email=address)["token"]
    open_token = invitation_of(bearer, marketing)["token"]
    set_active(user=alice.user, is_active=False)
    assert_refused(accept(mallory, open_token), 404, "not_found")
    assert (invitations.find_invitation(token), invitations.is_invited(address)) == (None, False)
    set_active(user=alice.user, is_active=True)
    assert (invitations.find_invitation(token) is None, invitations.is_invited(address)) == (False, True)
    assert accept(mallory, open_token).status_code == 200
