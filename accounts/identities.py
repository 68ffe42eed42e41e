"""The identities of the OpenID provider that are connected with an account, and therefore log in to it."""

from __future__ import annotations

from functools import partial

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from accounts.caps import lock_account
from accounts.history import authored_transaction
from accounts.mails import mail_language, send_mail
from accounts.models import EndReason, Session, User
from accounts.sessions.lifecycle import end, end_other_sessions
from common.errors import Conflict

# The session of a browser that logged in with the provider: the URL there that ends the provider's own session.
PROVIDER_LOGOUT = "provider_logout"


class LastWayIn(Conflict):
    message = "This is the only way to sign in to your account. Connect another identity first, or ask the operator."


def identities_of(user: User) -> QuerySet[SocialAccount]:
    """The identities of an account, oldest first."""
    identities: QuerySet[SocialAccount] = SocialAccount.objects.filter(user=user).order_by("pk")
    return identities


def connect(user: User, identity: SocialAccount) -> None:
    """A unique constraint decides to which account an identity belongs. Raises IntegrityError."""
    with authored_transaction():
        SocialAccount.objects.create(
            user=user, provider=identity.provider, uid=identity.uid, extra_data=identity.extra_data
        )


def disconnect(user: User, primary_key: int, browser_session: str | None) -> SocialAccount | None:
    """Disconnect an identity and end all sessions except that of this browser: the identity may have opened them.

    Returns None if the account does not have the identity. Raises LastWayIn. Passkeys do not count as another way,
    because their owner can remove the last one.
    """
    with authored_transaction():
        lock_account(user.pk)
        identity = identities_of(user).filter(pk=primary_key).first()
        if identity is None:
            return None
        has_password = settings.PASSWORD_LOGIN and User.objects.get(pk=user.pk).has_usable_password()
        if not has_password and not identities_of(user).exclude(pk=primary_key).exists():
            raise LastWayIn
        end_other_sessions(user, browser_session)
        identity.delete()
    return identity


def disconnect_all(user: User) -> int:
    """Disconnect all, for an operator: ends all sessions, and mails the owner. Returns the number of identities."""
    with authored_transaction():
        lock_account(user.pk)
        _, by_model = identities_of(user).delete()
        removed = by_model.get(SocialAccount._meta.label, 0)
        if removed:
            end(Session.objects.filter(user=user), EndReason.REVOKED)
            with mail_language(user):
                text = gettext("An operator has disconnected your account from single sign-on.")
                _mail_later(user, gettext("Single sign-on disconnected"), text)
    return removed


def describe(identity: SocialAccount) -> str:
    address = identity.extra_data.get("email") if isinstance(identity.extra_data, dict) else None
    connected = gettext("{identity}, connected on {date}")
    return connected.format(
        identity=address or gettext("An identity"), date=f"{identity.date_joined:%Y-%m-%d}"
    )


def mail_after_new_password(user: User) -> None:
    """After the commit, tell the owner which identities still log in: a new password does not disconnect them."""
    if identities := [*identities_of(user).select_related("user")]:
        with mail_language(user):
            lines = "\n".join(f"- {describe(identity)}" for identity in identities)
            changed = gettext(
                "Your password was changed. These identities of single sign-on still sign in to your account:"
            )
            ending = gettext("If you do not recognise one, disconnect it:")
            text = f"{changed}\n\n{lines}\n\n{ending} {settings.BASE_URL}/accounts/"
            _mail_later(identities[0].user, gettext("Who can still sign in to your account"), text)


def _mail_later(user: User, subject: str, text: str) -> None:
    if settings.SENDS_MAIL:
        transaction.on_commit(partial(send_mail, user.email, subject, text))
