"""Changes of workspaces and of their members, and the limits on how many an account owns or joins.

The limits are checked wherever a membership or an owner is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.dispatch import Signal

from accounts.callers import require_role
from accounts.caps import limits_owner, lock_account, lock_count
from accounts.history import authored_transaction, name_author, record_change
from accounts.models import Invitation, Member, ScopedKey, User, Workspace
from accounts.rights import Plan, Role
from common.database import execute, fetch, in_one_transaction
from common.errors import Conflict, Forbidden, NotFound, RoleRequired, WorkspaceNotFound
from limits.attempts import Limit, spend_attempt

# The list of workspaces is not paginated.
MAX_MEMBERSHIPS = 1_000


class TooManyMemberships(Forbidden):
    code = "quota_exceeded"
    message = f"An account may be a member of at most {MAX_MEMBERSHIPS} workspaces."


class TooManyWorkspaces(Forbidden):
    code = "quota_exceeded"

    def __init__(self, cap: int) -> None:
        super().__init__(f"An account may own at most {cap} workspaces besides its personal one.")


def require_free_ownership(account: User) -> None:
    """Lock the account's row and count its workspaces: the count is valid until the transaction ends.

    A caller that also locks the workspace does so before, so that no two transactions wait for each other. Raises
    TooManyWorkspaces.
    """
    lock_account(account.pk)
    cap = settings.WORKSPACES_PER_ACCOUNT
    owned = Member.objects.filter(user=account, role=Role.OWNER, workspace__account=None)
    if cap and owned.count() >= cap:
        raise TooManyWorkspaces(cap)


def require_free_membership(account: User) -> None:
    """Lock the account's row and count its memberships, like `require_free_ownership`. Raises TooManyMemberships."""
    lock_account(account.pk)
    if Member.objects.filter(user=account).count() >= MAX_MEMBERSHIPS:
        raise TooManyMemberships


# Runs in the caller's transaction, which names the author.
_WITHDRAW = """
DELETE FROM accounts_invitation
WHERE workspace_id = %(workspace)s AND (
    public_id = %(invitation)s OR invited_by_id = %(inviter)s AND role = coalesce(%(role)s, role)
)
RETURNING accounts_record_change(
    workspace_id, public_id, 'invitation.withdrawn', jsonb_build_object('role', role), '{}'
)
"""


def withdraw_invitations(
    workspace_id: int,
    *,
    public_id: UUID | None = None,
    inviter_id: int | None = None,
    role: Role | None = None,
) -> int:
    """Withdraw the invitation with this id, or all of this inviter, and return their number.

    With ``role``, withdraw only those invitations of the inviter that offer this role.
    """
    values = {"workspace": workspace_id, "invitation": public_id, "inviter": inviter_id, "role": role}
    return execute(_WITHDRAW, values)


# From the sequence of the accounts, so that a team's workspace never has the number of an account.
_NEXT_NUMBER = "SELECT nextval(pg_get_serial_sequence('accounts_user', 'id'))"
# Foreign keys refuse it if the workspace owns a link, a domain or a QR code. The ORM would look for, and delete, these
# first.
_DELETE = "DELETE FROM accounts_workspace WHERE id = %s"


# Sent in the transaction of a deletion, before it, with the ``workspace`` and its ``heir``: the personal workspace to
# which passes what the deleted one has spent.
workspace_deleted = Signal()


class PersonalWorkspace(Conflict):
    code = "personal_workspace"
    message = "A personal workspace belongs to one account only. It can be neither shared nor deleted."


class WorkspaceNotEmpty(Conflict):
    code = "workspace_not_empty"
    message = "The workspace still has links, domains or QR codes. Move or delete them first."


class LastOwner(Conflict):
    code = "last_owner"
    message = "A workspace must keep an owner. Make another member the owner first."


def create_workspace(*, creator: User, name: str) -> Member:
    """Creates a workspace for a team, with the plan and the membership of its creator.

    Raises TooManyMemberships, TooManyWorkspaces, or TooManyAttempts after too many creations in a day, deleted
    workspaces included.
    """
    with authored_transaction():
        if settings.WORKSPACES_PER_DAY:
            limit = Limit(attempts=settings.WORKSPACES_PER_DAY, seconds=24 * 60 * 60)
            spend_attempt(f"workspaces of {creator.pk}", limit)
        require_free_membership(creator)
        require_free_ownership(creator)
        [(number,)] = fetch(_NEXT_NUMBER)
        workspace = Workspace(pk=number, name=name, team_plan=creator.plan)
        workspace.save(force_insert=True)
        member = Member(workspace=workspace, user=creator, role=Role.OWNER)
        member.save(force_insert=True)
    return member


def change_workspace(*, workspace: Workspace, changes: Mapping[str, Any]) -> None:
    """Raises NotFound if another request has deleted the workspace."""
    with authored_transaction():
        if not Workspace.objects.filter(pk=workspace.pk).update(**changes):
            raise WorkspaceNotFound
    for name, value in changes.items():
        setattr(workspace, name, value)


def change_plan(*, workspace: Workspace, plan: Plan) -> None:
    """The plan of a team. Raises PersonalWorkspace: a personal workspace has the plan of its account."""
    if workspace.is_personal:
        raise PersonalWorkspace
    with authored_transaction():
        Workspace.objects.filter(pk=workspace.pk).update(team_plan=plan)


def delete_workspace(*, workspace: Workspace, actor: User) -> None:
    """Delete an empty workspace and its history. The history of the actor's personal workspace records the deletion.

    Raises NotFound, RoleRequired, PersonalWorkspace or WorkspaceNotEmpty, and then changes nothing.
    """
    if workspace.is_personal:
        raise PersonalWorkspace
    try:
        in_one_transaction(lambda: _delete(workspace, actor))
    except IntegrityError:
        raise WorkspaceNotEmpty from None


def _delete(workspace: Workspace, actor: User) -> None:
    name_author()
    lock_count(workspace)
    require_member(workspace, actor, Role.OWNER)
    owner = limits_owner(workspace)
    heir = actor.pk if owner == workspace.pk else owner
    workspace_deleted.send(sender=Workspace, workspace=workspace, heir=heir)
    Invitation.objects.filter(workspace=workspace).delete()
    # Those of members end with the memberships.
    ScopedKey.objects.filter(workspace=workspace, user=None).delete()
    Member.objects.filter(workspace=workspace).delete()
    execute(_DELETE, [workspace.pk])
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    record_change(
        owner_id=actor.pk,
        object_id=workspace.public_id,
        action="workspace.deleted",
        before={"name": workspace.name, "plan": workspace.team_plan},
    )


def change_role(*, workspace: Workspace, actor: User, member_id: UUID, role: Role | None) -> Member:
    """Give a member this role. Without ``role``, the member keeps the former one.

    Raises NotFound, RoleRequired, LastOwner or TooManyWorkspaces.
    """
    with authored_transaction():
        member, actors_role = _lock_member(workspace, actor, member_id)
        if role is None:
            return member
        _require(actors_role, member.role, role)
        if role != Role.OWNER:
            _keep_an_owner(member)
        elif member.role != Role.OWNER:
            require_free_ownership(member.user)
        _save_role(member, role)
    return member


def remove_member(*, workspace: Workspace, actor: User, member_id: UUID) -> None:
    """Members of any role can remove themselves. Raises NotFound, RoleRequired or LastOwner."""
    with authored_transaction():
        member, actors_role = _lock_member(workspace, actor, member_id)
        if member.user_id != actor.pk:
            _require(actors_role, member.role)
        _keep_an_owner(member)
        _withdraw_invitations(member)
        member.delete()


def require_member(workspace: Workspace, account: User, required: Role) -> None:
    """Check the role again, under the lock: another request may have changed it since authentication read it.

    Raises RoleRequired, or NotFound if the account is no longer a member.
    """
    member = Member.objects.filter(workspace=workspace, user=account).first()
    require_role(None if member is None else Role(member.role), required)


def _lock_member(workspace: Workspace, actor: User, member_id: UUID) -> tuple[Member, Role]:
    """The member, and the role of the actor. Both stay as they are until the transaction ends."""
    lock_count(workspace)
    members = Member.objects.filter(workspace=workspace).select_related("user")
    member = members.filter(user__public_id=member_id).first()
    own = members.filter(user=actor).first()
    if member is None or own is None:
        raise NotFound("Member not found.")
    return member, Role(own.role)


def _require(actors_role: Role, *roles: str) -> None:
    """Refuse a role that may not do this: only owners decide who is an owner."""
    required = Role.OWNER if Role.OWNER in roles else Role.ADMIN
    if not actors_role.includes(required):
        raise RoleRequired(required)


def _keep_an_owner(member: Member) -> None:
    owners = Member.objects.filter(workspace_id=member.workspace_id, role=Role.OWNER, user__is_active=True)
    if member.role == Role.OWNER and not owners.exclude(user=member.user_id).exists():
        raise LastOwner


def _save_role(member: Member, role: Role) -> None:
    member.role = role
    member.save(update_fields=["role"])
    if not role.includes(Role.ADMIN):
        _withdraw_invitations(member)
    elif role != Role.OWNER:
        _withdraw_invitations(member, Role.OWNER)


def _withdraw_invitations(member: Member, role: Role | None = None) -> None:
    """A member must not regain or hand out a role by an invitation that the member could no longer create."""
    withdraw_invitations(member.workspace_id, inviter_id=member.user_id, role=role)
