"""The start, the use and the end of sessions, of the API and of browsers.

The content of a browser's session is a row in django_session, whose key is in a cookie: `accounts.sessions.store`.
A row in accounts_session, inserted at sign-in, lists the session beside those of the API and can end it. Neither
outlives the other. A front end in such a browser gets access tokens, but no refresh token, so none can be stolen.

A refresh token works once. A second use ends the session, because one of the users is a thief. A client whose first
response was lost sends its token again. Within `GRACE` it gets the same tokens, not new ones, so that a session never
has two valid refresh tokens.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import DateTimeField, F, Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.callers import USE_SECONDS
from accounts.history import record_change
from accounts.models import EndReason, Session, User
from accounts.second_factor import lacks_second_factor
from accounts.sessions.tokens import (
    ACCESS_LIFETIME,
    REFRESH_LIFETIME,
    Claims,
    TokenPair,
    issue_access_token,
    issue_tokens,
    password_fingerprint,
    read_refresh_token,
)
from common.database import execute, read_first
from common.errors import Forbidden, ServiceError

MAX_SESSIONS = 50
# Operators can see the reason of an end for this long.
ENDED_DAYS = 7
_USER_AGENT_CHARACTERS = 200

# Two conditions, each with its index. A session of a browser stays until it expires: its row is what ends the
# browser's session, too. The next run deletes sessions that a request has locked: a change of password locks
# several in its own order, and waiting for it could deadlock.
_DELETE = f"""
WITH dead AS MATERIALIZED (
    SELECT id FROM accounts_session
    WHERE expires_at < now() - make_interval(secs => %s)
       OR ended_at < now() - interval '{ENDED_DAYS} days' AND browser_session IS NULL
    FOR UPDATE SKIP LOCKED
)
DELETE FROM accounts_session s USING dead WHERE s.id = dead.id
"""  # noqa: S608 # composed of constants


class SessionEnded(ServiceError):
    status = 401
    code = "not_authenticated"
    message = "The token is not valid or has expired."


def live_sessions(user: User) -> QuerySet[Session]:
    """The sessions that have a valid token, newest first. The last access token can outlive the refresh tokens."""
    return Session.objects.filter(
        user=user,
        ended_at=None,
        expires_at__gt=Now() - ACCESS_LIFETIME,
        password_fingerprint=password_fingerprint(user),
    ).order_by("-id")


def start_session(user: User, user_agent: str = "") -> TokenPair | None:
    """Starts a session and ends the oldest above MAX_SESSIONS. Returns its tokens.

    None if the password of the account is no longer the one in ``user``: then its tokens would be invalid.
    """
    now = issue_time()
    with transaction.atomic():
        if not lock_password(user):
            return None
        session = insert_session(user, user_agent, now=now, expires_at=now + REFRESH_LIFETIME)
    return issue_tokens(user, session)


def insert_session(
    user: User,
    user_agent: str,
    *,
    now: datetime,
    expires_at: datetime,
    browser_session: str | None = None,
) -> Session:
    """Inserts a session and ends the oldest above MAX_SESSIONS. The caller has locked the account's password."""
    # With an upper bound, so that the planner reads the index of live sessions in its order.
    excess = live_sessions(user)[MAX_SESSIONS - 1 : 2 * MAX_SESSIONS].values("id")
    end(Session.objects.filter(id__in=excess), EndReason.LIMIT)
    session = Session(
        user=user,
        password_fingerprint=password_fingerprint(user),
        issued_at=now,
        user_agent=_printable(user_agent),
        browser_session=browser_session,
        expires_at=expires_at,
    )
    session.save(force_insert=True)
    return session


def issue_time() -> datetime:
    """The time by this host's clock, which also verifies the tokens. In whole seconds, as in a token."""
    return timezone.now().replace(microsecond=0)


def lock_password(user: User) -> bool:
    """Lock the account until the transaction ends, so that its password stays and no other session starts.

    Returns whether the password is still the one in ``user``.
    """
    accounts = User.objects.select_for_update(no_key=True).filter(pk=user.pk)
    password = accounts.values_list("password", flat=True).first()
    return password is not None and constant_time_compare(password, user.password)


def end(sessions: QuerySet[Session], reason: EndReason) -> int:
    """End those of the sessions that have not ended. Every worker refuses their tokens from the commit on.

    Returns their number. Of concurrent calls for one session, one counts it.
    """
    return sessions.filter(ended_at=None).update(ended_at=Now(), end_reason=reason)


def end_session(user: User, public_id: UUID) -> bool:
    """Returns whether the account had this session."""
    return bool(end(live_sessions(user).filter(public_id=public_id).order_by(), EndReason.REVOKED))


def end_other_sessions(user: User, browser_session: str | None) -> int:
    """End all sessions of the account, of browsers and of the API, except that of this browser."""
    others = Session.objects.filter(user=user)
    if browser_session is not None:
        others = others.exclude(browser_session=browser_session)
    with transaction.atomic():
        # In the same order as every other statement that ends several sessions, to prevent deadlocks.
        lock_password(user)
        return end(others, EndReason.REVOKED)


def delete_expired_api_sessions() -> int:
    """Delete sessions without a valid token: once they have expired, or ENDED_DAYS after their end.

    Returns their number.
    """
    return execute(_DELETE, [ACCESS_LIFETIME.total_seconds()])


def _printable(user_agent: str) -> str:
    return "".join(filter(str.isprintable, user_agent))[:_USER_AGENT_CHARACTERS]


# Short, because an attacker's script in a page could send the token elsewhere.
TOKEN_LIFETIME = timedelta(minutes=5)


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
    sessions = Session.objects.filter(browser_session=browser_session, ended_at=None)
    sessions.filter(last_used_at__lt=Now() - timedelta(seconds=USE_SECONDS)).update(last_used_at=Now())


log = logging.getLogger(__name__)

GRACE = timedelta(seconds=10)


def rotate_tokens(refresh_token: str) -> TokenPair | None:
    """The session's next tokens. None if the token is not valid, or was used before: then the session ends.

    None also while the account lacks a second factor that it needs: REQUIRE_2FA may be newer than the session.
    """
    claims = read_refresh_token(refresh_token)
    session = None if claims is None else _session_of(claims)
    if claims is None or session is None or lacks_second_factor(session.user):
        return None
    issued_at = _advance(session, claims) or _last_advanced(session, claims)
    if issued_at is not None:
        session.generation, session.issued_at = claims.generation + 1, issued_at
        return issue_tokens(session.user, session)
    if _end_reused(session, claims):
        _report_reuse(session)
    return None


def _session_of(claims: Claims) -> Session | None:
    """The session, with its account, unless the session has ended or the token is from before a change of password.

    Sessions of browsers have no refresh tokens.
    """
    sessions = Session.objects.select_related("user").filter(
        public_id=claims.session,
        browser_session=None,
        ended_at=None,
        user__public_id=claims.account,
        user__is_active=True,
    )
    session = read_first(sessions.first)
    return session if session is not None and _has_password(session.user, claims) else None


def _has_password(user: User, claims: Claims) -> bool:
    return constant_time_compare(claims.password_fingerprint, password_fingerprint(user))


def _end_reused(session: Session, claims: Claims) -> bool:
    with transaction.atomic():
        if not end(_unchanged(session, claims), EndReason.REUSE):
            return False
        record_change(
            owner_id=session.user_id,
            object_id=session.public_id,
            action="session.ended",
            after={"endReason": EndReason.REUSE},
        )
    return True


def _advance(session: Session, claims: Claims) -> datetime | None:
    """Use the token. Returns the issue time of the next tokens, or None if the token was used before.

    The lock of the row lets one of several concurrent calls through.
    """
    now = issue_time()
    current = _unchanged(session, claims).filter(generation=claims.generation)
    changes = {
        "generation": F("generation") + 1,
        "issued_at": now,
        "rotated_at": Now(),
        "last_used_at": Now(),
    }
    return now if current.update(**changes) else None


def _last_advanced(session: Session, claims: Claims) -> datetime | None:
    """The issue time of the next tokens if the last use of a token was of this one, within GRACE."""
    next_one = _unchanged(session, claims).filter(generation=claims.generation + 1)
    return next_one.filter(rotated_at__gt=Now() - GRACE).values_list("issued_at", flat=True).first()


def _unchanged(session: Session, claims: Claims) -> QuerySet[Session]:
    """The session, unless it ended or its password changed since it was read."""
    return Session.objects.filter(
        pk=session.pk, ended_at=None, password_fingerprint=claims.password_fingerprint
    )


def _report_reuse(session: Session) -> None:
    """Tell the operator. The row of the session records the time and the reason."""
    log.warning(
        "A refresh token was used twice, so it may have been stolen. Its session was ended.",
        extra={"fields": {"account": str(session.user.public_id), "session": str(session.public_id)}},
    )
