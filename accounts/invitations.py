"""Invitations to workspaces. A token works once and for `INVITATION_DAYS`. It is shown once and stored as a digest.

Its inviter knows the token, so it proves nobody's address. That of a mailed link has a signature, which only the
mailbox gets.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.caps import lock_count
from accounts.history import authored_transaction, record_change
from accounts.mails import MailProblem, is_plain, mail_language, send_mail, spend_mail
from accounts.models import INVITATION_DAYS, Invitation, Member, User, Workspace
from accounts.rights import Role
from accounts.selectors import pending_invitations, user_of_email
from accounts.services import create_account
from accounts.workspaces import (
    PersonalWorkspace,
    require_free_membership,
    require_free_ownership,
    require_member,
    withdraw_invitations,
)
from common.errors import Conflict, Forbidden, NotFound
from common.http.current_request import Actor, AuthMethod, actor
from common.secrets import CurrentKeySigner
from limits.attempts import Limit, spend_attempt

MAX_PENDING = 100
INVITATION_PATH = "/accounts/invitations/{token}/"
# The list of members is not paginated.
MAX_MEMBERS = 1_000
# Each attempt to create an account counts: its failure may tell that the address has one.
_ACCOUNTS_BY_INVITER = Limit(attempts=50, seconds=24 * 60 * 60)
# A name in a mail: with a dot or a longer number, its sender could advertise a site or a telephone.
_PLAIN_NAME = re.compile(r"(?!(?:.*\d){5})[\w&' -]{1,60}")


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
    is_mailed: bool


def find_invitation(token: str) -> Invitation | None:
    """The invitation of a token that an account can accept."""
    return _acceptable().filter(digest=_digest(token)).select_related("workspace", "invited_by").first()


def mailed_token(token: str, email: str) -> str:
    """The token of the link in a mail to this address: whoever shows it has read the mail."""
    return f"{_plain(token)}.{_signer(token).sign_object(email)}"


def proven_address(invitation: Invitation, token: str) -> str | None:
    """The address to which the token was mailed. None: it was handed over in another way."""
    try:
        email: str = _signer(token).unsign_object(token.partition(".")[2])
    except BadSignature:
        return None
    return email if invitation.email in ("", email) else None


def invitation_at(path: str) -> Invitation | None:
    """The invitation of the page with this path."""
    before, after = INVITATION_PATH.split("{token}")
    if not (path.startswith(before) and path.endswith(after)):
        return None
    return find_invitation(path.removeprefix(before).removesuffix(after))


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
        is_mailed = bool(email and settings.SENDS_MAIL)
        if is_mailed:
            spend_mail(cause=f"account {inviter.pk}", email=email)
    return NewInvitation(invitation, token, is_mailed and mail_invitation(invitation, token) is None)


def mail_invitation(invitation: Invitation, token: str) -> MailProblem | None:
    """Of what the inviter can choose, the text has only plain addresses and names, so that it advertises nothing.

    If the mail cannot be sent, the inviter still has the token.
    """
    with mail_language(user_of_email(invitation.email)):
        return send_mail(invitation.email, _("Invitation"), _text_of(invitation, token))


def _text_of(invitation: Invitation, token: str) -> str:
    address, workspace = invitation.invited_by.email, invitation.workspace.name
    values = {
        "inviter": address if is_plain(address) else _("A member"),
        "workspace": workspace,
        "service": settings.BASE_HOST,
        "role": _(invitation.role),
    }
    named = _("{inviter} invites you to the workspace “{workspace}” at {service}. Your role will be {role}.")
    unnamed = _("{inviter} invites you to a workspace at {service}. Your role will be {role}.")
    return "\n\n".join(
        [
            (named if _PLAIN_NAME.fullmatch(workspace) else unnamed).format(**values),
            _("To accept, open this link within {days} days:").format(days=INVITATION_DAYS),
            f"{settings.BASE_URL}{INVITATION_PATH.format(token=mailed_token(token, invitation.email))}",
            _("If you do not know the sender, ignore this mail."),
        ]
    )


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


def spend_account(invitation: Invitation) -> None:
    """Count an account before it is created because of the invitation. Raises TooManyAttempts."""
    spend_attempt(f"accounts invited by {invitation.invited_by_id}", _ACCOUNTS_BY_INVITER)


def accept_as_new_account(
    *, token: str, email: str, password: str, first_name: str, last_name: str, language: str | None = None
) -> Member:
    """Create the account and let it join, or do neither. The caller knows that the address may get the account.

    Raises the errors of `create_account` and of `accept`, and TooManyAttempts after too many accounts by one inviter.
    """
    invitation = find_invitation(token)
    if invitation is None:
        raise InvitationNotFound
    spend_account(invitation)
    with transaction.atomic():
        created = create_account(
            email=email, password=password, first_name=first_name, last_name=last_name, language=language
        )
        # Nobody is signed in yet.
        former = actor.set(Actor(created.user.pk, AuthMethod.PAGE))
        try:
            return accept(account=created.user, token=token)
        finally:
            actor.reset(former)


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
    return hashlib.sha256(_plain(token).encode()).digest()


def _plain(token: str) -> str:
    """Without what `mailed_token` added."""
    return token.partition(".")[0]


def _signer(token: str) -> CurrentKeySigner:
    return CurrentKeySigner(salt=f"invitation {_plain(token)}")
