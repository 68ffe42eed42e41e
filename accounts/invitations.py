"""Invitations to workspaces. A token works once and for `INVITATION_DAYS`. It is shown once and stored as a digest."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from accounts.caps import lock_count
from accounts.history import authored_transaction, record_change
from accounts.mails import is_plain, send_mail, spend_mail
from accounts.models import INVITATION_DAYS, Invitation, Member, User, Workspace
from accounts.rights import Role
from accounts.selectors import pending_invitations
from accounts.workspaces import (
    PersonalWorkspace,
    require_free_membership,
    require_free_ownership,
    require_member,
    withdraw_invitations,
)
from common.errors import Conflict, Forbidden, NotFound

MAX_PENDING = 100
INVITATION_PATH = "/accounts/invitations/{token}/"
# The list of members is not paginated.
MAX_MEMBERS = 1_000


class InvitationNotFound(NotFound):
    message = "Invitation not found."


class TooManyInvitations(Forbidden):
    code = "quota_exceeded"
    message = f"A workspace may have at most {MAX_PENDING} pending invitations. Withdraw one first."


class TooManyMembers(Forbidden):
    code = "quota_exceeded"
    message = f"A workspace may have at most {MAX_MEMBERS} members."


class InvitationForAnother(Forbidden):
    code = "invitation_for_another"
    message = "The invitation is for another e-mail address."


class AlreadyMember(Conflict):
    code = "already_member"
    message = "The account is already a member of this workspace. The invitation remains valid."


class NewInvitation(NamedTuple):
    invitation: Invitation
    token: str


def find_invitation(token: str) -> Invitation | None:
    """The invitation of a token that an account can accept."""
    return _acceptable().filter(digest=_digest(token)).select_related("workspace", "invited_by").first()


def is_invited(email: str) -> bool:
    """Whether an invitation that an account can accept is for this address."""
    return _acceptable().filter(email=email.lower()).exists()


def invite(*, workspace: Workspace, inviter: User, role: Role, email: str = "") -> NewInvitation:
    """Mails the invitation if it has an address and the service sends mails.

    Raises PersonalWorkspace, TooManyInvitations, TooManyAttempts after too many mails, NotFound, or RoleRequired: only
    owners invite owners.
    """
    if workspace.is_personal:
        raise PersonalWorkspace
    token = secrets.token_urlsafe(32)
    invitation = Invitation(
        workspace=workspace,
        role=role,
        email=email.lower(),
        digest=_digest(token),
        invited_by=inviter,
    )
    with authored_transaction():
        lock_count(workspace)
        require_member(workspace, inviter, Role.OWNER if role == Role.OWNER else Role.ADMIN)
        Invitation.objects.filter(workspace=workspace, expires_at__lte=Now()).delete()
        if pending_invitations(workspace).count() >= MAX_PENDING:
            raise TooManyInvitations
        invitation.save(force_insert=True)
        bound = {"email": "set"} if invitation.email else {}
        _record(invitation, "created", after={"role": role, **bound})
        if email and settings.SENDS_MAIL:
            spend_mail(cause=f"account {inviter.pk}", email=email)
            transaction.on_commit(partial(mail_invitation, invitation, token))
    return NewInvitation(invitation, token)


def mail_invitation(invitation: Invitation, token: str) -> None:
    """The only part of the text that the inviter can choose is a plain address, so it cannot be used for advertising.

    If the mail cannot be sent, the inviter still has the token.
    """
    address = invitation.invited_by.email
    inviter = address if is_plain(address) else "A member"
    text = (
        f"{inviter} invites you to a workspace at {settings.BASE_HOST}. Your role will be {invitation.role}."
        f" To accept, open this link within {INVITATION_DAYS} days:\n\n"
        f"{settings.BASE_URL}{INVITATION_PATH.format(token=token)}\n\n"
        "If you do not know the sender, ignore this mail."
    )
    send_mail(invitation.email, "Invitation", text)


def withdraw(*, workspace: Workspace, actor: User, public_id: UUID) -> None:
    """Raises InvitationNotFound, RoleRequired or NotFound."""
    with authored_transaction():
        lock_count(workspace)
        require_member(workspace, actor, Role.ADMIN)
        withdrawn = withdraw_invitations(workspace.pk, public_id=public_id)
    if not withdrawn:
        raise InvitationNotFound


def accept(*, account: User, token: str) -> Member:
    """Raises InvitationNotFound.

    InvitationForAnother, AlreadyMember, TooManyMembers, TooManyMemberships and TooManyWorkspaces leave the invitation
    valid.
    """
    pending = _acceptable().filter(digest=_digest(token)).select_related("workspace")
    with authored_transaction():
        invitation = pending.first()
        if invitation is None:
            raise InvitationNotFound
        if invitation.email not in ("", account.email):
            raise InvitationForAnother
        # The workspace before its invitations, as all changes of members lock them.
        lock_count(invitation.workspace)
        # Of several concurrent calls, the first one to get the lock has deleted the invitation.
        invitation = pending.select_for_update(of=("self",)).first()
        if invitation is None:
            raise InvitationNotFound
        members = Member.objects.filter(workspace=invitation.workspace)
        if members.filter(user=account).exists():
            raise AlreadyMember
        if members.count() >= MAX_MEMBERS:
            raise TooManyMembers
        require_free_membership(account)
        if invitation.role == Role.OWNER:
            require_free_ownership(account)
        member = Member(workspace=invitation.workspace, user=account, role=invitation.role)
        member.save(force_insert=True)
        _record(invitation, "accepted", before={"role": invitation.role})
        invitation.delete()
    return member


def _acceptable() -> QuerySet[Invitation]:
    """Invitations that have not expired, of inviters whose accounts are active."""
    return Invitation.objects.filter(expires_at__gt=Now(), invited_by__is_active=True)


def _record(invitation: Invitation, event: str, **values: Mapping[str, str]) -> None:
    """Record whether the invitation has an e-mail address, but never the address."""
    record_change(
        owner_id=invitation.workspace_id,
        object_id=invitation.public_id,
        action=f"invitation.{event}",
        **values,
    )


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
