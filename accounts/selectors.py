"""Reads of accounts, workspaces and their members."""

from __future__ import annotations

from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from accounts.models import ApiKey, Invitation, Member, User, Workspace
from accounts.rights import Role
from common.database import read_first
from common.ids import find_by_public_id


def user_of_email(email: str) -> User | None:
    return read_first(User.objects.filter(email=email.lower()).first)


def key_of(user: User) -> ApiKey | None:
    return read_first(ApiKey.objects.filter(user=user).first)


def memberships_of(account: User) -> QuerySet[Member]:
    """The workspaces of an account with its roles: the personal one first, then the oldest."""
    members = Member.objects.filter(user=account).select_related("workspace__account")
    return members.order_by(F("workspace__account_id").asc(nulls_last=True), "workspace_id")


def find_membership(account: User, public_id: str) -> Member | None:
    """The account's membership of the workspace with this id, or None without one."""
    return find_by_public_id(memberships_of(account), public_id, lookup="workspace__public_id")


def members_of(workspace: Workspace) -> QuerySet[Member]:
    """The members, in the order in which they joined."""
    return Member.objects.filter(workspace=workspace).select_related("user").order_by("created_at", "user_id")


def is_owner(*, workspace: Workspace, member_id: UUID) -> bool:
    return Member.objects.filter(workspace=workspace, user__public_id=member_id, role=Role.OWNER).exists()


def pending_invitations(workspace: Workspace) -> QuerySet[Invitation]:
    """The invitations that neither were accepted nor have expired, the newest first."""
    return Invitation.objects.filter(workspace=workspace, expires_at__gt=Now()).order_by("-id")
