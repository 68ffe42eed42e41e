"""Changes of workspaces beside other requests: the database decides, and nobody gets a 500."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django.fixtures import Settings

from accounts import invitations, workspaces
from accounts.caps import lock_count
from accounts.models import Invitation, Member, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from accounts.workspaces import TooManyWorkspaces
from common.errors import NotFound, RoleRequired, ServiceError
from domains.models import Domain
from links.models import Link
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.connections import is_a_connection_blocked
from testing.polling import eventually
from testing.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def in_background(call: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        try:
            return call()
        except NotFound as error:
            return error
        finally:
            connection.close()

    return run


def test_an_acceptance_waits_for_a_change_of_the_inviter_without_a_deadlock(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    """The change withdraws the invitation that the other transaction is about to accept."""
    inviter = add_member(marketing, stranger, Role.ADMIN).user
    token = invitations.invite(workspace=marketing, inviter=inviter, role=Role.VIEWER).token
    with ThreadPoolExecutor(1) as background:
        with transaction.atomic():
            lock_count(marketing)
            accepted = background.submit(
                in_background(lambda: invitations.accept(account=alice.user, token=token))
            )
            eventually(is_a_connection_blocked)
            workspaces.change_role(
                workspace=marketing, actor=alice.user, member_id=inviter.public_id, role=Role.EDITOR
            )
        assert accepted.result().message == "Invitation not found."
    assert not Invitation.objects.exists()


def test_a_deletion_by_a_former_owner_is_refused(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    """Authentication has read the role of the owner, which another request then changed."""
    add_member(marketing, stranger, Role.ADMIN)
    with pytest.raises(RoleRequired):
        workspaces.delete_workspace(workspace=marketing, actor=stranger.user)
    assert Member.objects.filter(workspace=marketing).count() == 2
    workspaces.delete_workspace(workspace=marketing, actor=alice.user)
    with pytest.raises(NotFound):
        workspaces.delete_workspace(workspace=marketing, actor=alice.user)


def test_former_admin_cannot_withdraw_an_invitation(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    """Authentication has read the role of the admin, which another request then changed."""
    invitation = invitations.invite(workspace=marketing, inviter=alice.user, role=Role.VIEWER).invitation
    add_member(marketing, stranger, Role.EDITOR)
    with pytest.raises(RoleRequired):
        invitations.withdraw(workspace=marketing, actor=stranger.user, public_id=invitation.public_id)
    assert Invitation.objects.count() == 1


def test_a_deleted_workspace_cannot_be_renamed(alice: NewAccount, marketing: Workspace) -> None:
    workspaces.delete_workspace(workspace=marketing, actor=alice.user)
    with pytest.raises(NotFound):
        workspaces.change_workspace(workspace=marketing, changes={"name": "Sales"})


BODIES = {
    "/api/urls": {"originalUrl": "https://example.com/"},
    "/api/domains": {"domain": "go.brand.example"},
    "/api/workspaces/{id}/invitations": {"role": "viewer"},
}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("quota", [0, 10])
def test_a_creation_in_a_workspace_that_is_being_deleted_is_404(
    alice: NewAccount, marketing: Workspace, settings: Settings, path: str, quota: int
) -> None:
    settings.LINK_QUOTAS = dict.fromkeys(settings.LINK_QUOTAS, quota)
    client = key_client_in(marketing, alice.api_key)
    url = path.format(id=marketing.public_id)
    with ThreadPoolExecutor(1) as background:
        with transaction.atomic():
            workspaces.delete_workspace(workspace=marketing, actor=alice.user)
            created = background.submit(in_background(lambda: client.post(url, BODIES[path])))
            eventually(is_a_connection_blocked)
        response = created.result()
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert not Link.objects.exists()
    assert not Domain.objects.exists()


def test_concurrent_ways_to_own_workspaces_do_not_exceed_the_limit(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    """The account creates a workspace while it accepts an invitation and is promoted. One of the three succeeds."""
    settings.WORKSPACES_PER_ACCOUNT = 3
    promoting = team(alice, "Sales")
    settings.WORKSPACES_PER_ACCOUNT = 1
    add_member(promoting, stranger, Role.ADMIN)
    token = invitations.invite(workspace=marketing, inviter=alice.user, role=Role.OWNER).token
    account = stranger.user

    def outcome(call: Callable[[], Any]) -> str:
        try:
            call()
        except ServiceError as error:
            return error.code
        return "owner"

    calls: list[Callable[[], Any]] = [
        lambda: workspaces.create_workspace(creator=account, name="Own"),
        lambda: invitations.accept(account=account, token=token),
        lambda: workspaces.change_role(
            workspace=promoting, actor=alice.user, member_id=account.public_id, role=Role.OWNER
        ),
    ]
    outcomes = at_once([partial(outcome, call) for call in calls])
    assert sorted(outcomes) == ["owner", "quota_exceeded", "quota_exceeded"]
    owned = Member.objects.filter(user=account, role=Role.OWNER, workspace__account=None)
    assert owned.count() == 1


def test_promotion_waits_for_a_creation_of_the_same_account(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    settings.WORKSPACES_PER_ACCOUNT = 1
    member = add_member(marketing, stranger, Role.ADMIN).user

    def promote() -> Any:
        try:
            workspaces.change_role(
                workspace=marketing, actor=alice.user, member_id=member.public_id, role=Role.OWNER
            )
        except TooManyWorkspaces as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as background:
        with transaction.atomic():
            workspaces.create_workspace(creator=member, name="Own")
            promoted = background.submit(promote)
            eventually(is_a_connection_blocked)
        assert promoted.result().code == "quota_exceeded"
    assert Member.objects.get(workspace=marketing, user=member).role == Role.ADMIN
