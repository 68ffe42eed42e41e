"""Changes that users make to their own accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from accounts.models import EndReason, Session, User
from accounts.services import (
    LOGIN_KNOWN_FOR,
    PasswordLoginOff,
    change_account,
    check_new_password,
    login_attempt,
    record_new_password,
)
from accounts.sessions.lifecycle import SessionEnded, end, issue_time, lock_password
from accounts.sessions.tokens import TokenPair, issue_tokens, password_fingerprint
from common.errors import FieldError, Forbidden, InvalidFields


class EmailImmutable(InvalidFields):
    def __init__(self) -> None:
        super().__init__([FieldError("email", "immutable", "Cannot be changed.")])


class WrongPassword(InvalidFields):
    def __init__(self) -> None:
        super().__init__([FieldError("currentPassword", "wrong", "The current password is wrong.")])


class BrowserSession(Forbidden):
    """The tokens of a new password would be of the wrong kind: a browser gets no refresh token."""

    code = "browser_session"
    message = "This is the token of a browser's session. Change the password at /accounts/password/change/."


def change_profile(*, user: User, changes: Mapping[str, Any]) -> None:
    """``changes`` has attributes of the account. Raises InvalidFields for a different e-mail address."""
    if changes.get("email", user.email).lower() != user.email:
        raise EmailImmutable
    change_account(user=user, changes={name: value for name, value in changes.items() if name != "email"})


def change_password(
    *, user: User, session: int, current_password: str, new_password: str, address: str
) -> TokenPair:
    """Ends all sessions of the account except ``session``, and returns new tokens of that one.

    A wrong current password counts as a failed login. Raises PasswordLoginOff, BrowserSession, TooManyAttempts,
    InvalidFields, or SessionEnded if another request ended the session meanwhile.
    """
    if not settings.PASSWORD_LOGIN:
        raise PasswordLoginOff
    if Session.objects.filter(pk=session, browser_session__isnull=False).exists():
        raise BrowserSession
    check_new_password(new_password, user, field="newPassword")
    with login_attempt(email=user.email, address=address) as attempt:
        if not user.check_password(current_password):
            raise WrongPassword
        attempt.succeeded(known_for=LOGIN_KNOWN_FOR)
        changed = User(pk=user.pk, public_id=user.public_id)
        changed.set_password(new_password)
    with transaction.atomic():
        if not lock_password(user):
            raise WrongPassword
        changed.save(update_fields=["password"])
        record_new_password(changed)
        end(Session.objects.filter(user=user).exclude(pk=session), EndReason.PASSWORD)
        return issue_tokens(changed, _renew(session, changed))


def set_password(user: User, password: str, *, browser_session: str | None = None) -> None:
    """Ends all sessions of the account except that of the browser, `accounts.sessions.browser`.

    The caller has checked the password, and that its sender may change it.
    """
    user.set_password(password)
    sessions = Session.objects.filter(user=user)
    with transaction.atomic():
        user.save(update_fields=["password"])
        record_new_password(user)
        if browser_session is not None:
            kept = sessions.filter(browser_session=browser_session, ended_at=None)
            kept.update(password_fingerprint=password_fingerprint(user))
            sessions = sessions.exclude(browser_session=browser_session)
        end(sessions, EndReason.PASSWORD)


def _renew(session: int, user: User) -> Session:
    """Makes the tokens of the session valid under the account's new password. Raises SessionEnded."""
    renewed = Session.objects.filter(pk=session, ended_at=None).update(
        generation=F("generation") + 1,
        issued_at=issue_time(),
        rotated_at=Now(),
        password_fingerprint=password_fingerprint(user),
    )
    if not renewed:
        raise SessionEnded
    return Session.objects.get(pk=session)
