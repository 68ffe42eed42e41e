"""Sessions of browsers that signed in through a page of the service.

The content of such a session is a row in django_session, whose key is in a cookie: `accounts.sessions.store`.
A row in accounts_session, inserted at sign-in, lists the session beside those of the API and can end it. Neither
outlives the other. A front end in such a browser gets access tokens, but no refresh token, so none can be stolen.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import DateTimeField, Q
from django.db.models.functions import Coalesce, Now

from accounts.callers import USE_SECONDS
from accounts.models import Session, User
from accounts.sessions.lifecycle import insert_session, issue_time, lock_password
from accounts.sessions.tokens import issue_access_token, password_fingerprint
from common.database import read_first
from common.errors import Forbidden

# Short, because an attacker's script in a page could send the token elsewhere.
TOKEN_LIFETIME = timedelta(minutes=5)

_RECORD_USE = f"""
UPDATE accounts_session SET last_used_at = statement_timestamp()
WHERE browser_session = %s AND ended_at IS NULL
  AND last_used_at < statement_timestamp() - interval '{USE_SECONDS} s'
"""  # noqa: S608 # composed of constants


# Longer than ACCOUNT_REAUTHENTICATION_TIMEOUT, within which allauth's pages ask nothing of a user again.
CONFIRMED_FOR = timedelta(minutes=10)


class ConfirmationRequired(Forbidden):
    code = "confirmation_required"
    message = "Confirm that it is you: open /accounts/confirm/ in this browser, and repeat the request."


class BrowserToken(NamedTuple):
    access: str
    # Seconds.
    lifetime: int


def register_browser(user: User, browser_session: str, user_agent: str, expires_at: datetime) -> None:
    """Insert the session of a browser that has just signed in, unless it did so before.

    ``browser_session`` is the primary key of its row in django_session. If the account's password is no longer the one
    in ``user``, inserts nothing: the browser's session is not valid either.
    """
    with transaction.atomic():
        if not lock_password(user) or confirm_browser(browser_session):
            return
        insert_session(
            user, user_agent, now=issue_time(), expires_at=expires_at, browser_session=browser_session
        )


def confirm_browser(browser_session: str) -> bool:
    """Record that the user logged in again, or confirmed the login. Return whether the session is registered."""
    return bool(Session.objects.filter(browser_session=browser_session).update(confirmed_at=Now()))


def require_recent_login(session: int) -> None:
    """Raises ConfirmationRequired if it is the session of a browser, and its user has not just proved who they are.

    Sessions that began with POST /api/auth/login need no more than their token, which only a password gets.
    """
    recent = Coalesce("confirmed_at", "created_at", output_field=DateTimeField())
    sessions = Session.objects.annotate(recent=recent).filter(pk=session)
    if not sessions.filter(Q(browser_session=None) | Q(recent__gt=Now() - CONFIRMED_FOR)).exists():
        raise ConfirmationRequired


def token_for_browser(user: User, browser_session: str) -> BrowserToken | None:
    """An access token. None if the session has ended, or the account's password is no longer the one in ``user``."""
    now = issue_time()
    sessions = Session.objects.filter(
        browser_session=browser_session,
        user=user,
        ended_at=None,
        password_fingerprint=password_fingerprint(user),
        expires_at__gt=now,
    )
    session = read_first(sessions.first)
    if session is None:
        return None
    lifetime = min(TOKEN_LIFETIME, session.expires_at - now)
    return BrowserToken(
        issue_access_token(user, session, now=now, lifetime=TOKEN_LIFETIME), int(lifetime.total_seconds())
    )


def record_use(browser_session: str) -> None:
    """Record the time of use for the list of sessions, exact to USE_SECONDS."""
    with connection.cursor() as cursor:
        cursor.execute(_RECORD_USE, [browser_session])
